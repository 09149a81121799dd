// Finds what a command line runs indirectly: the workspace files that it names, what those load, and the scripts of its package.json.
import { readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { tryOr } from "../text/try-or.ts";
import { sha256 } from "./chats/sha256.ts";
import { loadedBy, recipesFor } from "./loaded-files.ts";

/** Where to look for files. Only those in `roots` count, since an agent can change only those. */
export type BehindContext = { cwd: string; roots: readonly string[] };

/** The ways a program resolves a shorter name: `node ./server`, `python3 -m tools.serve`, `npx serve`. */
const spellings = ["", ".js", ".mjs", ".cjs", ".ts", ".py", ".sh", "/index.js", "/package.json", "/__main__.py"];
const separators = /[\s;|&()<>"'`=,:{}[\]\\]+/;
const largestHashed = 32 * 1024 * 1024;
/** How many levels of scripts that call other scripts are followed. */
const deepest = 4;

/** Returns hashes by name: a path, or `package.json#script` for a script. Approving the command line approves these too. */
export function hashesBehind(words: readonly string[], context: BehindContext): Record<string, string> {
  const hashes: Record<string, string> = {};
  addFilesNamedBy(hashes, words, context, 0);
  return hashes;
}

/** Returns the same as one hash, with names that do not change in a copy of the folder. Empty if there are no such files. */
export function behindDigest(words: readonly string[], folder: string): string {
  const names = Object.entries(hashesBehind(words, { cwd: folder, roots: [folder] }));
  if (names.length === 0) return "";
  return sha256(JSON.stringify(names.map(([name, hash]) => [relative(folder, name), hash]).sort()));
}

function addFilesNamedBy(
  hashes: Record<string, string>,
  words: readonly string[],
  context: BehindContext,
  depth: number,
): void {
  for (const word of words.map(withoutData)) {
    // Treat a variable before a slash as the current folder, as in `"$CLAUDE_PROJECT_DIR"/hook.sh`.
    const bare = word.replace(/"?\$\{?\w+\}?"?\//g, "./");
    const names = [word, ...word.split(separators), ...bare.split(separators)].filter(Boolean);
    for (const name of new Set(names)) {
      const paths = spellings.map((end) => resolve(context.cwd, name + end));
      const module = resolve(context.cwd, `${name.replaceAll(".", "/")}.py`);
      const program = /^[\w.@-]+$/.test(name) ? [join(context.cwd, "node_modules", ".bin", name)] : [];
      for (const path of [...paths, module, ...program]) if (isWithin(path, context)) addFile(hashes, path, context);
      for (const path of recipesFor(name, context.cwd)) addFile(hashes, path, context);
    }
  }
  if (depth < deepest) addScripts(hashes, words.join(" "), context, depth);
}

function isWithin(path: string, { roots }: BehindContext): boolean {
  return roots.some((root) => path.startsWith(root.endsWith(sep) ? root : root + sep));
}

const written = /\d{0,3}&?>>?\|?\s*(?:"[^"]*"|'[^']*'|[^\s;|&()<>"']+)+/g;
/** The arguments of these commands are read or written, not run. */
const dataCommands =
  /(?:^|(?<=[;&|({\s]))(?:touch|tee|test|\[\[?|cat|echo|printf|grep|mkdir|rm|head|tail|wc|jq|date)(?=\s)[^;&|()]*/g;
/** Interpreters, which may run what another command prints. */
const interpreters =
  /(?:^|[\s;&|({/])(?:eval|source|\.|xargs|exec|env|(?:ba|da|z|k|fi)?sh|node|deno|bun|python\d*|perl|ruby|php)(?=\s|$)/;

/** Removes the files that a line only reads or writes, such as the log of a hook: they change all the time. */
function withoutData(line: string): string {
  const kept = line.replace(written, " ");
  return interpreters.test(kept) ? kept : kept.replace(dataCommands, " ");
}

/** Adds a file and, if it is code, the files that it loads. */
function addFile(hashes: Record<string, string>, path: string, context: BehindContext): void {
  const open = [path];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (Object.hasOwn(hashes, file) || Object.keys(hashes).length >= maxFiles) continue;
    const content = readCached(file, context.cwd);
    if (!content) continue;
    hashes[file] = content.hash;
    open.push(...content.loads.filter((each) => isWithin(each, context)));
  }
}

const maxFiles = 2000;

type FileContent = { stamp: string; hash: string; loads: readonly string[] };
/** A cache of file contents, since hooks are checked before each call. */
const contents = new Map<string, FileContent>();

function readCached(path: string, cwd: string): FileContent | undefined {
  const size = sizeOfFile(path);
  if (size === undefined) return undefined;
  const { ino, mtimeMs, ctimeMs } = statSync(path);
  const stamp = `${cwd} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  const existing = contents.get(path);
  if (existing?.stamp === stamp && Date.now() - ctimeMs > 50) return existing;
  const content: FileContent = { stamp, hash: `${size}`, loads: [] };
  try {
    const bytes = size > largestHashed ? undefined : readFileSync(path);
    if (bytes) {
      content.hash = sha256(bytes);
      content.loads = loadedBy(path, bytes, cwd);
    }
  } catch {
    content.hash = "unreadable";
  }
  contents.set(path, content);
  return content;
}

/** Returns the size of a file, or undefined if there is none. Called for every word of a command, so the path may be invalid. */
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
    addFile(hashes, join(dirname(file), ".npmrc"), context); // .npmrc may name the shell that runs scripts
    const manifest = readJsonOrNothing(file);
    const scripts = isObject(manifest) && isObject(manifest["scripts"]) ? manifest["scripts"] : {};
    for (const [name, script] of Object.entries(scripts)) {
      const key = `${file}#${name}`;
      const isNamed = [name, name.replace(/^(?:pre|post)/, "")].some((each) => words.has(each));
      if (!isNamed || typeof script !== "string" || Object.hasOwn(hashes, key)) continue;
      hashes[key] = sha256(script);
      addFilesNamedBy(hashes, [script], { ...context, cwd: dirname(file) }, depth + 1);
    }
  }
}

function readJsonOrNothing(file: string): unknown {
  return tryOr(() => (statSync(file).isFile() ? tryParse(readFileSync(file, "utf8")) : undefined), undefined);
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
