// Finds what copying and moving puts into a folder, and what is lost when a folder is moved or removed.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { compilePath } from "../../text/glob.ts";
import { entriesIn } from "../hard-links.ts";
import type { ShellWord } from "../parse/shell-word.ts";
import { isDirectory, isInside, type ResolvedPath } from "../paths.ts";
import { words } from "../programs/command-names.ts";
import { filtersFiles, startingPoints } from "../programs/find-arguments.ts";
import { subcommandAt } from "../programs/git-options.ts";
import { operandsOf, valuesOf } from "../programs/read-options.ts";
import { baseName, type ProgramStart } from "../starts/wrappers.ts";
import { gitWrites } from "./git-files.ts";
import { isValueOf, leavingOut, pathsInCode } from "./named-files.ts";
import { type ShellSituation, touchOf } from "./shell-paths.ts";
import { hasOption, targetOptions, writesOf } from "./written-files.ts";

const copiers = words("cp mv install rsync scp sftp ditto ln");
const maxEntries = 300;

/** `makesFolders` means that the line creates folders, so a missing target may become one. */
export type CopyDirectories = { directories: readonly string[]; makesFolders: boolean };

/** Returns the paths that a copy creates beside the target it names. */
export function copiedPaths(
  run: ProgramStart,
  { directories, makesFolders }: CopyDirectories,
  situation: ShellSituation,
): ResolvedPath[] {
  const args = copyArguments(run);
  if (!args) return [];
  const options = targetOptions(baseName(run.name.value));
  const named = valuesOf(args, options)[0];
  const plain = operandsOf(args, options).filter((arg) => !isValueOf(args, args.indexOf(arg), leavingOut));
  const target = named ?? plain.at(-1);
  if (!target) return [];
  const sources = named ? plain : plain.slice(0, -1);
  const targets = touchOf(target, directories, situation).paths;
  const isInto =
    named !== undefined ||
    sources.length > 1 ||
    target.dynamic ||
    target.glob ||
    /(^|\/)\.{0,2}$/.test(target.value) ||
    targets.some(({ real }) => isDirectory(real) || (makesFolders && !existsSync(real)));
  const from = sources.flatMap((source) => touchOf(source, directories, situation).paths);
  const names = new Set(isInto ? from.map(({ given }) => basename(given)) : []);
  if (hasOption(args, /^--par/)) for (const { value } of sources) names.add(value);
  for (const { real, given } of from) {
    // Consider the contents of a renamed folder; `cp a/. b` and `rsync a/ b` leave out the folder's own name.
    for (const name of namesBelow(real, maxEntries - names.size)) {
      names.add(name);
      if (isInto) names.add(join(basename(given), name));
    }
  }
  return targets
    .flatMap((into) => [...names].map((name) => ({ given: join(into.given, name), real: join(into.real, name) })))
    .filter(({ real }) => !isScratch(real, situation));
}

function copyArguments({ name, args }: ProgramStart): readonly ShellWord[] | undefined {
  const base = baseName(name.value);
  if (base !== "git") return copiers.has(base) ? args : undefined;
  const at = subcommandAt(args);
  return args[at]?.value === "mv" ? args.slice(at + 1) : undefined;
}

/** Returns whether the path is in a temporary folder, where a copy of a workspace changes no settings that are in use. */
function isScratch(path: string, { workspace, roots, home, configDir }: ShellSituation): boolean {
  const isTemporary = [tmpdir(), "/tmp", "/var/tmp"].some((folder) => isInside(path, folder));
  return isTemporary && ![workspace, ...roots, home, configDir].some((folder) => isInside(path, folder));
}

/** Lists the names below a folder, nearest first. */
function namesBelow(folder: string, most: number): string[] {
  const found: string[] = [];
  const open = [""];
  for (let next = open.shift(); next !== undefined && found.length < most; next = open.shift()) {
    for (const entry of entriesIn(join(folder, next))) {
      const below = join(next, entry.name);
      found.push(below);
      if (entry.isDirectory() && entry.name !== "node_modules") open.push(below);
    }
  }
  return found;
}

/** A folder that is changed with all its contents; `isMeant` limits it to the paths for which it returns true. */
export type TakenFolder = { folder: string; isMeant?: (path: string) => boolean };

