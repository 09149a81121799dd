// Creates folders for temporary files. Each names its owner, so that what killed runs leave behind can be found and removed.
import { lstatSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { tryOr } from "../text/try-or.ts";

/** Matches folders made by `makeTemporaryFolder` and captures the process id, which older ones lack. */
export const temporaryFolder = /^courser-(?:sandbox|output)-(?:(\d+)-)?\w{6}$/;

/** Creates a folder that only the user can enter. Throws when none can be created. */
export function makeTemporaryFolder(base: string, kind: "sandbox" | "output"): string {
  return mkdtempSync(join(base, `courser-${kind}-${process.pid}-`));
}

/** Returns the folder that holds the long outputs of all of the user's sessions. */
export function outputsOf(temporary: string): string {
  return join(temporary, `courser-${process.getuid?.() ?? 0}`);
}

/** Returns a file whose modification time is that of the last sweep. */
export function sweepNote(temporary: string): string {
  return join(outputsOf(temporary), ".swept");
}

const sweepRestMs = 6 * 3_600_000;

/** Costs one stat call, which is all that most runs spend on sweeping. */
export function isSweepDue(temporary = tmpdir(), now = Date.now()): boolean {
  return tryOr(() => now - statSync(sweepNote(temporary)).mtimeMs > sweepRestMs, true);
}

/** Returns the folder for a session's long outputs and creates it if needed; the same session gets the same folder again. */
export function outputFolder(sessionId: string, temporary = tmpdir()): string {
  const all = outputsOf(temporary);
  const folder = join(all, sessionId.replace(/[^\w-]/g, "_").slice(0, 80) || "session");
  // In a world-writable folder, another user may have created this predictable name. Use a random name then.
  if (!isPrivate(all) || !isPrivate(folder)) return makeTemporaryFolder(temporary, "output");
  writeFileSync(join(folder, `.run-${process.pid}`), "");
  return folder;
}

/** Called at the end of a run: removes the folder if it is empty. Other runs of the session have their own marker files in it. */
export function leaveOutputFolder(folder: string): void {
  try {
    rmSync(join(folder, `.run-${process.pid}`), { force: true });
    rmdirSync(folder);
  } catch {
    // The folder is not empty: it contains outputs that may still be read.
  }
}

/** Creates the folder if it is missing; returns whether it belongs to this user alone. */
export function isPrivate(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw new Error(`The directory for temporary files, ${dirname(path)}, does not exist: set TMPDIR.`);
    if (code !== "EEXIST") throw error;
  }
  const stats = lstatSync(path);
  if (process.platform === "win32") return stats.isDirectory();
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
}
