// Files with several names: one of them may be a protected one.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { WorkspacePaths } from "./paths.ts";
import { protectedFolders } from "./protected-names.ts";

/** Where protected files lie, in a workspace and in a home. */
const inWorkspace = [".cursor", ".cursor/hooks", ".git/hooks", ".git/info", ".git", ...protectedFolders, ""];
const inHome = ["", ".ssh", ".cursor", ".config/fish", ".config/git"];
const mostEntries = 2000;

/** The protected name of the same file; undefined for files with one name, which nearly all have. */
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
  for (const folder of folders) {
    const found = sameFileIn(folder, { file, isWanted: isProtected, seen });
    if (found) return found;
  }
  return undefined;
}

export function hasSecondName(path: string): boolean {
  return linkedFile(path) !== undefined;
}

/** Is this another name of a file in the folder that the test holds for? */
export function hasDeniedName(real: string, folder: string, isDenied: (path: string) => boolean): boolean {
  const file = linkedFile(real);
  return file !== undefined && sameFileIn(folder, { file, isWanted: isDenied, seen: { entries: 0 } }) !== undefined;
}

type LinkSearch = {
  file: { dev: number; ino: number };
  isWanted(path: string): boolean;
  seen: { entries: number };
};

function sameFileIn(folder: string, search: LinkSearch): string | undefined {
  for (const name of namesIn(folder)) {
    // Too many to look at all of them: one could be it.
    if (search.seen.entries++ === mostEntries) return "a file that was not looked for to the end";
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
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
