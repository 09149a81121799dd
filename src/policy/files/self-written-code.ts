// Code that was put on the disk by the line itself, or by this run before it: it is read where it can be, and else nobody has
// seen it. Programs that go by another name are followed by their own.
import { lstatSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Rule } from "../../protocol/permission-rule.ts";
import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import { entriesIn, isDirectory, isInside, isThere, longestText, realOrSame, rootOf, textOf } from "../paths.ts";
import { importedFiles, moduleFiles, startsInCode } from "../programs/code-files.ts";
import { isInterpreter, isShell } from "../programs/command-names.ts";
import { homeFiles } from "../protected-names.ts";
import { deniesCommand, rulesFor } from "../rules.ts";
import { show } from "../show.ts";
import { baseName, followProgram, followScript, type StartedPrograms } from "../starts/wrappers.ts";
import { type ShellSituation, touchOf } from "./shell-paths.ts";

/** `made`: what the line writes. */
type WrittenPaths = { made: readonly string[]; directories: readonly string[] };

/** Why part of what the line runs is not known in advance. */
export function selfWrittenCode(
  runs: StartedPrograms,
  { made, directories }: WrittenPaths,
  situation: ShellSituation,
): string[] {
  if (made.length === 0) return [];
  const reasons = selfWrittenPrograms(runs, made, situation);
  for (const { word, by, isUsual, loads } of runs.files) {
    // A new folder holds nothing that is run without being named, unless it is looked into.
    const isMade = (path: string) =>
      made.some((each) => (isUsual ? path === each : isInside(path, each) || (loads && isInside(each, path))));
    if (!word.glob && !touchOf(word, directories, situation).paths.some((path) => isMade(path.real))) continue;
    reasons.push(
      word.value === by
        ? `${by} is written by the same line`
        : `${by} runs ${show(word.value)}, which the same line writes`,
    );
  }
  return reasons;
}

/** Programs that are found by their name, in a folder where the line puts a file of that name. */
function selfWrittenPrograms(
  { runs, scopes, assigned }: StartedPrograms,
  made: readonly string[],
  { searchPath }: ShellSituation,
): string[] {
  const isUnknown =
    searchPath === undefined ||
    scopes.some((scope) => scope.variables.has("PATH")) ||
    assigned.some(({ name }) => name === "PATH");
  const folders = new Set(searchPath?.split(":"));
  const names = new Set(made.filter((path) => isUnknown || folders.has(dirname(path))).map((path) => basename(path)));
  return runs.filter((run) => names.has(run.name.value)).map((run) => `${run.name.value} is written by the same line`);
}

/** Beyond this nothing more is read. */
const mostFilesRead = 60;

/** Adds to what the line starts what the files that it runs start, where this run has written them or a variable names them. */
export function followFiles(runs: StartedPrograms, directories: readonly string[], situation: ShellSituation): void {
  followLinks(runs, directories, situation);
  addLoaded(runs, directories);
  for (const word of runs.patches)
    for (const { real } of touchOf(word, directories, situation).paths)
      if (isChanged(real, situation)) runs.code.push({ text: textOf(real, longestText), by: "patch" });
  const said = new Set(runs.runs.flatMap((run) => run.args.map((arg) => arg.value)));
  const seen = new Set<string>();
  // The list grows while it is gone through: files load others.
  for (const { word, by, isUsual, loads } of runs.files) {
    for (const { real, given } of touchOf(word, directories, situation).paths) {
      if (seen.has(real) || seen.size > mostFilesRead) continue;
      seen.add(real);
      const isNew = loads !== undefined || isChanged(real, situation);
      if (loads === "home") lookedUpIn(real, by, runs, situation);
      else if (isDirectory(real)) addModules(real, by, loads, runs);
      else if (isNew || (by !== word.value && rootOf(real, situation) !== undefined))
        followFile({ path: real, by, isNew, isUsual, name: given, said }, runs);
    }
  }
}

/** Modules: those that code names, `-m module`, and files of code that an interpreter is given. */
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

/** `-Mlib::evil` */
function perlModule({ value }: ShellWord): string[] {
  return /^-M\w/.test(value) ? [`${value.slice(2).replaceAll("::", "/")}.pm`] : [];
}

