// Removes what killed runs left in the folders for temporary files. Only what is ours, old, and of no living run.
import { lstatSync, utimesSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isAlive } from "../store/file-lock.ts";
import { isPrivate, ownOutputs, sweepNote, temporaryFolder } from "./output-folder.ts";

const hourMs = 3_600_000;
const oldMs = 72 * hourMs;
/** It takes so long at most; the next run goes on. */
const mostMs = 400;

export type SweepOptions = {
  /** Where to look; the first holds the note of when that was done last. */
  bases?: readonly string[];
  now?: number;
  signal?: AbortSignal | undefined;
};

/** How many folders went. */
export async function sweepTemporary(options: SweepOptions = {}): Promise<number> {
  const { bases = [...new Set([tmpdir(), "/tmp", "/var/tmp", "/dev/shm"])], now = Date.now(), signal } = options;
  const note = sweepNote(bases[0]!);
  const deadline = performance.now() + mostMs;
  let removed = 0;
  for (const base of bases) {
    // In its place somebody else may have put a link, to folders of ours that are anything but temporary.
    const sessions = hasOwnOutputs(base) ? await namesIn(ownOutputs(base), isSession) : [];
    for (const path of [...(await namesIn(base, isOurs)), ...sessions]) {
      if (signal?.aborted || performance.now() > deadline) return removed;
      if (!(await isLeft(path, now))) continue;
      // Links in it are removed, not followed.
      await rm(path, { recursive: true, force: true }).then(
        () => removed++,
        () => {}, // another run is at it, or something in it is not ours
      );
    }
  }
  writeNote(note, now);
  return removed;
}

function hasOwnOutputs(base: string): boolean {
  return lstatSync(ownOutputs(base), { throwIfNoEntry: false }) !== undefined && isPrivate(ownOutputs(base));
}

function writeNote(note: string, now: number): void {
  try {
    if (!isPrivate(dirname(note))) return;
    writeFileSync(note, "", { mode: 0o600 });
    utimesSync(note, now / 1000, now / 1000);
  } catch {
    // The next run looks again.
  }
}

function isOurs(name: string): boolean {
  return temporaryFolder.test(name);
}

/** The folder of the sandboxes is shared by all runs, and holds what they reserve. */
function isSession(name: string): boolean {
  return name !== "sandbox" && !name.startsWith(".");
}

async function namesIn(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter(isWanted).map((name) => join(folder, name));
}

/** A folder of this user that nobody has written to for long, and whose process is gone. */
async function isLeft(path: string, now: number): Promise<boolean> {
  try {
    const isOld = (file: string) => {
      const { mtimeMs, ctimeMs } = lstatSync(file);
      return now - Math.max(mtimeMs, ctimeMs) > oldMs;
    };
    const stat = lstatSync(path);
    if (!stat.isDirectory() || (process.getuid && stat.uid !== process.getuid()) || !isOld(path)) return false;
    const entries = await readdir(path);
    const owners = [
      temporaryFolder.exec(path.split("/").at(-1)!)?.[1],
      ...entries.map((name) => /^\.run-(\d+)$/.exec(name)?.[1]),
    ];
    if (owners.some((pid) => pid !== undefined && isAlive(Number(pid)))) return false;
    return entries.every((name) => isOld(join(path, name)));
  } catch {
    return false; // gone meanwhile, or closed to us
  }
}
