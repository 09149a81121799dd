// Finds the files that code loads, as far as its text names them, and the files that tell a task runner what to run.
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { tryOr } from "../text/try-or.ts";

const isJavaScript = /\.[cm]?[jt]sx?$/;
const isPython = /\.py$/;
const isOtherCode =
  /\.(?:sh|bash|zsh|rb|p[lm]|php|lua|mk)$|^(?:gnu)?makefile$|^\.?justfile$|^taskfile.*\.ya?ml$|^rakefile$/i;
const largestRead = 1024 * 1024;
const endings = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".sh", ".rb", "/index.js", "/index.ts"];

/**
 * Returns the files that a script loads or starts, also where nothing is yet, but no data. `path` is the file whose content is `bytes`;
 * the program that runs it may also look from `cwd`.
 */
export function loadedBy(path: string, bytes: Buffer, cwd: string): string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const isScript = isOtherCode.test(name) || bytes.toString("latin1", 0, 2) === "#!";
  if (!(isScript || isJavaScript.test(name) || isPython.test(name)) || bytes.length > largestRead) return [];
  const text = bytes.toString("utf8");
  const folder = dirname(realpathSync(path));
  const found = startedIn(text).flatMap((word) => [...candidatePaths(folder, word), ...candidatePaths(cwd, word)]);
  if (isPython.test(name)) found.push(...modulesIn(text).flatMap((module) => moduleFiles(folder, module)));
  else
    for (const [match, word] of text.matchAll(loading)) {
      if (/^[./]/.test(word!) || match.startsWith("require_relative")) found.push(...candidatePaths(folder, word!));
      else found.push(...packageFiles(folder, /^(?:@[^/]+\/)?[^/]+/.exec(word!)![0]));
    }
  return [...new Set(found)].filter((each) => !each.endsWith(".json"));
}

/** Matches `require("./x")`, `import x from "y"`, `import("./z")`, `require_relative 'x'`. */
const loading = /(?:\brequire(?:_relative)?[\s(]\s*|\bfrom\s*|\bimport\s*\(?\s*)["'`]([^"'`\n]{1,200})["'`]/g;
/** Matches paths that a command runs: `node x.js`, `. ./x.sh`, or a path as the program. */
const starting =
  /(?<![\w./-])(?:source|\.|exec|env|-?include|(?:ba|da|z|k|fi)?sh|node|deno run|bun(?: run)?|tsx|ts-node|python[\d.]*|perl|ruby|php|lua)\s+(?:-\S+\s+){0,9}([^\s;|&()<>]+)|(?:^(?:\s{0,20}-\s)?|[;|&(@])\s{0,20}(\.{0,2}\/[^\s;|&()<>]+)/gm;

/** Returns the paths of programs that a shell script starts. Variables are treated as the script's folder. */
function startedIn(text: string): string[] {
  let plain = text;
  for (let depth = 0; depth < 3; depth++) plain = plain.replace(/\$\([^()\n]{0,200}\)|\$\{[^}\n]{0,200}\}|\$\w+/g, ".");
  const found = plain.replace(/["'`,[\]]/g, " ").matchAll(starting);
  return Array.from(found, ([, run, path]) => (run ?? path)!);
}

/** TypeScript names the file that will be there: `./x.js` for x.ts. */
function candidatePaths(folder: string, word: string): string[] {
  const names = /\.\w+$/.test(word) ? [word, word.replace(/js$/, "ts")] : endings.map((end) => word + end);
  return names.map((name) => resolve(folder, name));
}

/** Returns the modules that Python would import. One in the folder comes before one of the same name elsewhere. */
function modulesIn(text: string): string[] {
  const found = text.matchAll(/^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([\w, \t]+)|import[ \t]+([\w., \t]+))/gm);
  return [...found].flatMap(([, from, members = "", plain = ""]) => {
    const listed = (list: string) => list.split(",").map((each) => each.trim().split(/\s/)[0]!);
    return from === undefined ? listed(plain) : [from, ...listed(members).map((each) => `${from}.${each}`)];
  });
}

function moduleFiles(folder: string, module: string): string[] {
  const path = join(folder, module.replace(/^\.+/, "").replaceAll(".", "/"));
  return [`${path}.py`, join(path, "__init__.py")];
}

/** Returns the usual entries of a package, from the nearest node_modules. */
function packageFiles(folder: string, name: string): string[] {
  for (let above = folder; ; above = dirname(above)) {
    const root = join(above, "node_modules", name);
    if (isFile(join(root, "package.json")))
      return [mainOf(root), "index.js", "index.mjs", "dist/index.js", "dist/index.mjs"].map((each) => join(root, each));
    if (dirname(above) === above) return [];
  }
}

function mainOf(root: string): string {
  const manifest = tryParse(readFileSync(join(root, "package.json"), "utf8"));
  const main = isObject(manifest) ? manifest["main"] : undefined;
  return typeof main === "string" ? main : "index.js";
}

/** For each task runner, the files in a folder that define its tasks. */
const recipes: [programs: string, files: RegExp][] = [
  ["make gmake", /^(?:gnu)?makefile$|\.mk$/i],
  ["just", /^\.?justfile$/i],
  ["task go-task", /^taskfile(?:\.dist)?\.ya?ml$/i],
  ["rake", /^rakefile/i],
  ["docker podman docker-compose", /^(?:docker-)?compose.*\.ya?ml$|^(?:docker|container)file/i],
  ["cargo", /^Cargo\.toml$|\.rs$/],
  ["go", /^go\.mod$|\.go$/],
  ["deno bun", /^deno\.jsonc?$|^bunfig\.toml$/],
  ["yarn pnpm", /^\.yarnrc(?:\.yml)?$|^\.pnpmfile\.cjs$/],
  ["uv poetry pdm hatch pipenv tox nox", /^pyproject\.toml$|^Pipfile$|^tox\.ini$|^noxfile\.py$/],
  ["bundle composer", /^Gemfile$|^composer\.json$/],
  ["mvn gradle", /^pom\.xml$|\.gradle(?:\.kts)?$/],
];
const recipesOf = new Map(
  recipes.flatMap(([programs, files]) => programs.split(" ").map((name) => [name, files] as const)),
);

/** Returns the files that decide what a program does in this folder; for compilers, the sources below it. */
export function recipesFor(program: string, cwd: string): string[] {
  const files = recipesOf.get(program);
  if (!files) return [];
  const names = readdirSync(cwd, { recursive: program === "cargo" || program === "go", encoding: "utf8" });
  return names.filter((name) => files.test(name.slice(name.lastIndexOf("/") + 1))).map((name) => join(cwd, name));
}

function isFile(path: string): boolean {
  return tryOr(() => statSync(path, { throwIfNoEntry: false })?.isFile() === true, false);
}
