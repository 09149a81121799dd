// Verifies that bubblewrap mounts the very files that were scanned: another command running in the same folders could put a link there
// in between, and a link may lead anywhere.
import { closeSync, constants, lstatSync, openSync } from "node:fs";
import { sep } from "node:path";
import { isInside } from "../../policy/paths.ts";
import type { Layout, Mount } from "./layout.ts";

/** `identity` is device and inode as printed by `stat -c %d:%i`. */
export type MountCheck = { at: string; identity: string };

/** Returns a check for every mount inside a folder that commands can write. Throws if one has changed. */
export function mountChecks(
  layout: Layout,
  writable: readonly string[],
  { emptyFile, emptyFolder }: { emptyFile: string; emptyFolder: string },
): MountCheck[] {
  const identities = { file: identityAt(emptyFile), folder: identityAt(emptyFolder) };
  const walk = new FolderWalk();
  try {
    return layout.flatMap((mount): MountCheck[] => {
      const root = writable.find((each) => mount.at !== each && isInside(mount.at, each));
      if (root === undefined || !isOfPath(mount)) return [];
      const own = walk.identity(mount.at, root);
      return [{ at: mount.at, identity: mount.as === "hidden" ? identities[mount.kind] : own }];
    });
  } finally {
    walk.end();
  }
}

function isOfPath({ as }: Mount): boolean {
  return as === "pinned" || as === "writable" || as === "readOnly" || as === "hidden";
}

/** Walks from folder to folder by handles, never through a link. Fast for paths in sorted order. */
class FolderWalk {
  readonly #open: { path: string; handle: number }[] = [];

  identity(path: string, root: string): string {
    while (this.#open.length > 0 && !isInside(path, this.#open.at(-1)!.path)) closeSync(this.#open.pop()!.handle);
    if (this.#open.length === 0) this.#enter(root, root);
    const names = path.slice(this.#open.at(-1)!.path.length + 1).split(sep);
    for (const name of names.slice(0, -1)) this.#enter(`${this.#open.at(-1)!.path}${sep}${name}`, this.#at(name));
    return identityAt(this.#at(names.at(-1)!));
  }

  end(): void {
    for (const { handle } of this.#open) closeSync(handle);
  }

  #enter(path: string, at: string): void {
    const handle = openSync(at, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    this.#open.push({ path, handle });
  }

  #at(name: string): string {
    return `/proc/self/fd/${this.#open.at(-1)!.handle}/${name}`;
  }
}

function identityAt(path: string): string {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
