// Holds folders and files open, so that renames above them cannot redirect an access. No link is followed on the way.
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { dirname, relative, sep } from "node:path";
import { tryOr } from "../text/try-or.ts";

// O_NOFOLLOW, or 0 on Windows, which does not support it.
export const noFollow = constants.O_NOFOLLOW ?? 0;
export const onlyFolder = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | noFollow;
/** Flags to open a regular file for reading: follows no link, and does not block on a pipe without a writer. */
export const readOnly = constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0);

/** macOS can refuse symbolic links anywhere in a path (O_NOFOLLOW_ANY). On Linux, the opened handle is checked. */
const noFollowAnywhere = process.platform === "darwin" ? 0x2000_0000 : 0;

export type FolderHandle = {
  /** Returns the path of an entry to pass to the system: through the handle where possible (Linux), else by name. */
  at(name: string): string;
  /** Opens a subfolder. Throws ELOOP or ENOTDIR for a link or a file. */
  child(name: string): FolderHandle;
  /** Returns whether the folder is still at this path. */
  isAt(path: string): boolean;
  close(): void;
};

/** Opens a folder by its real path. Throws when the path is not, or no longer, a real one. */
export function openFolder(real: string): FolderHandle {
  if (process.platform !== "linux") return heldByPath(real);
  const handle = openSync(real, onlyFolder);
  const seen = handlePath(handle);
  if (seen === real) return heldByHandle(handle);
  closeSync(handle);
  // Without /proc, use the path instead of the handle.
  if (seen === undefined) return heldByPath(real);
  throw leadsElsewhere(real);
}

function heldByHandle(handle: number): FolderHandle {
  const at = (name: string) => `/proc/self/fd/${handle}/${name}`;
  return {
    at,
    child: (name) => heldByHandle(openSync(at(name), onlyFolder)),
    isAt: (path) => handlePath(handle) === path,
    close: () => closeSync(handle),
  };
}

function heldByPath(path: string): FolderHandle {
  if (!lstatSync(path).isDirectory() || realpathSync.native(path) !== path) throw leadsElsewhere(path);
  return {
    at: (name) => inFolder(path, name),
    child: (name) => heldByPath(inFolder(path, name)),
    isAt: () => true,
    close: () => {},
  };
}

/** Lists the folder at a real path. Throws like `openFolder`. */
export function entriesAt(real: string): Dirent[] {
  const folder = openFolder(real);
  try {
    return readdirSync(folder.at(""), { withFileTypes: true });
  } finally {
    folder.close();
  }
}

export type FileHandle = {
  descriptor: number;
  stat: Stats;
  /** A path by which a child process opens this very file even if it was renamed; the plain path where that is impossible. */
  at: string;
};

/** Opens a regular file at a real path. Throws when it is something else or was reached through a link, so nothing wrong is read. */
export function openRegularFile(real: string): FileHandle {
  const descriptor = openSync(real, readOnly | noFollowAnywhere);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw Object.assign(new Error(`${real} is not a regular file`), { code: "EINVAL" });
    const seen = process.platform === "linux" ? handlePath(descriptor) : undefined;
    if ((seen ?? realpathSync.native(real)) !== real) throw leadsElsewhere(real);
    return { descriptor, stat, at: seen === undefined ? real : `/proc/${process.pid}/fd/${descriptor}` };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Call after a child process opened the file by `at`: false if that path may have led elsewhere. Always true for a handle. */
export function isStillThere({ at, stat }: FileHandle): boolean {
  if (at.startsWith("/proc/")) return true;
  const now = lstatSync(at, { throwIfNoEntry: false });
  return now?.ino === stat.ino && now.dev === stat.dev && realpathSync.native(at) === at;
}

/** Opens folders below roots one after the other, and opens shared parents only once. */
export class FolderTrail {
  #open: { name: string; folder: FolderHandle }[] = [];

  /** Returns the folder at a path relative to a root. The next call closes it. */
  to(root: string, path: readonly string[]): FolderHandle {
    const names = [root, ...path];
    let shared = 0;
    while (shared < names.length && this.#open[shared]?.name === names[shared]) shared++;
    this.#closeFrom(shared);
    for (const name of names.slice(shared)) {
      const above = this.#open.at(-1)?.folder;
      this.#open.push({ name, folder: above ? above.child(name) : openFolder(name) });
    }
    return this.#open.at(-1)!.folder;
  }

  close(): void {
    this.#closeFrom(0);
  }

  #closeFrom(index: number): void {
    for (const { folder } of this.#open.splice(index)) folder.close();
  }
}

/** Returns the names on the way from a root to a path; for the root itself, one empty name. */
export function namesFrom(root: string, path: string): string[] {
  return relative(root, path).split(sep);
}

/** Returns all parent folders of the paths. */
export function foldersAbove(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(path); !folders.has(folder) && folder !== dirname(folder); folder = dirname(folder))
      folders.add(folder);
  return folders;
}

/** Does what `join` does for one plain name, at a tenth of the cost. */
export function inFolder(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}

/** Returns the stat data of a path, not of a link's target; undefined if nothing is there, or a folder on the way cannot be searched. */
export function statOf(path: string): Stats | undefined {
  return tryOr(() => lstatSync(path, { throwIfNoEntry: false }), undefined);
}

function handlePath(handle: number): string | undefined {
  return tryOr(() => readlinkSync(`/proc/self/fd/${handle}`), undefined);
}

function leadsElsewhere(path: string): Error {
  return Object.assign(new Error(`${path} is no longer where it was: its path points elsewhere`), {
    code: "ELOOP",
  });
}
