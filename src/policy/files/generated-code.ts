// Follows code that the line itself or this run wrote to disk: reads it where possible, and reports it as unknown otherwise. Programs
// started through a link or a copy are judged under their original name.
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Rule } from "../../protocol/permission-rule.ts";
import { tryOr } from "../../text/try-or.ts";
import { entriesIn } from "../hard-links.ts";
import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import { isDirectory, isInside, isThere, linkAt, longestText, readTextUpTo, realOrSame, rootOf } from "../paths.ts";
import { importedFiles, moduleFiles, startsInCode } from "../programs/code-files.ts";
import { isInterpreter, isShell, list } from "../programs/command-names.ts";
import { homeFiles } from "../protected-names.ts";
import { deniesCommand, rulesFor } from "../rules.ts";
import { showText } from "../show.ts";
import { baseName, followProgram, followScript, type StartedPrograms } from "../starts/wrappers.ts";
import { type ShellSituation, touchOf } from "./shell-paths.ts";

/** The paths that a command line writes, in `made`. */
type WrittenPaths = { made: readonly string[]; directories: readonly string[] };

/** Returns why part of what the line runs is not known in advance. */
export function generatedCode(
  runs: StartedPrograms,
  { made, directories }: WrittenPaths,
  situation: ShellSituation,
): string[] {
  if (made.length === 0) return [];
  const reasons = generatedPrograms(runs, made, situation);
  for (const { word, by, isUsual, loads } of runs.files) {
    // A new folder holds no code that runs without being named, unless the program loads files from it.
    const isMade = (path: string) =>
      made.some((each) => (isUsual ? path === each : isInside(path, each) || (loads && isInside(each, path))));
    if (!word.glob && !touchOf(word, directories, situation).paths.some((path) => isMade(path.real))) continue;
    reasons.push(
      word.value === by
        ? `${by} is written by the same line`
        : `${by} runs ${showText(word.value)}, which the same line writes`,
    );
  }
  return reasons;
}

/** Finds programs that resolve by name to a folder where the line writes a file of that name. */
function generatedPrograms(
  { runs, scopes, assigned }: StartedPrograms,
  writtenPaths: readonly string[],
  { searchPath }: ShellSituation,
): string[] {
  const isUnknown =
    searchPath === undefined ||
    scopes.some((scope) => scope.variables.has("PATH")) ||
    assigned.some(({ name }) => name === "PATH");
  const folders = new Set(searchPath?.split(":"));
  const names = new Set(
    writtenPaths.filter((path) => isUnknown || folders.has(dirname(path))).map((path) => basename(path)),
  );
  return runs.filter((run) => names.has(run.name.value)).map((run) => `${run.name.value} is written by the same line`);
}

/** The maximum number of files that are read for one line. */
const maxFilesRead = 60;

/** Adds the programs started by the files that the line runs, if this run wrote them or a variable names them. */
export function followFiles(runs: StartedPrograms, directories: readonly string[], situation: ShellSituation): void {
  followLinks(runs, directories, situation);
  addLoaded(runs, directories);
  for (const word of runs.patches)
    for (const { real } of touchOf(word, directories, situation).paths)
      if (isChanged(real, situation)) runs.code.push({ text: readTextUpTo(real, longestText), by: "patch" });
  const literalArguments = new Set(runs.runs.flatMap((run) => run.args.map((arg) => arg.value)));
  const seen = new Set<string>();
  // The list grows during the loop, because files load other files.
  for (const { word, by, isUsual, loads } of runs.files) {
    for (const { real, given } of touchOf(word, directories, situation).paths) {
      if (seen.has(real) || seen.size > maxFilesRead) continue;
      seen.add(real);
      const isNew = loads !== undefined || isChanged(real, situation);
      if (loads === "home") lookedUpIn(real, by, runs, situation);
      else if (isDirectory(real)) addModules(real, by, loads, runs);
      else if (isNew || (by !== word.value && rootOf(real, situation) !== undefined))
        followFile({ path: real, by, isNew, isUsual, name: given, said: literalArguments }, runs);
    }
  }
}

