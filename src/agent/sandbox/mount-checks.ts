// What bubblewrap mounts by its path must be what was looked at: another command that runs in the same folders could put a link
// there in between, and a link leads anywhere.
import { closeSync, constants, lstatSync, openSync } from "node:fs";
import { sep } from "node:path";
import { isInside } from "../../policy/paths.ts";
import type { Layout, Mount } from "./layout.ts";

/** `identity`: device and number of the file, as `stat -c %d:%i` says them. */
export type MountCheck = { at: string; identity: string };

/** Of every mount inside a folder that commands can write. Throws where one is no longer what it was. */
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

/** Goes from folder to folder by handles, and never through a link. Quick for paths that come in order. */
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