/** Returns the folders that a command removes, moves or changes with all their contents. */
export function takenFolders(
  run: ProgramStart,
  directories: readonly string[],
  situation: ShellSituation,
): TakenFolder[] {
  const foldersOf = (word: ShellWord) =>
    touchOf(word, directories, situation)
      .paths.map((path) => path.real)
      .filter((path) => isDirectory(path));
  const taken = [...removedPaths(run), ...changedWhole(run)].flatMap(foldersOf).map((folder) => ({ folder }));
  // `find folder -name '*.x' -exec sed -i …` changes files below a folder by name.
  for (const { origin, others = [] } of writesOf(run)) {
    if (origin !== "names") continue;
    const patterns = others
      .filter((each) => each.glob)
      .map((each) => compilePath(basename(each.value), { fold: true, brackets: true }));
    const isMeant = (path: string) => patterns.length === 0 || patterns.some((fits) => fits(basename(path)));
    taken.push(...others.flatMap((each) => (each.glob ? [] : foldersOf(each))).map((folder) => ({ folder, isMeant })));
  }
  return taken;
}

/** Finds folders in code such as `shutil.rmtree("folder")` or `fs.renameSync("folder", …)`. */
export function takenByCode(
  code: readonly { text: string }[],
  directories: readonly string[],
  situation: ShellSituation,
): TakenFolder[] {
  return code
    .filter(({ text }) => /rm|remove|unlink|rename|move|replace|delete|chmod|chown/i.test(text))
    .flatMap(({ text }) => pathsInCode(text))
    .filter((word) => !word.glob && /\w/.test(word.value))
    .flatMap((word) => touchOf(word, directories, situation).paths)
    .flatMap(({ real }) => (isDirectory(real) && !directories.includes(real) ? { folder: real } : []));
}

/** Returns the folders that change as a whole but are not removed. */
function changedWhole(run: ProgramStart): readonly ShellWord[] {
  const { name, args } = run;
  const base = baseName(name.value);
  if (base === "find") return hasOption(args, /^-delete$/) ? startingPoints(args) : [];
  if (base !== "git") return [...opened(run), ...mirroredFolders(run)];
  const isWhole = /^(rm|mv|clean|restore|checkout)$/.test(args[subcommandAt(args)]?.value ?? "");
  return isWhole ? gitWrites(args).filter((arg) => !/^\.?\/?$/.test(arg.value)) : [];
}

/** Returns the folders whose files all get another mode or owner. */
export function opened(run: ProgramStart): ShellWord[] {
  const isOpener = /^(chmod|chown|chgrp|setfacl|chattr)$/.test(baseName(run.name.value));
  return isOpener && hasOption(run.args, /^-[a-zA-Z]*R|^--recursive/) ? operandsOf(run.args) : [];
}

/** Returns the folders that lose the files their source does not have. */
export function mirroredFolders(run: ProgramStart): ShellWord[] {
  return baseName(run.name.value) === "rsync" && hasOption(run.args, /^--del/) ? operandsOf(run.args).slice(-1) : [];
}

const removers = words("rm rimraf trash trash-put shred srm unlink");
/** Returns the paths that a command removes with all their contents. */
export function removedPaths({ name, args }: ProgramStart): readonly ShellWord[] {
  const base = baseName(name.value);
  if (removers.has(base)) return operandsOf(args);
  if (base === "mv") {
    const plain = operandsOf(args, targetOptions(base));
    return valuesOf(args, targetOptions(base)).length > 0 ? plain : plain.slice(0, -1);
  }
  if (/^(tar|gtar|bsdtar)$/.test(base)) return hasOption(args, /^--remove-f/) ? operandsOf(args) : [];
  if (base === "zip") return hasOption(args, /^(-[a-zA-Z]*m|--move)/) ? operandsOf(args).slice(1) : [];
  const takes = (arg: ShellWord, at: number) =>
    arg.value === "-delete" ||
    (/^-(exec|ok)(dir)?$/.test(arg.value) && removers.has(baseName(args[at + 1]?.value ?? "")));
  return base === "find" && args.some(takes) && !filtersFiles(args) ? startingPoints(args) : [];
}

/** Returns whether a remover gets everything that find or ls lists, without a filter. */
export function isFoundWhole({ command }: ProgramStart): boolean {
  if (filtersFiles(command.args)) return false;
  return (command.upstream?.() ?? []).every(
    ({ name, args }) => /^(ls|find|echo|printf)$/.test(name.value) && !filtersFiles(args),
  );
}
