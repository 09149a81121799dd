// Finds sockets and named pipes in the file system. A read-only mount does not close them, so each one found is hidden.
import { type Dirent, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { entriesIn } from "../../policy/hard-links.ts";
import { isInside, realOrSame } from "../../policy/paths.ts";
import { statOf } from "../folder-handle.ts";
import type { Layout, Mount } from "./layout.ts";

/** The maximum number of folders to search, nearest first. */
const maxFolders = 600;
const maxNear = 20;
/** Large generated folders, which are not searched for sockets and pipes. */
const skipped = new Set(["node_modules", "__pycache__", ".venv", "venv", ".git"]);

type Listing = { changedAt: number; special: string[]; folders: string[] };

export type SpecialFilesRequest = {
  around: readonly string[];
  except: readonly string[];
  isInSight(path: string): boolean;
};

/** Finds sockets and pipes. Use one instance for the whole run, so that unchanged folders are not listed again. */
export class SpecialFiles {
  readonly #listings = new Map<string, Listing>();
  /** Folders in which files to be hidden came and went, so that a command could not start. */
  readonly #unstable = new Set<string>();
  #foreign: ReadonlySet<string> | undefined;

  /**
   * Records whether a command started with this layout. If not, a hidden file that is gone by now may have been the cause: its folder
   * is then hidden as a whole until a command has started.
   */
  learn(layout: Layout, { hasBegun }: { hasBegun: boolean }): void {
    if (hasBegun) this.#unstable.clear();
    else
      for (const { at, as } of layout)
        if (as === "hidden" && !statOf(at)) this.#unstable.add(existingFolder(dirname(at)));
  }

  /** `needed` must stay visible; `own` are the folders that the command may write. */
  hidden(found: readonly string[], { needed, own }: { needed: readonly string[]; own: readonly string[] }): Mount[] {
    const folders = [...this.#unstable].filter(
      (folder) => !needed.some((path) => isInside(path, folder)) && !own.some((root) => isInside(folder, root)),
    );
    const files = found.filter((path) => !folders.some((folder) => isInside(path, folder)));
    return [
      ...files.map((at): Mount => ({ at, as: "hidden", kind: "file" })),
      ...folders.map((at): Mount => ({ at, as: "hidden", kind: "folder" })),
    ];
  }

  /** Filters those in writable folders that existed before the first command. Later ones are assumed to belong to commands. */
  foreign(inside: readonly string[]): string[] {
    this.#foreign ??= new Set(inside.map(identityOf));
    return inside.filter((path) => this.#foreign!.has(identityOf(path)));
  }

  /**
   * Finds sockets and pipes that commands must not reach. The kernel's table lists sockets by the names that they were bound to. A
   * relative name is looked up in the working folders of processes; if nothing has it, the socket may have been renamed, and nearby
   * folders are searched. Pipes and sockets of other network namespaces are not in the table: for those, the folders below `around` are
   * listed, except those in `except`, where it is known what to hide.
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
      ...this.#foldersBelow(renamed, renamed.length + maxNear, []),
      ...this.#foldersBelow(around, maxFolders, except),
    ];
    return [...new Set([...sockets.map(realOrSame), ...listed])];
  }

  #foldersBelow(tops: readonly string[], most: number, except: readonly string[]): string[] {
    const open = new Set(tops.map(realOrSame));
    const closed = new Set(except);
    const found: string[] = [];
    let looked = 0;
    // The loop also visits folders added on the way.
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
    const existing = this.#listings.get(folder);
    // Two changes within the same clock tick have the same timestamp, so do not cache a folder that has just changed.
    if (existing && existing.changedAt === changedAt && Date.now() - changedAt > 50) return existing;
    const entries = entriesIn(folder);
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

/** Names as they were bound; skips abstract ones, which start with an @ and cannot leave their namespace. */
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
      // The folder was removed or belongs to another user.
    }
  }
  return [...folders];
}

/** Returns the folder, or its nearest existing parent. */
function existingFolder(folder: string): string {
  return folder === "/" || statOf(folder)?.isDirectory() ? folder : existingFolder(dirname(folder));
}
