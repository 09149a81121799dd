// Measures the disk space of chats.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { tryOr } from "../../text/try-or.ts";

/** Returns the bytes in a file, or in everything below a folder. Unreadable folders count as 0. */
export function bytesIn(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.size ?? 0;
  return tryOr(() => readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0), 0);
}
