// A folder held open: what happens to the names above it leads nobody elsewhere. No link is followed on the way to it.
import { closeSync, constants, lstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { sep } from "node:path";

// Windows has no such flags.
const onlyFolder = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

export type FolderHandle = {
  /** How an entry is spelled to the system: through the handle where that is possible (Linux), else by its path. */
  at(name: string): string;
  /** Throws ELOOP or ENOTDIR where a link or a file stands. */
  child(name: string): FolderHandle;
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
  return { at, child: (name) => heldByHandle(openSync(at(name), onlyFolder)), close: () => closeSync(handle) };
}

function heldByPath(path: string): FolderHandle {
  if (!lstatSync(path).isDirectory() || realpathSync.native(path) !== path) throw leadsElsewhere(path);
  return { at: (name) => inFolder(path, name), child: (name) => heldByPath(inFolder(path, name)), close: () => {} };
}

/** Folders below one root, one after the other: what two paths share is opened once. */
export class FolderTrail {
  readonly #root: FolderHandle;
  #open: { name: string; folder: FolderHandle }[] = [];

  constructor(root: string) {
    this.#root = openFolder(root);
  }

  /** The folder at a path relative to the root. It is closed by the next call. */
  to(path: readonly string[]): FolderHandle {
    let shared = 0;
    while (shared < path.length && this.#open[shared]?.name === path[shared]) shared++;
    this.#closeFrom(shared);
    for (const name of path.slice(shared)) {
      this.#open.push({ name, folder: (this.#open.at(-1)?.folder ?? this.#root).child(name) });
    }
    return this.#open.at(-1)?.folder ?? this.#root;
  }

  close(): void {
    this.#closeFrom(0);
    this.#root.close();
  }

  #closeFrom(index: number): void {
    for (const { folder } of this.#open.splice(index)) folder.close();
  }
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
  return Object.assign(new Error(`${path} is no longer the folder it was: its path points elsewhere`), {
    code: "ELOOP",
  });
}
