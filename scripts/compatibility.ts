// `npm run long -- compatibility [-- --prove]`: writes the tables of statements in docs/compatibility.md from the cases that prove them.
// `--prove` runs those tests first; a statement of which one fails is named, and nothing is written.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../test/support/run-cli.ts";
import { compatibilityTables, missingProofs, provingFile, statements } from "../test/support/statements.ts";

export const marks = /(<!-- statements -->\n)[\s\S]*?(\n<!-- \/statements -->)/;

export async function main(argv: readonly string[]): Promise<number> {
  const all = statements();
  const missing = missingProofs(all);
  if (missing.length > 0) {
    console.error(`These have no proof:\n${missing.join("\n")}`);
    return 1;
  }
  if (argv.includes("--prove")) {
    const files = [...new Set(all.flatMap(({ by }) => by.map((proof) => `test/${provingFile(proof)}`)))];
    const { status } = spawnSync("npx", ["vitest", "run", ...files], { cwd: repository, stdio: "inherit" });
    if (status !== 0) return 1;
  }
  const page = join(repository, "docs/compatibility.md");
  writeFileSync(page, withTables(readFileSync(page, "utf8")));
  console.log(`${page}: ${compatibilityTables(all).split("\n", 1)[0]}`);
  return 0;
}

export function withTables(page: string): string {
  if (!marks.test(page)) throw new Error("docs/compatibility.md has no marks for the statements");
  const tables = compatibilityTables(statements());
  return page.replace(marks, (_, start: string, end: string) => `${start}\n${tables}\n${end}`);
}
