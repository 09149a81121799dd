// Sockets and pipes that have a name in the file system. A read-only mount does not close them, so each that is found is hidden.
import { type Dirent, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isInside, realOrSame } from "../../policy/paths.ts";
import type { Layout, Mount } from "./layout.ts";
import { entriesOf, statOf } from "./protected-paths.ts";

/** So many folders are looked into, the nearest first. */
const mostFolders = 600;
const mostNear = 20;
/** Large, and made by machines. */
const skipped = new Set(["node_modules", "__pycache__", ".venv", "venv", ".git"]);

type Listing = { changedAt: number; special: string[]; folders: string[] };

export type SpecialFilesRequest = {
  around: readonly string[];
  except: readonly string[];
  isInSight(path: string): boolean;
};

/** Kept for a run: a folder that has not changed since it was listed need not be listed again. */
export class SpecialFiles {
  readonly #listings = new Map<string, Listing>();
  /** Folders in which files came and went while they were to be hidden, so that a command could not begin. */
  readonly #restless = new Set<string>();
  #foreign: ReadonlySet<string> | undefined;

  /**
   * Told how it went with a layout. What is gone by now may have been what a command failed at: the folder it was in is hidden
   * as a whole, then, until one has begun.
   */
  learn(layout: Layout, { hasBegun }: { hasBegun: boolean }): void {
    if (hasBegun) this.#restless.clear();
    else
      for (const { at, as } of layout)
        if (as === "hidden" && !statOf(at)) this.#restless.add(existingFolder(dirname(at)));
  }

  /** `needed`: what must stay in sight. `own`: folders of the command's. */
  hidden(found: readonly string[], { needed, own }: { needed: readonly string[]; own: readonly string[] }): Mount[] {
    const folders = [...this.#restless].filter(
      (folder) => !needed.some((path) => isInside(path, folder)) && !own.some((root) => isInside(folder, root)),
    );
    const files = found.filter((path) => !folders.some((folder) => isInside(path, folder)));
    return [
      ...files.map((at): Mount => ({ at, as: "hidden", kind: "file" })),
      ...folders.map((at): Mount => ({ at, as: "hidden", kind: "folder" })),
    ];
  }

  /** Of those in the folders that commands write: what was there before the first command. Later ones are taken for theirs. */
  foreign(inside: readonly string[]): string[] {
    this.#foreign ??= new Set(inside.map(identityOf));
    return inside.filter((path) => this.#foreign!.has(identityOf(path)));
  }

  /**
   * The kernel's table has sockets by the names that they were bound to. A relative one is looked for where processes stand;
   * where there is nothing under a name, the socket may have been renamed, and what lies near is looked through. Pipes
   * are in no table, and sockets of other network namespaces are in none of ours: for those, the folders below `around` are
   * listed, but for `except`: what needs to be hidden there is known.
   */
  find({ around, except, isInSight }: SpecialFilesRequest): string[] {
    const bound = boundNames();
    const relative = bound.filter((name) => !isAbsolute(name));
    const standing = relative.length > 0 ? workingFolders() : [];
    const places = [
      ...bound.filter(isAbsolute).map((name) => [name]),
      ...relative.map((name) => standing.map((folder) => join(folder, name))),
    ];
    const sockets: string[] = [];
    const near: string[] = [];
    for (const paths of places) {
      const found = paths.filter((path) => statOf(path)?.isSocket());
      sockets.push(...found);
      if (found.length === 0) near.push(...paths.map((path) => existingFolder(dirname(path))));
    }
    const renamed = [...new Set(near)].filter((folder) => folder !== "/" && isInSight(folder));
    const listed = [
      ...this.#below(renamed, renamed.length + mostNear, []),
      ...this.#below(around, mostFolders, except),
    ];
    return [...new Set([...sockets.map(realOrSame), ...listed])];
  }

  #below(tops: readonly string[], most: number, except: readonly string[]): string[] {
    const open = new Set(tops.map(realOrSame));
    const closed = new Set(except);
    const found: string[] = [];
    let looked = 0;
    // What is added on the way is visited as well.
    for (const folder of open) {
      if (closed.has(folder)) continue;
      if (looked++ === most) break;
      const { special, folders } = this.#list(folder);
      found.push(...special);
      if (open.size < most) for (const each of folders) open.add(each);
    }
    return found;
  }

  #list(folder: string): Listing {
    const changedAt = statOf(folder)?.mtimeMs ?? 0;
    const known = this.#listings.get(folder);
    // A change within the same tick of the clock would not be seen.
    if (known && known.changedAt === changedAt && Date.now() - changedAt > 50) return known;
    const entries = entriesOf(folder);
    const paths = (which: (entry: Dirent) => boolean) => entries.filter(which).map(({ name }) => join(folder, name));
    const listing = {
      changedAt,
      special: paths((entry) => entry.isFIFO() || entry.isSocket()),
      folders: paths((entry) => entry.isDirectory() && !skipped.has(entry.name)),
    };
    this.#listings.set(folder, listing);
    return listing;
  }
}

function identityOf(path: string): string {
  const stat = statOf(path);
  return `${path}:${stat?.dev}:${stat?.ino}`;
}

/** As they were given to the kernel; abstract ones, which stay behind in their namespace, begin with an @. */
function boundNames(): string[] {
  try {
    const lines = readFileSync("/proc/net/unix", "utf8").split("\n");
    const names = lines.flatMap((line) => /^[0-9a-f]+: (?:\S+ +){6}([^@].*)$/i.exec(line)?.[1] ?? []);
    return [...new Set(names)];
  } catch {
    return [];
  }
}

function workingFolders(): string[] {
  const folders = new Set<string>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      folders.add(readlinkSync(`/proc/${name}/cwd`));
    } catch {
      // Gone, or somebody else's.
    }
  }
  return [...folders];
}

/** The folder, or the nearest above it that is there. */
function existingFolder(folder: string): string {
  return folder === "/" || statOf(folder)?.isDirectory() ? folder : existingFolder(dirname(folder));
}
