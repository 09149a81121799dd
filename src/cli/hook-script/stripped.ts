// Stripped sources, kept by their content: the second run of a script does not load the stripper.
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

const mostFiles = 64;
const longestSource = 1024 * 1024;

/** Source to JavaScript. `version`: another one may strip in another way. */
export function createStripper(env: NodeJS.ProcessEnv, version: string): (file: string, source: string) => string {
  const folder = join(configDir(env), "courser", "hook-cache");
  return (file, source) => {
    const head = `// courser-hook ${version} ${source.length}\n`;
    const kept = join(folder, `${hashOf(head + source)}.js`);
    const found = readKept(kept);
    // The source stands in front of what became of it: compared as a whole, a hash need not be a strong one.
    if (found?.startsWith(head) && found.startsWith(source, head.length))
      return found.slice(head.length + source.length);
    const { strip } = require("./hook/strip.cjs") as typeof import("./strip.ts");
    const code = strip(source, file);
    if (source.length <= longestSource) keep(folder, kept, head + source + code);
    return code;
  };
}

/** Only what we wrote and nobody else can change. */
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

/** A script runs without its cache, too. */
function keep(folder: string, file: string, text: string): void {
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
  if (files.length <= mostFiles) return;
  const byAge = files
    .map((name) => ({
      path: join(folder, name),
      at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .sort((one, other) => other.at - one.at);
  for (const { path } of byAge.slice(mostFiles)) rmSync(path, { force: true });
}

/** A name for a text. Node's own hashes take longer to load than this takes. */
function hashOf(text: string): string {
  let forward = 0x811c9dc5;
  let backward = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    forward = Math.imul(forward ^ text.charCodeAt(index), 0x01000193);
    backward = Math.imul(backward ^ text.charCodeAt(text.length - 1 - index), 0x01000193);
  }
  return [forward, backward].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}