/** Adds modules: those that code imports, `-m module`, and code files passed to an interpreter. */
function addLoaded(runs: StartedPrograms, directories: readonly string[]): void {
  const add = (by: string, files: readonly string[]) => {
    for (const file of files) runs.files.push({ word: literalWord(file), by });
  };
  for (const { text, by } of runs.code) for (const folder of directories) add(by, importedFiles(text, folder));
  for (const { name, args } of runs.runs) {
    const by = baseName(name.value);
    if (!isInterpreter(by)) continue;
    const module = args[args.findIndex((arg) => /^-[a-zA-Z]*[mM]$/.test(arg.value)) + 1];
    const named = args.map((arg) => arg.value.replace(/^--?[\w-]+=|^-[rMI]/, "")).filter((value) => isCodeFile(value));
    for (const value of [...named, ...(module ? [module.value] : []), ...args.flatMap(perlModule)])
      for (const folder of directories) add(by, moduleFiles(value, folder));
  }
}

function isCodeFile(name: string): boolean {
  return /^\.{1,2}\/|\.(py|[cm]?[jt]s|rb|p[lm]|lua|php|sh)$/.test(name);
}

/** Resolves the Perl option `-Mlib::evil` to a file. */
function perlModule({ value }: ShellWord): string[] {
  return /^-M\w/.test(value) ? [`${value.slice(2).replaceAll("::", "/")}.pm`] : [];
}

/** Returns whether a file was written, moved or changed since this run started, by its ctime, which programs cannot set. */
function isChanged(path: string, { startedAt }: ShellSituation): boolean {
  if (startedAt === undefined) return false;
  return tryOr(() => statSync(path).ctimeMs >= startedAt, false);
}

type RunFile = {
  path: string;
  by: string;
  isNew: boolean;
  isUsual: true | undefined;
  name: string;
  said: ReadonlySet<string>;
};

function followFile({ path, by, isNew, isUsual, name, said }: RunFile, runs: StartedPrograms): void {
  const text = readTextUpTo(path, longestText);
  const isReadable = text !== "" && !text.slice(0, 4096).includes("\0");
  if (isNew && !isReadable && isThere(path) && statSync(path).size > 0)
    runs.opaque.push(`${showText(name)} was written during this run, and cannot be read`);
  if (!isReadable) return;
  const [, shebang] = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(text) ?? [];
  const language = baseName(shebang ?? by);
  const isScript = isShell(language) || /^(source|\.)$/.test(by) || (!shebang && by.includes("/"));
  if (isNew && isScript) followScript(text, runs);
  else if (isNew) {
    runs.code.push({ text, by: language, ...(!isUsual && { isWritten: true }) });
    const { commands, isOpaque } = startsInCode(text, isUsual ? basename(path) : language, said);
    for (const command of commands) followScript(command, runs);
    if (isOpaque) runs.opaque.push(`${showText(name)} was written during this run, and may start any program`);
  }
  if (!isScript && !isUsual)
    for (const file of importedFiles(text, dirname(path))) runs.files.push({ word: literalWord(file), by });
}

/** Adds the modules of a folder that is run as a program or used as a module path. */
function addModules(folder: string, by: string, loads: string | undefined, runs: StartedPrograms): void {
  const names = loads
    ? entriesIn(folder)
        .map((entry) => entry.name)
        .filter((name) => isCodeFile(name))
    : ["__main__.py", "index.js", "__init__.py"];
  for (const name of names) {
    const path = join(folder, name);
    if (isThere(path)) runs.files.push({ word: literalWord(path), by, ...(loads && { loads: "file" as const }) });
  }
}

/** Reports start-up and settings files that programs would read because their home is set to another folder. */
function lookedUpIn(folder: string, by: string, runs: StartedPrograms, { home }: ShellSituation): void {
  const settings = [...homeFiles, ...list(".npmrc .vimrc .config .curlrc .psqlrc .gdbinit git/config fish")];
  const found = folder === realOrSame(home) ? undefined : settings.find((name) => isThere(join(folder, name)));
  if (found) runs.opaque.push(`${by} makes programs read ${showText(join(folder, found))}`);
}

