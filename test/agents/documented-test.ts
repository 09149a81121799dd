// The test of docs/testing.md that needs the real Claude Code, run by node:test on the built package.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { transform } from "esbuild";
import { plainEnv, started } from "../support/peer-cli.ts";

const repository = resolve(import.meta.dirname, "../..");

/** What is wrong with it, or nothing. `programs`: the folder that `claude` is in. */
export async function documentedTest(programs: string): Promise<string | undefined> {
  const page = readFileSync(join(repository, "docs/testing.md"), "utf8");
  const [, block] = /```ts claude\.test\.ts\n([\s\S]*?)```/.exec(page) ?? [];
  if (block === undefined) return "WRONG, the page has no claude.test.ts";
  const folder = mkdtempSync(join(tmpdir(), "courser-documented-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(repository, join(folder, "node_modules/courser-agent"));
    const { code } = await transform(block, { loader: "ts", target: "node20" });
    writeFileSync(join(folder, "claude.test.mjs"), code);
    const env = { ...plainEnv(), PATH: [programs, dirname(process.execPath), process.env["PATH"]].join(delimiter) };
    const { exit, output } = await started(
      process.execPath,
      ["--test", "claude.test.mjs"],
      { cwd: folder, env },
      180_000,
    );
    return exit === 0 && /# pass 1|pass 1$/m.test(output) ? undefined : `WRONG, ${output.slice(-2000)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
