// Finds what a command line runs indirectly: the workspace files that it names, and the scripts of its package.json.
import { readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { sha256 } from "./chats/sha256.ts";

/** Only files in `roots` count, since an agent may change those. */
export type BehindContext = { cwd: string; roots: readonly string[] };

/** The ways a program resolves a shorter name: `node ./server`, `python3 -m tools.serve`, `npx serve`. */
const spellings = ["", ".js", ".mjs", ".cjs", ".ts", ".py", ".sh", "/index.js", "/package.json", "/__main__.py"];
const separators = /[\s;|&()<>"'`=,:{}[\]\\]+/;
const largestHashed = 32 * 1024 * 1024;
/** The depth limit for scripts that call other scripts. */
const deepest = 4;

/** Returns hashes by name: a path, or `package.json#script` for a script. Approving the command line approves these too. */
export function hashesBehind(words: readonly string[], context: BehindContext): Record<string, string> {
  const hashes: Record<string, string> = {};
  addBehind(hashes, words, context, 0);
  return hashes;
}

/** Returns the same as one hash, with names that do not change in a copy of the folder. Empty if there are no such files. */
export function behindDigest(words: readonly string[], folder: string): string {
  const names = Object.entries(hashesBehind(words, { cwd: folder, roots: [folder] }));
  if (names.length === 0) return "";
  return sha256(JSON.stringify(names.map(([name, hash]) => [relative(folder, name), hash]).sort()));
}

function addBehind(
  hashes: Record<string, string>,
  words: readonly string[],
  context: BehindContext,
  depth: number,
): void {
  const isWithin = (path: string) =>
    context.roots.some((root) => path.startsWith(root.endsWith(sep) ? root : root + sep));
  for (const word of words.map(withoutData)) {
    // Handles `"$CLAUDE_PROJECT_DIR"/hook.sh`.
    const bare = word.replace(/"?\$\{?\w+\}?"?\//g, "./");
    const names = [word, ...word.split(separators), ...bare.split(separators)].filter(Boolean);
    for (const name of new Set(names)) {
      const paths = spellings.map((end) => resolve(context.cwd, name + end));
      const module = resolve(context.cwd, `${name.replaceAll(".", "/")}.py`);
      const program = /^[\w.@-]+$/.test(name) ? [join(context.cwd, "node_modules", ".bin", name)] : [];
      for (const path of [...paths, module, ...program]) if (isWithin(path)) addFile(hashes, path);
    }
  }
  if (depth < deepest) addScripts(hashes, words.join(" "), context, depth);
}

const written = /\d*&?>>?\|?\s*(?:"[^"]*"|'[^']*'|[^\s;|&()<>"']+)+/g;
/** The arguments of these commands are read or written, not run. */
const dataCommands =
  /(?:^|(?<=[;&|({\s]))(?:touch|tee|test|\[\[?|cat|echo|printf|grep|mkdir|rm|head|tail|wc|jq|date)(?=\s)[^;&|()]*/g;
/** These may run what another command prints. */
const interpreters =
  /(?:^|[\s;&|({/])(?:eval|source|\.|xargs|exec|env|(?:ba|da|z|k|fi)?sh|node|deno|bun|python\d*|perl|ruby|php)(?=\s|$)/;

/** Removes the files that a line only reads or writes, such as the log of a hook: they change all the time. */
function withoutData(line: string): string {
  const kept = line.replace(written, " ");
  return interpreters.test(kept) ? kept : kept.replace(dataCommands, " ");
}

function addFile(hashes: Record<string, string>, path: string): void {
  if (Object.hasOwn(hashes, path)) return;
  const size = sizeOfFile(path);
  if (size === undefined) return;
  try {
    hashes[path] = size > largestHashed ? `${size}` : sha256(readFileSync(path));
  } catch {
    hashes[path] = "unreadable";
  }
}

/** Returns undefined if the path is not a file. Called for every word, so the path may be invalid. */
function sizeOfFile(path: string): number | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() ? stat.size : undefined;
  } catch {
    return undefined;
  }
}

/** Adds every script named in a line like `npm run serve`, `yarn serve` or `npm --prefix tools start`. */
function addScripts(hashes: Record<string, string>, line: string, context: BehindContext, depth: number): void {
  if (!/(?:^|[\s"'/;&|(])(?:npm|pnpm|yarn|bun|node\s+--run)(?:[\s"',]|$)/.test(line)) return;
  const words = new Set(line.split(separators));
  // `npm start` and `npm test` are short for scripts, and `npm t` for one of them.
  if (words.has("t") || words.has("tst")) words.add("test");
  for (const file of manifestsFor([...words], context)) {
    addFile(hashes, join(dirname(file), ".npmrc")); // it may name the shell that runs scripts
    const manifest = readJsonOrNothing(file);
    const scripts = isObject(manifest) && isObject(manifest["scripts"]) ? manifest["scripts"] : {};
    for (const [name, script] of Object.entries(scripts)) {
      const key = `${file}#${name}`;
      const isNamed = [name, name.replace(/^(?:pre|post)/, "")].some((each) => words.has(each));
      if (!isNamed || typeof script !== "string" || Object.hasOwn(hashes, key)) continue;
      hashes[key] = sha256(script);
      addBehind(hashes, [script], { ...context, cwd: dirname(file) }, depth + 1);
    }
  }
}

function readJsonOrNothing(file: string): unknown {
  try {
    return tryParse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Returns the package.json of the working folder or the nearest one above, and those of folders that the line names. */
function manifestsFor(words: readonly string[], { cwd, roots }: BehindContext): string[] {
  const isThere = (file: string) => sizeOfFile(file) !== undefined;
  const found = words.filter((word) => word !== "").map((word) => join(resolve(cwd, word), "package.json"));
  for (
    let folder = cwd;
    roots.some((root) => folder === root || folder.startsWith(root + sep));
    folder = dirname(folder)
  ) {
    const file = join(folder, "package.json");
    if (!isThere(file)) continue;
    found.push(file);
    break;
  }
  return [...new Set(found)].filter((file) => isThere(file) && roots.some((root) => file.startsWith(root + sep)));
}
