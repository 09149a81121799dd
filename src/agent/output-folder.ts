// Where long outputs of a session lie: a folder of its own that only the user can enter.
import { lstatSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes it when it is not there. The same session finds the same folder again. */
export function outputFolder(sessionId: string, temporary = tmpdir()): string {
  const user = process.getuid?.() ?? 0;
  const all = outputsOf(temporary);
  const folder = join(all, sessionId.replace(/[^\w-]/g, "_").slice(0, 80) || "session");
  if (isPrivate(all, user) && isPrivate(folder, user)) return folder;
  // Somebody else was there first: in a folder that all may write, a name that can be guessed can be taken.
  return mkdtempSync(join(temporary, "courser-"));
}

/** Where those of all sessions lie. */
export function outputsOf(temporary: string): string {
  return join(temporary, `courser-${process.getuid?.() ?? 0}`);
}

function isPrivate(path: string, user: number): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const facts = lstatSync(path);
  return facts.isDirectory() && (process.platform === "win32" || (facts.uid === user && (facts.mode & 0o077) === 0));
}
