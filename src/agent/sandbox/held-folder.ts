// Holds a folder open, so that names in it are reached through the handle and no link can be put in the path meanwhile.
import { closeSync, constants, openSync, readlinkSync } from "node:fs";

export type HeldFolder = {
  /** The path of the folder through its handle, valid whatever becomes of its original path. */
  at: string;
  close(): void;
};

/** Returns undefined unless the path leads to this very folder without links. */
export function holdFolder(path: string): HeldFolder | undefined {
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  const at = `/proc/self/fd/${handle}`;
  const close = () => closeSync(handle);
  if (readlinkSync(at) === path) return { at, close };
  close();
  return undefined;
}