/** Written, moved or changed in any other way since this run began: the kernel's own time, which nobody sets. */
function isChanged(path: string, { startedAt }: ShellSituation): boolean {
  if (startedAt === undefined) return false;
  try {
    return statSync(path).ctimeMs >= startedAt;
  } catch {
    return false;
  }
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
  const text = textOf(path, longestText);
  const isReadable = text !== "" && !text.slice(0, 4096).includes("\0");
  if (isNew && !isReadable && isThere(path) && statSync(path).size > 0)
    runs.opaque.push(`${show(name)} was written during this run, and cannot be read`);
  if (!isReadable) return;
  const [, shebang] = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(text) ?? [];
  const language = baseName(shebang ?? by);
  const isScript = isShell(language) || /^(source|\.)$/.test(by) || (!shebang && by.includes("/"));
  if (isNew && isScript) followScript(text, runs);
  else if (isNew) {
    runs.code.push({ text, by: language, ...(!isUsual && { isWritten: true }) });
    const { commands, isOpaque } = startsInCode(text, isUsual ? basename(path) : language, said);
    for (const command of commands) followScript(command, runs);
    if (isOpaque) runs.opaque.push(`${show(name)} was written during this run, and may start any program`);
  }
  if (!isScript && !isUsual)
    for (const file of importedFiles(text, dirname(path))) runs.files.push({ word: literalWord(file), by });
}

/** A folder that is run as a program, or that modules are taken from. */
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

/** Start-up files and settings of programs, where another folder is made their home. */
function lookedUpIn(folder: string, by: string, runs: StartedPrograms, { home }: ShellSituation): void {
  const settings = [
    ...homeFiles,
    ".npmrc",
    ".vimrc",
    ".config",
    ".curlrc",
    ".psqlrc",
    ".gdbinit",
    "git/config",
    "fish",
  ];
  const found = folder === realOrSame(home) ? undefined : settings.find((name) => isThere(join(folder, name)));
  if (found) runs.opaque.push(`${by} makes programs read ${show(join(folder, found))}`);
}

/** Folders of the system: what has a second name there has it for everybody. */
const systemFolder = /^\/(usr|bin|sbin|lib|opt|nix|snap|System|Library)\//;
/** One program for all: its name says what it does. */
const manyPrograms = /^(busybox|toybox|coreutils|uutils)$/;

/** `./x`, which is a link to rm; `x`, which is found where this line or this run has put it. */
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
      // Packages link their programs as they like; what matters are programs of the system, and what rules deny.
      const isKnown = (name: string) =>
        (systemFolder.test(name) && !manyPrograms.test(baseName(name))) ||
        denying.some((rule) => deniesCommand(rule, { name, args: run.args.map((arg) => arg.value) }));
      const names = linkedNames(path).filter((name) => baseName(name) !== baseName(value) && isKnown(name));
      if (isChanged(path, situation)) names.push(...copiedFrom(path, denying, situation));
      if (!systemFolder.test(path)) for (const name of names) followProgram(run, name, runs);
    }
  }
}

/** The denied programs that a file is a copy of, byte for byte. */
function copiedFrom(path: string, denying: readonly Rule[], { searchPath = "" }: ShellSituation): string[] {
  const folders = searchPath.split(":").filter(isAbsolute);
  const names = denying.flatMap((rule) => /^[\w.+-]+/.exec(rule.pattern)?.[0] ?? []);
  const programs = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return programs.filter((program) => program !== path && isSameFile(program, path));
}

function isSameFile(one: string, other: string): boolean {
  try {
    const { size } = statSync(one);
    return size === statSync(other).size && size < mostCompared && readFileSync(one).equals(readFileSync(other));
  } catch {
    return false;
  }
}

const mostCompared = 2 ** 26;

/** The names that a link leads through. */
function linkedNames(path: string): string[] {
  const names: string[] = [];
  for (let at = path; names.length < 10; ) {
    try {
      if (!lstatSync(at).isSymbolicLink()) break;
      at = resolve(dirname(at), readlinkSync(at));
    } catch {
      break;
    }
    names.push(at);
    // The rest is how the system is made.
    if (systemFolder.test(at)) break;
  }
  return names;
}

/** Folders that the line puts in front of PATH. */
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
