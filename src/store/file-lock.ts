// A lock between processes: a file that only one of them can create.
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { UserError } from "../protocol/error-codes.ts";

const longestWaitMs = 10_000;
/** A holder keeps it for milliseconds; one that is older belongs to a process that died or to another one's number. */
const staleMs = 30_000;
/** Between creating the file and writing the number into it. */
const namelessMs = 2_000;

let taken = 0;

/** Runs `work` alone. It is handed a question to ask before its last step: is the lock still ours? */
export function withFileLock<T>(file: string, work: (stillOurs: () => boolean) => T): T {
  const token = `${process.pid} ${Date.now()}.${++taken}`;
  take(file, token);
  const stillOurs = () => contentOf(file) === token;
  try {
    return work(stillOurs);
  } finally {
    if (stillOurs()) rmSync(file, { force: true });
  }
}

function take(file: string, token: string): void {
  const deadline = Date.now() + longestWaitMs;
  for (let round = 0; ; round++) {
    if (create(file, token)) return;
    const holder = contentOf(file);
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

/** Renaming is what only one process can do. Should it have caught a fresh lock of somebody else, that one is put back. */
function setAside(file: string, holder: string, token: string): void {
  const aside = `${file}.${token.replace(" ", ".")}`;
  try {
    renameSync(file, aside);
    if (contentOf(aside) !== holder) linkSync(aside, file);
  } catch {
    // Somebody else was quicker.
  }
  rmSync(aside, { force: true });
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Blocks this thread, as SQLite does while it waits. */
export function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
