// What the package exports: test/sdk/api-report.txt lists every name of every entry point with its declaration, so that each
// change of the surface shows. `npx vitest run test/sdk/api-report.test.ts -u` writes it anew.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repository } from "../support/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "courser-api-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Declaration = { text: string; isDocumented: boolean };
type Exported = Declaration & { name: string; file: string };

const entries = new Map<string, Exported[]>();

beforeAll(() => {
  const compiler = join(repository, "node_modules/typescript/bin/tsc");
  const made = spawnSync(process.execPath, [compiler, "-p", "tsconfig.types.json", "--outDir", folder], {
    cwd: repository,
    encoding: "utf8",
  });
  expect(made.stdout + made.stderr).toBe("");
  const { exports } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    exports: Record<string, { types?: string } | string>;
  };
  for (const [name, entry] of Object.entries(exports))
    if (typeof entry === "object" && entry.types)
      entries.set(name, exportsOf(join(folder, entry.types.replace("./dist/types/", ""))));
}, 120_000);

test("the package exports exactly what test/sdk/api-report.txt lists", async () => {
  const report = [...entries].map(([entry, exported]) => {
    const rows = exported.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ text }) => text);
    return [`==== courser-agent${entry.slice(1)} (${rows.length})`, ...rows].join("\n");
  });
  await expect(`${report.join("\n\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "api-report.txt"));
});

test("every export of the package has a comment, except types of the wire format", () => {
  const isWire = (file: string) => /^protocol\/(tool-shapes|cursor-lines)\.d\.ts$/.test(file);
  const bare = [...entries].flatMap(([entry, exported]) =>
    exported
      .filter(({ isDocumented, file }) => !isDocumented && !isWire(file))
      .map(({ name, file }) => `${entry} ${name} (${file})`),
  );
  expect(bare).toEqual([]);
});

test("an exported name means the same in every entry point of the package", () => {
  const seen = new Map<string, { text: string; entry: string }>();
  const twice: string[] = [];
  for (const [entry, exported] of entries)
    for (const { name, text } of exported) {
      const before = seen.get(name);
      if (before && before.text !== text) twice.push(`${name}: ${before.entry} and ${entry}`);
      seen.set(name, before ?? { text, entry });
    }
  expect(twice).toEqual([]);
});

/** The names that a declaration file exports, with the declarations that they lead to. */
function exportsOf(file: string): Exported[] {
  const text = readFileSync(file, "utf8");
  const found = new Map<string, Exported>();
  const from = (path: string) => join(dirname(file), path.replace(/\.tsx?$/, ".d.ts"));
  for (const [, path] of text.matchAll(/^export (?:type )?\* from "(.+?)";$/gm))
    for (const each of exportsOf(from(path!))) found.set(each.name, each);
  for (const [, list, path] of text.matchAll(/^export (?:type )?\{([^}]*)\}(?: from "(.+?)")?;$/gm)) {
    for (const item of list!
      .split(",")
      .map((each) => each.trim())
      .filter(Boolean)) {
      const [, own, as = own] = /^(?:type )?(\w+)(?: as (\w+))?$/.exec(item)!;
      const source = path === undefined ? importedFrom(text, own!) : path;
      const target = source === undefined ? file : from(source);
      found.set(as!, { ...declarationOf(target, own!, as!), name: as!, file: relative(folder, target) });
    }
  }
  for (const [, name] of text.matchAll(declarations))
    found.set(name!, { ...declarationOf(file, name!, name!), name: name!, file: relative(folder, file) });
  return [...found.values()];
}

const declarations =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function|const|let|class|type|interface|enum) (\w+)/gm;

function importedFrom(text: string, name: string): string | undefined {
  for (const [, list, path] of text.matchAll(/^import (?:type )?\{([^}]*)\} from "(.+?)";$/gm))
    if (new RegExp(`\\b${name}\\b`).test(list!)) return path;
  return undefined;
}

function declarationOf(file: string, name: string, as: string): Declaration {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const start = new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(?:function|const|class|type|interface) ${name}\\b`,
    "m",
  ).exec(text);
  if (!start) {
    const again = exportsOf(file).find((each) => each.name === name);
    return again ? { ...again } : { text: `${as}: not found in ${relative(folder, file)}`, isDocumented: false };
  }
  const body = text.slice(start.index, endOf(text, start.index));
  const plain = body
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/^export |declare /g, "")
    .trim();
  const isDocumented = /\*\/\s*$/.test(text.slice(0, start.index));
  return { text: as === name ? plain : `${as} = ${plain}`, isDocumented };
}

/** Statements of declaration files end with a semicolon or a brace outside of all brackets; overloads are one by one. */
function endOf(text: string, from: number): number {
  let depth = 0;
  const isBlock = /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface)\b/.test(text.slice(from, from + 40));
  for (let at = from; at < text.length; at++) {
    if (text.startsWith("/*", at)) at = text.indexOf("*/", at) + 1;
    else if ("{([".includes(text[at]!)) depth++;
    else if ("})]".includes(text[at]!) && --depth === 0 && isBlock && text[at] === "}") return at + 1;
    else if (text[at] === ";" && depth === 0) return at + 1;
  }
  return text.length;
}
