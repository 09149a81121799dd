// Folders for temporary files: each says whose it is, so that what killed runs leave behind can be told and removed.
import { lstatSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The names of those that `makeTemporaryFolder` makes, with the process; older ones have none. */
export const temporaryFolder = /^courser-(?:sandbox|output)-(?:(\d+)-)?\w{6}$/;

/** A new one that only the user can enter. Throws where none can be made. */
export function makeTemporaryFolder(base: string, kind: "sandbox" | "output"): string {
  return mkdtempSync(join(base, `courser-${kind}-${process.pid}-`));
}

/** Holds the long outputs of all sessions of the user. */
export function outputsOf(temporary: string): string {
  return join(temporary, `courser-${process.getuid?.() ?? 0}`);
}

/** Its time is that of the last sweep. */
export function sweepNote(temporary: string): string {
  return join(outputsOf(temporary), ".swept");
}

const sweepRestMs = 6 * 3_600_000;

/** One question to the disk, which is all that most runs spend on it. */
export function isSweepDue(temporary = tmpdir(), now = Date.now()): boolean {
  const last = statSync(sweepNote(temporary), { throwIfNoEntry: false });
  return last === undefined || now - last.mtimeMs > sweepRestMs;
}

/** Where long outputs of a session lie. Makes it when it is not there; the same session finds the same folder again. */
export function outputFolder(sessionId: string, temporary = tmpdir()): string {
  const all = outputsOf(temporary);
  const folder = join(all, sessionId.replace(/[^\w-]/g, "_").slice(0, 80) || "session");
  // Somebody else was there first: in a folder that all may write, a name that can be guessed can be taken.
  if (!isPrivate(all) || !isPrivate(folder)) return makeTemporaryFolder(temporary, "output");
  writeFileSync(join(folder, `.run-${process.pid}`), "");
  return folder;
}

/** At the end of a run: one that holds nothing goes. Other runs of the session have marks of their own in it. */
export function leaveOutputFolder(folder: string): void {
  try {
    rmSync(join(folder, `.run-${process.pid}`), { force: true });
    rmdirSync(folder);
  } catch {
    // Outputs are in it, which may still be read.
  }
}

/** Made where nothing is. */
export function isPrivate(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw new Error(`The directory for temporary files, ${dirname(path)}, does not exist: set TMPDIR.`);
    if (code !== "EEXIST") throw error;
  }
  const facts = lstatSync(path);
  if (process.platform === "win32") return facts.isDirectory();
  return facts.isDirectory() && facts.uid === process.getuid?.() && (facts.mode & 0o077) === 0;
}
