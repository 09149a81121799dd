// Writes a file that the user named, whole or not at all.
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UserError, usageError } from "../protocol/error-codes.ts";

/**
 * Opens the file for the last answer and empties it at once: a file that cannot be written stops the run before it costs
 * anything, and no earlier answer is left.
 */
export function openAnswerFile(file: string): (text: string) => void {
  const path = resolve(file);
  const stat = statSync(path, { throwIfNoEntry: false });
  const isStream = stat !== undefined && !stat.isFile() && !stat.isDirectory();
  if (!isStream) writeWhole(path, [""]);
  return (text) => writeWhole(path, [text]);
}

export function writeWhole(path: string, pieces: Iterable<string>): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory())
    throw usageError(`${path} is a directory. Give the name of a file, such as ${path}/answer.txt`);
  if (!existsSync(dirname(path)))
    throw new UserError(
      "STORE_IO",
      `The directory ${dirname(path)} does not exist. Create it first: mkdir -p ${dirname(path)}`,
    );
  // A pipe or a device is written to, never replaced by a file, and a link stays a link.
  const isStream = stat !== undefined && !stat.isFile();
  const target = stat?.isFile() ? realpathSync(path) : path;
  const beside = isStream ? path : `${target}.${process.pid}.part`;
  try {
    // Readable by the owner only, because a conversation is private until its owner shares it.
    const file = openSync(beside, "w", 0o600);
    try {
      for (const piece of pieces) writeAll(file, Buffer.from(piece));
    } finally {
      closeSync(file);
    }
    if (!isStream) renameSync(beside, target);
  } catch (error) {
    if (!isStream) rmSync(beside, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UserError(code === "ENOSPC" ? "STORE_FULL" : "STORE_IO", `${path} cannot be written: ${message}.`);
  }
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
