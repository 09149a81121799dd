// Caches stripped sources by content, so that the second run of a script does not load the stripper.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { configDir } from "../../store/config-dir.ts";

declare const require: NodeJS.Require;

const maxFiles = 64;
const longestSource = 1024 * 1024;

/** Returns a function that turns source into JavaScript. `version` is part of the cache key. */
export function createStripper(env: NodeJS.ProcessEnv, version: string): (file: string, source: string) => string {
  const folder = join(configDir(env), "courser", "hook-cache");
  return (file, source) => {
    const head = `// courser-hook ${version} ${source.length}\n`;
    const cacheFile = join(folder, `${hashOf(head + source)}.js`);
    const found = readKept(cacheFile);
    // The file begins with the whole source, which is compared, so the hash need not be strong.
    if (found?.startsWith(head) && found.startsWith(source, head.length))
      return found.slice(head.length + source.length);
    const { stripTypes: strip } = require("./hook/strip.cjs") as typeof import("./strip.ts");
    const code = strip(source, file);
    if (source.length <= longestSource) cacheText(folder, cacheFile, head + source + code);
    return code;
  };
}

/** Reads only a file that belongs to this user and that nobody else can access. */
function readKept(file: string): string | undefined {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch {
    return undefined;
  }
  try {
    const { mode, uid } = fstatSync(handle);
    const isOurs = process.platform === "win32" || (uid === process.getuid?.() && (mode & 0o077) === 0);
    return isOurs ? readFileSync(handle, "utf8") : undefined;
  } finally {
    closeSync(handle);
  }
}

/** Writes to the cache and ignores failures, since a script runs without it too. */
function cacheText(folder: string, file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
    renameSync(temporary, file);
    dropOldest(folder);
  } catch {
    rmSync(temporary, { force: true });
  }
}

function dropOldest(folder: string): void {
  const files = readdirSync(folder);
  if (files.length <= maxFiles) return;
  const byAge = files
    .map((name) => ({
      path: join(folder, name),
      at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .sort((one, other) => other.at - one.at);
  for (const { path } of byAge.slice(maxFiles)) rmSync(path, { force: true });
}

/** Hashes a text for a file name. Loading Node's own hashes would take longer than this. */
function hashOf(text: string): string {
  let forward = 0x811c9dc5;
  let backward = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    forward = Math.imul(forward ^ text.charCodeAt(index), 0x01000193);
    backward = Math.imul(backward ^ text.charCodeAt(text.length - 1 - index), 0x01000193);
  }
  return [forward, backward].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}
