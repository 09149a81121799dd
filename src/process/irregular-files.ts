// Stops a program at a pipe or a device where it expects a small file: it would wait for it, or read it without end.
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ProgramEnd, type ProgramRequest, runProgram } from "./run-program.ts";

/** Matches files that searches and git read in every folder, and everything in a `.git` folder. */
const expected = /\/(?:\.(?:git|rg)?ignore|\.gitattributes|\.gitmodules|\.mailmap|\.git(?:\/.*)?)$/;
const largest = 2 ** 24;
/**
 * Watches over a program that works in this folder. `signal` aborts when there is such a file; `end` stops looking and returns it.
 * Finding it takes a walk through all folders, which quick programs are spared.
 */
export function watchIrregularFiles(
  folder: string,
  patienceMs = 1000,
): { signal: AbortSignal; end(): string | undefined } {
  const [found, ended] = [new AbortController(), new AbortController()];
  let file: string | undefined;
  const timer = setTimeout(async () => {
    file = await irregularFile(folder, ended.signal);
    if (file !== undefined) found.abort();
  }, patienceMs);
  const end = () => {
    clearTimeout(timer);
    ended.abort();
    return file;
  };
  return { signal: found.signal, end };
}

/** Looks in the folder, in all below, and in those above, where files with patterns apply too. */
async function irregularFile(folder: string, signal: AbortSignal): Promise<string | undefined> {
  const start = await realpath(folder).catch(() => folder);
  const folders = [start];
  for (let below = start; dirname(below) !== below; below = dirname(below)) folders.push(dirname(below));
  const above = new Set(folders.slice(1));
  for (const each of folders) {
    for (const entry of await readdir(each, { withFileTypes: true }).catch(() => [])) {
      if (signal.aborted) return undefined;
      const path = join(each, entry.name);
      if (entry.isDirectory() && !above.has(each) && entry.name !== "objects") folders.push(path);
      if (entry.isDirectory() || !expected.test(path)) continue;
      const found = await stat(path).catch(() => undefined);
      const isList = !path.includes("/.git/") || path.endsWith("/exclude");
      if (found?.isFIFO() || found?.isCharacterDevice() || (isList && found && found.size > largest)) return path;
    }
  }
  return undefined;
}

/** Runs a program that reads such files. One that was stopped has failed, with the file as its reason. */
export async function runWatched({ signal, ...request }: ProgramRequest & { cwd: string }): Promise<ProgramEnd> {
  const watch = watchIrregularFiles(request.cwd);
  const end = await runProgram({ ...request, signal: signal ? AbortSignal.any([signal, watch.signal]) : watch.signal });
  const file = watch.end();
  return file === undefined ? end : { ...end, stderr: `${file} is not a regular file. Remove it.` };
}
