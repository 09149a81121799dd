// Removes temporary folders that killed runs left behind: only those that are ours, old, and not used by a live run.
import { lstatSync, utimesSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { milliseconds } from "../process/clock.ts";
import { isAlive } from "../store/file-lock.ts";
import { isPrivate, outputsOf, sweepNote, temporaryFolder } from "./output-folder.ts";

const hourMs = 3_600_000;
const oldMs = 72 * hourMs;
/** Time limit of one sweep. If it removed something, the next run continues. */
const maxMs = 400;

export type SweepOptions = {
  /** Folders to search for leftovers. The first contains the record of the last sweep. */
  bases?: readonly string[];
  now?: number;
  signal?: AbortSignal | undefined;
};

/** Removes temporary folders of processes that have ended. Returns how many were removed. */
export async function sweepTemporary(options: SweepOptions = {}): Promise<number> {
  const { bases = [...new Set([tmpdir(), "/tmp", "/var/tmp", "/dev/shm"])], now = Date.now(), signal } = options;
  const deadline = milliseconds() + maxMs;
  let removed = 0;
  for (const path of startAtRandom(await foldersIn(bases))) {
    if (signal?.aborted) return removed;
    if (milliseconds() > deadline) {
      if (removed > 0) return removed;
      break; // all folders checked so far are in use, so stop here
    }
    if (!(await isLeft(path, now))) continue;
    // Links inside the folder are removed but not followed.
    await rm(path, { recursive: true, force: true }).then(
      () => removed++,
      () => {}, // another run is removing the folder, or part of it belongs to another user
    );
  }
  writeNote(sweepNote(bases[0]!), now);
  return removed;
}

async function foldersIn(bases: readonly string[]): Promise<string[]> {
  const folders: string[] = [];
  for (const base of bases) {
    // Check the owner: another user may have put a link here that leads to folders which are not temporary.
    const sessions = hasOwnOutputs(base) ? await namesIn(outputsOf(base), isSession) : [];
    folders.push(...(await namesIn(base, (name) => temporaryFolder.test(name))), ...sessions);
  }
  return folders;
}

/** Starts at a random folder, so that repeated sweeps cover more folders than one has time for. */
function startAtRandom(folders: string[]): string[] {
  const start = Math.floor(Math.random() * folders.length);
  return [...folders.slice(start), ...folders.slice(0, start)];
}

function hasOwnOutputs(base: string): boolean {
  return lstatSync(outputsOf(base), { throwIfNoEntry: false }) !== undefined && isPrivate(outputsOf(base));
}

function writeNote(note: string, now: number): void {
  try {
    if (!isPrivate(dirname(note))) return;
    writeFileSync(note, "", { mode: 0o600 });
    utimesSync(note, now / 1000, now / 1000);
  } catch {
    // The folder could not be removed; the next run tries again.
  }
}

/** Returns whether the name is that of a session's folder. The sandbox folder is shared by all runs and must stay. */
function isSession(name: string): boolean {
  return name !== "sandbox" && !name.startsWith(".");
}

async function namesIn(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter(isWanted).map((name) => join(folder, name));
}

/** Returns whether a folder is this user's, has not been written to for long, and its process is gone. */
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
    return false; // the folder was removed in the meantime, or is not accessible
  }
}
