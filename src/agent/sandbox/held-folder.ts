// A folder that is held open: names in it are reached through the handle, so that nobody can put a link in its way meanwhile.
import { closeSync, constants, openSync, readlinkSync } from "node:fs";

export type HeldFolder = {
  /** Where it is now called so, whatever becomes of its path. */
  at: string;
  close(): void;
};

/** Undefined where the path leads anywhere but to this very folder. */
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
