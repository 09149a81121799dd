// Finds hard links: another name of a file may be protected or denied by a rule.
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { tryOr } from "../text/try-or.ts";
import type { WorkspacePaths } from "./paths.ts";
import { protectedFolders } from "./protected-names.ts";

/** Folders with protected files, in a workspace and in a home folder. */
const inWorkspace = [".cursor", ".cursor/hooks", ".git/hooks", ".git/info", ".git", ...protectedFolders, ""];
const inHome = ["", ".ssh", ".cursor", ".config/fish", ".config/git"];
const maxEntries = 2000;

/** Returns the protected name of the same file, or undefined; nearly all files have only one name. */
export function protectedLink(
  real: string,
  { workspace, roots, home, configDir }: WorkspacePaths,
  isProtected: (path: string) => boolean,
): string | undefined {
  const file = linkedFile(real);
  if (!file) return undefined;
  const folders = [
    ...[workspace, ...roots].flatMap((root) => inWorkspace.map((name) => join(root, name))),
    ...inHome.map((name) => join(home, name)),
    configDir,
  ];
  const seen = { entries: 0 };
  const look = (folder: string) => sameFileIn(folder, { file, isWanted: isProtected, seen });
  return folders.reduce<string | undefined>((found, folder) => found ?? look(folder), undefined);
}

export function hasSecondName(path: string): boolean {
  return linkedFile(path) !== undefined;
}

const maxBelow = 50_000;
/** Large generated folders, full of files that a package manager has hard-linked. */
const skipped = new Set(["node_modules", ".git"]);

/** After this many single checks, the whole tree is scanned instead. */
const maxAsked = 2000;

/**
 * Finds wanted files with further hard links, at and below some paths, nearest first. The scan runs only when a file with several names is
 * met, which is rare, or when enough files are judged that one scan costs less.
 */
export class SecondNames {
  readonly #from: ReadonlySet<string>;
  readonly #isWanted: (path: string) => boolean;
  #asked = 0;
  #found: ReadonlySet<string> | undefined;

  constructor(from: Iterable<string>, isWanted: (path: string) => boolean) {
    this.#from = new Set(from);
    this.#isWanted = isWanted;
  }

  include(path: string): boolean {
    if (this.#found === undefined && this.#asked++ < maxAsked && !linkedFile(path)) return false;
    this.#found ??= this.#look();
    const file = this.#found.size > 0 ? linkedFile(path) : undefined;
    return file !== undefined && this.#found.has(identityOf(file));
  }

  #look(): Set<string> {
    const found = new Set<string>();
    for (const from of this.#from) this.#lookBelow(from, found);
    return found;
  }

  #lookBelow(from: string, found: Set<string>): void {
    const judge = (path: string) => {
      const file = this.#isWanted(path) ? linkedFile(path) : undefined;
      if (file) found.add(identityOf(file));
    };
    judge(from);
    const open = [from];
    let left = maxBelow;
    for (let next = 0; next < open.length; next++)
      for (const entry of entriesIn(open[next]!)) {
        if (left-- === 0) return;
        const path = join(open[next]!, entry.name);
        if (entry.isFile()) judge(path);
        else if (entry.isDirectory() && !skipped.has(entry.name)) open.push(path);
      }
  }
}

function identityOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}

export function entriesIn(folder: string): Dirent[] {
  return tryOr(() => readdirSync(folder, { withFileTypes: true }), []);
}

type LinkSearch = {
  file: { dev: number; ino: number };
  isWanted(path: string): boolean;
  seen: { entries: number };
};

function sameFileIn(folder: string, search: LinkSearch): string | undefined {
  for (const name of namesIn(folder)) {
    // There are too many entries to check them all, and any of the rest could match.
    if (search.seen.entries++ === maxEntries) return "a file that was not looked for to the end";
    const path = join(folder, name);
    const other = linkedFile(path);
    if (other?.ino === search.file.ino && other.dev === search.file.dev && search.isWanted(path)) return path;
  }
  return undefined;
}

function linkedFile(path: string): { dev: number; ino: number } | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() && stat.nlink > 1 ? stat : undefined;
  } catch {
    return undefined;
  }
}

export function namesIn(folder: string): string[] {
  return tryOr(() => readdirSync(folder), []);
}