/** System folders, where links between programs are the same for all users. */
const systemFolder = /^\/(usr|bin|sbin|lib|opt|nix|snap|System|Library)\//;
/** Binaries that choose what to do by the name they are called with. */
const manyPrograms = /^(busybox|toybox|coreutils|uutils)$/;

/** Follows links: `./x` that points to rm, or `x` found in a folder where this line or this run put it. */
function followLinks(runs: StartedPrograms, directories: readonly string[], situation: ShellSituation): void {
  const folders = [
    ...assignedFolders(runs, directories, situation),
    ...(situation.searchPath?.split(":") ?? []),
  ].filter((folder) => isAbsolute(folder) && !systemFolder.test(`${folder}/`));
  const denying = rulesFor(situation.rules, "Shell", "deny");
  for (const run of [...runs.runs]) {
    const { value, dynamic, glob } = run.name;
    if (dynamic || glob || value === "") continue;
    const paths = value.includes("/")
      ? touchOf(run.name, directories, situation).paths.map((path) => path.given)
      : folders
          .map((folder) => join(folder, value))
          .filter(isThere)
          .slice(0, 1);
    for (const path of paths) {
      if (!value.includes("/")) runs.files.push({ word: literalWord(path), by: path });
      // Packages link their programs freely; only system programs and those that rules deny matter.
      const isKnown = (name: string) =>
        (systemFolder.test(name) && !manyPrograms.test(baseName(name))) ||
        denying.some((rule) => deniesCommand(rule, { name, args: run.args.map((arg) => arg.value) }));
      const names = linkedNames(path).filter((name) => baseName(name) !== baseName(value) && isKnown(name));
      if (isChanged(path, situation)) names.push(...copiedFrom(path, denying, situation));
      if (!systemFolder.test(path)) for (const name of names) followProgram(run, name, runs);
    }
  }
}

/** Returns the denied programs that a file is a byte-for-byte copy of. */
function copiedFrom(path: string, denying: readonly Rule[], { searchPath = "" }: ShellSituation): string[] {
  const folders = searchPath.split(":").filter(isAbsolute);
  const names = denying.flatMap((rule) => /^[\w.+-]+/.exec(rule.pattern)?.[0] ?? []);
  const programs = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return programs.filter((program) => program !== path && isSameFile(program, path));
}

function isSameFile(one: string, other: string): boolean {
  try {
    const { size } = statSync(one);
    return size === statSync(other).size && size < maxCompared && readFileSync(one).equals(readFileSync(other));
  } catch {
    return false;
  }
}

const maxCompared = 2 ** 26;

/** Returns the paths that a chain of symlinks leads through. */
function linkedNames(path: string): string[] {
  const names: string[] = [];
  for (let link = linkAt(path); link !== undefined && names.length < 10; link = linkAt(names.at(-1)!)) {
    names.push(resolve(dirname(names.at(-1) ?? path), link));
    // Skip links between system folders, which are part of the installation.
    if (systemFolder.test(names.at(-1)!)) break;
  }
  return names;
}

/** Returns the folders that the line adds to PATH. */
function assignedFolders(
  { runs, assigned }: StartedPrograms,
  directories: readonly string[],
  situation: ShellSituation,
): string[] {
  const texts = [
    ...runs.flatMap(({ command, name, args }) => [
      ...command.assignments.map((each) => each.text),
      ...(name.value === "export" ? args.map((arg) => arg.value) : []),
    ]),
    ...assigned.map((each) => each.text),
  ].filter((text) => text.startsWith("PATH="));
  const words: ShellWord[] = texts
    .flatMap((text) => text.slice(5).replace(/["']/g, "").split(":"))
    .filter((part) => part !== "" && !/^\$\{?PATH\}?$/.test(part))
    .map((part) => ({ ...literalWord(part), dynamic: /[$`]/.test(part) }));
  return words.flatMap((word) => touchOf(word, directories, situation).paths.map((path) => path.given));
}
