// How much room chats take on the disk.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The bytes in a file, or in everything below a folder. What cannot be looked at counts as nothing. */
export function bytesIn(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.size ?? 0;
  try {
    return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
  } catch {
    return 0;
  }
}
