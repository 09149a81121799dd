// A lock between processes: a file that only one of them can create.
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { UserError } from "../protocol/error-codes.ts";
import { tryOr } from "../text/try-or.ts";

const longestWaitMs = 10_000;
/** Locks are held for milliseconds; an older one belongs to a dead process, or its pid has been reused. */
const staleMs = 30_000;
/** How many milliseconds a lock file may be without a process id, between its creation and the writing of the id. */
const namelessMs = 2_000;

let taken = 0;

/** Runs `work` under the lock. `work` can call its argument before its last step, to check that the lock is still held. */
export function withFileLock<T>(file: string, work: (stillOurs: () => boolean) => T): T {
  const token = `${process.pid} ${Date.now()}.${++taken}`;
  takeLock(file, token);
  const stillOurs = () => readLockFile(file) === token;
  try {
    return work(stillOurs);
  } finally {
    if (stillOurs()) rmSync(file, { force: true });
  }
}

function takeLock(file: string, token: string): void {
  const deadline = Date.now() + longestWaitMs;
  for (let round = 0; ; round++) {
    if (create(file, token)) return;
    const holder = readLockFile(file);
    if (holder !== undefined && isStale(file, holder)) setAside(file, holder, token);
    else if (Date.now() > deadline) {
      throw new UserError(
        "STORE_FAILED",
        `${file} is held by another process (${holder?.split(" ")[0] ?? "unknown"}). Try again; if no other is running, delete the file.`,
      );
    } else pause(round < 5 ? 1 : 5 + Math.random() * 10);
  }
}

function create(file: string, token: string): boolean {
  try {
    writeFileSync(file, token, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    throw new UserError(
      "STORE_FAILED",
      `The lock ${file} could not be created (${code}). Check the directory's owner and free space.`,
    );
  }
}

function isStale(file: string, holder: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return false;
  const age = Date.now() - stat.mtimeMs;
  const pid = Number(holder.split(" ")[0]);
  if (!Number.isInteger(pid) || pid <= 0) return age > namelessMs;
  return age > staleMs || !isAlive(pid);
}

/** Removes a stale lock by renaming it, which only one process can do. Restores another process's new lock. */
function setAside(file: string, holder: string, token: string): void {
  const aside = `${file}.${token.replace(" ", ".")}`;
  try {
    renameSync(file, aside);
    if (readLockFile(aside) !== holder) linkSync(aside, file);
  } catch {
    // Another process has already renamed it.
  }
  rmSync(aside, { force: true });
}

function readLockFile(file: string): string | undefined {
  return tryOr(() => readFileSync(file, "utf8"), undefined);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Blocks this thread for some milliseconds, as SQLite does while it waits. */
export function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
