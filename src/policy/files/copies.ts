// What copying and moving puts into a folder: the names of the sources, and what folders among them hold.
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isInside, type ResolvedPath } from "../paths.ts";
import { words } from "../programs/command-names.ts";
import { isOption } from "../programs/read-options.ts";
import { baseName, type Run } from "../runs/wrappers.ts";
import { isFolder, type ShellSituation, touchOf } from "./shell-paths.ts";

const copiers = words("cp mv install rsync ditto ln");
const mostEntries = 300;
const deepest = 3;

/** `makesFolders`: the line makes folders, so a target that is not there yet may become one. */
export type CopyPlace = { directories: readonly string[]; makesFolders: boolean };

/** Paths that come to be by a copy, beside the target that it names. */
export function copiedPaths(
  run: Run,
  { directories, makesFolders }: CopyPlace,
  situation: ShellSituation,
): ResolvedPath[] {
  const isGitMove = baseName(run.name.value) === "git" && run.args[0]?.value === "mv";
  if (!copiers.has(baseName(run.name.value)) && !isGitMove) return [];
  const args = isGitMove ? run.args.slice(1) : run.args;
  const named = args.find((_, index) => /^(-[a-zA-Z]*t|--target-directory)$/.test(args[index - 1]?.value ?? ""));
  const plain = args.filter((arg) => !isOption(arg) && arg !== named);
  const target = named ?? plain.at(-1);
  if (!target || (plain.length < 2 && !named)) return [];
  const sources = named ? plain : plain.slice(0, -1);
  const targets = touchOf(target, directories, situation).paths;
  const isInto =
    named !== undefined ||
    sources.length > 1 ||
    target.dynamic ||
    target.glob ||
    /(^|\/)\.{0,2}$/.test(target.value) ||
    targets.some(({ real }) => isFolder(real) || (makesFolders && !existsSync(real)));
  const found: ResolvedPath[] = [];
  for (const source of sources) {
    for (const { real, given } of touchOf(source, directories, situation).paths) {
      // A folder that gets a new name keeps what it holds.
      const names = namesBelow(real, basename(given)).filter((name) => isInto || name !== basename(given));
      for (const name of names) {
        for (const into of targets) {
          const real = join(into.real, name);
          if (!isScratch(real, situation)) found.push({ given: join(into.given, name), real });
          if (found.length > mostEntries) return found;
        }
      }
    }
  }
  return found;
}

/** A copy of a workspace in a folder for temporary files changes no settings that anything looks at. */
function isScratch(path: string, { workspace, roots, home, configDir }: ShellSituation): boolean {
  const isTemporary = [tmpdir(), "/tmp", "/var/tmp"].some((folder) => isInside(path, folder));
  return isTemporary && ![workspace, ...roots, home, configDir].some((folder) => isInside(path, folder));
}

/** The name of a source, and the names below it when it is a folder: with its own name before them and without. */
function namesBelow(path: string, name: string): string[] {
  if (!isFolder(path)) return [name];
  const found = [name];
  const open = [{ folder: path, below: "", depth: 0 }];
  for (let next = open.shift(); next && found.length < mostEntries; next = open.shift()) {
    for (const entry of entriesOf(next.folder)) {
      const below = join(next.below, entry.name);
      found.push(below, join(name, below));
      if (entry.isDirectory() && next.depth < deepest && entry.name !== "node_modules")
        open.push({ folder: join(next.folder, entry.name), below, depth: next.depth + 1 });
    }
  }
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
