// A folder or a file held open: what happens to the names above it leads nobody elsewhere. No link is followed on the way to it.
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

// Windows has no such flags.
export const noFollow = constants.O_NOFOLLOW ?? 0;
const onlyFolder = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | noFollow;
/** To read a file, and nothing that only looks like one: no link, and no pipe that waits for a writer. */
export const readOnly = constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0);

/** macOS alone can refuse links in all of a path (O_NOFOLLOW_ANY); Linux tells afterwards where a handle lies. */
const noFollowAnywhere = process.platform === "darwin" ? 0x2000_0000 : 0;

export type FolderHandle = {
  /** How an entry is spelled to the system: through the handle where that is possible (Linux), else by its path. */
  at(name: string): string;
  /** Throws ELOOP or ENOTDIR where a link or a file stands. */
  child(name: string): FolderHandle;
  /** Does the folder still lie at this path? */
  isAt(path: string): boolean;
  close(): void;
};

/** A real path. Throws when it is not one, or no longer. */
export function openFolder(real: string): FolderHandle {
  if (process.platform !== "linux") return heldByPath(real);
  const handle = openSync(real, onlyFolder);
  const seen = pathOf(handle);
  if (seen === real) return heldByHandle(handle);
  closeSync(handle);
  // Without /proc the path must do.
  if (seen === undefined) return heldByPath(real);
  throw leadsElsewhere(real);
}

function heldByHandle(handle: number): FolderHandle {
  const at = (name: string) => `/proc/self/fd/${handle}/${name}`;
  return {
    at,
    child: (name) => heldByHandle(openSync(at(name), onlyFolder)),
    isAt: (path) => pathOf(handle) === path,
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

/** What lies in the folder at a real path. Throws like `openFolder`. */
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
  /** How another program of ours opens this very file, whatever became of its name. Where there is no such way: its path. */
  at: string;
};

/** A regular file at a real path. Throws when it is something else, or lies elsewhere: nothing that was opened by a detour is read. */
export function openRegularFile(real: string): FileHandle {
  const descriptor = openSync(real, readOnly | noFollowAnywhere);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw Object.assign(new Error(`${real} is not a regular file`), { code: "EINVAL" });
    const seen = process.platform === "linux" ? pathOf(descriptor) : undefined;
    if ((seen ?? realpathSync.native(real)) !== real) throw leadsElsewhere(real);
    return { descriptor, stat, at: seen === undefined ? real : `/proc/${process.pid}/fd/${descriptor}` };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** After another program has opened it by `at`: can it have been led elsewhere? Only where a handle cannot be handed on. */
export function isStillThere({ at, stat }: FileHandle): boolean {
  if (at.startsWith("/proc/")) return true;
  const now = lstatSync(at, { throwIfNoEntry: false });
  return now?.ino === stat.ino && now.dev === stat.dev && realpathSync.native(at) === at;
}

/** Folders below roots, one after the other: what two paths share is opened once. */
export class FolderTrail {
  #open: { name: string; folder: FolderHandle }[] = [];

  /** The folder at a path relative to a root. It is closed by the next call. */
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

/** The names on the way from a root; of the root itself an empty one. */
export function namesFrom(root: string, path: string): string[] {
  return relative(root, path).split(sep);
}

/** All that the paths lie in. */
export function foldersAbove(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(path); !folders.has(folder) && folder !== dirname(folder); folder = dirname(folder))
      folders.add(folder);
  return folders;
}

/** As `join` does for one plain name, at a tenth of its price. */
export function inFolder(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}

function pathOf(handle: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${handle}`);
  } catch {
    return undefined;
  }
}

function leadsElsewhere(path: string): Error {
  return Object.assign(new Error(`${path} is no longer where it was: its path points elsewhere`), {
    code: "ELOOP",
  });
}
