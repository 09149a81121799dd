// Folders as a whole: what copying and moving puts into one, and what is gone with one that is moved or removed.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { compilePath } from "../glob.ts";
import type { ShellWord } from "../parse/shell-word.ts";
import { entriesIn, isDirectory, isInside, type ResolvedPath } from "../paths.ts";
import { words } from "../programs/command-names.ts";
import { subcommandAt } from "../programs/git-options.ts";
import { operands, valuesOf } from "../programs/read-options.ts";
import { baseName, type ProgramStart } from "../starts/wrappers.ts";
import { gitWrites } from "./git-files.ts";
import { isValueOf, leavingOut, pathsInCode } from "./named-files.ts";
import { type ShellSituation, touchOf } from "./shell-paths.ts";
import { targetOptions, writesOf } from "./written-files.ts";

const copiers = words("cp mv install rsync scp sftp ditto ln");
const mostEntries = 300;

/** `makesFolders`: the line makes folders, so a target that is not there yet may become one. */
export type CopyDirectories = { directories: readonly string[]; makesFolders: boolean };

/** Paths that come to be by a copy, beside the target that it names. */
export function copiedPaths(
  run: ProgramStart,
  { directories, makesFolders }: CopyDirectories,
  situation: ShellSituation,
): ResolvedPath[] {
  const args = copyArguments(run);
  if (!args) return [];
  const options = targetOptions(baseName(run.name.value));
  const named = valuesOf(args, options)[0];
  const plain = operands(args, options).filter((arg) => !isValueOf(args, args.indexOf(arg), leavingOut));
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
  for (const { real, given } of from) {
    // A folder that gets a new name keeps what it holds; `cp a/. b` and `rsync a/ b` leave out its own name.
    for (const name of namesBelow(real, mostEntries - names.size)) {
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

/** A copy of a workspace in a folder for temporary files changes no settings that anything looks at. */
function isScratch(path: string, { workspace, roots, home, configDir }: ShellSituation): boolean {
  const isTemporary = [tmpdir(), "/tmp", "/var/tmp"].some((folder) => isInside(path, folder));
  return isTemporary && ![workspace, ...roots, home, configDir].some((folder) => isInside(path, folder));
}

/** The names below a folder, those nearest to it first. */
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

/** A folder that is changed with all that it holds; `isMeant`: only what this is true for. */
export type TakenFolder = { folder: string; isMeant?: (path: string) => boolean };

/** Folders that a command removes, moves or changes with all that they hold. */
export function takenFolders(
  run: ProgramStart,
  directories: readonly string[],
  situation: ShellSituation,
): TakenFolder[] {
  const foldersOf = (word: ShellWord) =>
    touchOf(word, directories, situation)
      .paths.map((path) => path.real)
      .filter((path) => isDirectory(path));
  const taken = [...removed(run), ...changedWhole(run)].flatMap(foldersOf).map((folder) => ({ folder }));
  // `find folder -name '*.x' -exec sed -i …`: what is found below a folder, by its name.
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

/** `shutil.rmtree("folder")`, `fs.renameSync("folder", …)` */
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

/** Folders that change as a whole, and stay. */
function changedWhole({ name, args }: ProgramStart): ShellWord[] {
  const base = baseName(name.value);
  const has = (option: RegExp) => args.some((arg) => option.test(arg.value));
  if (/^(chmod|chown|chgrp|setfacl|chattr)$/.test(base)) return has(/^-[a-zA-Z]*R|^--recursive/) ? operands(args) : [];
  if (base === "rsync") return has(/^--del/) ? operands(args).slice(-1) : [];
  if (base === "find")
    return has(/^-delete$/)
      ? args.slice(
          0,
          args.findIndex((arg) => /^[-(!]/.test(arg.value)),
        )
      : [];
  if (base !== "git") return [];
  const isWhole = /^(rm|mv|clean|restore|checkout)$/.test(args[subcommandAt(args)]?.value ?? "");
  return isWhole ? gitWrites(args).filter((arg) => !/^\.?\/?$/.test(arg.value)) : [];
}

const removers = words("rm rimraf trash trash-put");
/** Tests of find that choose: with one of them it does not take everything. */
const choosing =
  /^-(i?name|i?path|i?wholename|i?regex|[acm]?(min|time)|newer\w*|size|user|group|perm|empty|links|inum)$/;

/** Folders that a command takes away whole, with all that they hold. */
export function removedPaths(
  run: ProgramStart,
  directories: readonly string[],
  situation: ShellSituation,
): ResolvedPath[] {
  return removed(run).flatMap((word) =>
    // What is only there when a variable is not set, nobody means.
    word.dynamic
      ? touchOf({ ...word, others: [] }, directories, situation).paths
      : touchOf(word, directories, situation).paths,
  );
}

function removed({ name, args }: ProgramStart) {
  const base = baseName(name.value);
  if (removers.has(base)) return operands(args);
  if (base === "mv") {
    const isNamed = valuesOf(args, { short: "t", long: ["target-directory"] }).length > 0;
    return isNamed ? operands(args) : operands(args).slice(0, -1);
  }
  const isWhole = base === "find" && args.some((arg) => arg.value === "-delete");
  if (!isWhole || args.some((arg) => choosing.test(arg.value))) return [];
  const tests = args.findIndex((arg) => /^[-(!]/.test(arg.value));
  return args.slice(0, tests);
}
