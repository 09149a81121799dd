// Creates files and folders that only their owner can read, regardless of the umask.
import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export function makeFolder(folder: string): void {
  const createdFolder = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (createdFolder === undefined) return;
  for (let path = folder; path.length >= createdFolder.length; path = dirname(path)) chmodSync(path, 0o700);
}

/** Opens a file that only its owner can read. `wx` fails if the file exists; `a` appends to it. */
export function openPrivate(file: string, flags: "wx" | "a"): number {
  const handle = openSync(file, flags, 0o600);
  fchmodSync(handle, 0o600);
  return handle;
}

export function writePrivate(file: string, flags: "wx" | "a", text: string): void {
  const handle = openPrivate(file, flags);
  try {
    writeFileSync(handle, text);
  } finally {
    closeSync(handle);
  }
}
