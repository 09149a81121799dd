// Reads contents that need not be saved because a git repository holds them. Never writes to the repository.
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { inflateSync } from "node:zlib";
import { namesIn } from "../../store/folder-names.ts";
import { Packs } from "./packs.ts";
import { tickMs } from "./stat-cache.ts";

/** Returns the path of git's `alternates` file, which lists further object folders to read from. */
export function alternatesFile(objects: string): string {
  return join(objects, "info", "alternates");
}

/** Returns the object folders that this one borrows from, directly or indirectly. */
export function alternatesOf(objects: string, depth = 0): string[] {
  try {
    const file = alternatesFile(objects);
    if (!statSync(file).isFile()) return [];
    const lines = readFileSync(file, "utf8").split("\n");
    const named = lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => resolve(objects, line));
    return depth > 4 ? named : named.flatMap((each) => [each, ...alternatesOf(each, depth + 1)]);
  } catch {
    return [];
  }
}

export class LentObjects {
  readonly #folders: { path: string; packs: Packs }[];
  /** The names of loose objects by folder: a repository that was never packed has one for each file. */
  readonly #single = new Map<string, Set<string>>();

  constructor(folders: readonly string[]) {
    this.#folders = [...new Set(folders)].map((path) => ({ path, packs: new Packs(join(path, "pack")) }));
    for (const { packs } of this.#folders) packs.refresh();
  }

  /** A text that stays equal as long as no content is added to or removed from one of the folders. */
  get state(): string {
    const names = ["pack", ...Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, "0"))];
    const states = this.#folders.map(({ path }) => {
      const stats = names.map((name) => statSync(`${path}/${name}`, { throwIfNoEntry: false }));
      // Two changes within the same clock tick have the same timestamp, so a file changed this recently is not trusted.
      const isNew = stats.some((stat) => stat !== undefined && stat.mtimeMs > Date.now() - tickMs);
      return [path, isNew ? Math.random() : "", ...stats.map((stat) => stat && `${stat.ino} ${stat.mtimeMs}`)].join(
        "\n",
      );
    });
    return states.join("\n");
  }

  has(id: string): boolean {
    return this.#folders.some(({ packs }) => packs.has(id)) || this.#singleFile(id) !== undefined;
  }

  /** Returns undefined if no folder holds it. The caller checks that the content matches its id. */
  get(id: string): Buffer | undefined {
    for (const { packs } of this.#folders) {
      const packed = packs.get(id);
      if (packed) return packed;
    }
    const file = this.#singleFile(id);
    if (file === undefined || !statSync(file).isFile()) return undefined;
    const bytes = inflateSync(readFileSync(file));
    return bytes.subarray(bytes.indexOf(0) + 1);
  }

  #singleFile(id: string): string | undefined {
    for (const { path } of this.#folders) {
      const folder = `${path}/${id.slice(0, 2)}`;
      let names = this.#single.get(folder);
      if (!names) {
        names = new Set(namesIn(folder));
        this.#single.set(folder, names);
      }
      if (names.has(id.slice(2))) return join(folder, id.slice(2));
    }
    return undefined;
  }
}
