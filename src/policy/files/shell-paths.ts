// Where the words of a command line lead: files in every directory that it may be in, patterns as the disk answers them.
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { Rule } from "../../protocol/permission-rule.ts";
import { compilePath } from "../glob.ts";
import { namesIn } from "../hard-links.ts";
import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import { isDirectory, isInside, type ResolvedPath, resolvePath, rootOf, type WorkspacePaths } from "../paths.ts";
import { directoryChangers, foldersOf } from "../programs/shell-builtins.ts";
import { baseName, type ProgramStart, type StartedPrograms } from "../starts/wrappers.ts";

export type ShellSituation = WorkspacePaths & {
  rules: readonly Rule[];
  /** `PATH`, as commands have it. */
  searchPath?: string;
  /** When this run began, in milliseconds: files that changed since then may be its own work. */
  startedAt?: number;
};

/** A file that the line touches. `paths`: where it may lead; none when only the shell knows. */
export type Touch = { word: ShellWord; paths: ResolvedPath[]; isUnknown: boolean };

/** Every directory that a relative name of the line may mean: it is judged in all of them. */
export type LineDirectories = {
  paths: string[];
  /** Changes to a directory that is not known in advance. */
  unknown: boolean;
  /** And the line itself makes its name. */
  made: boolean;
  /** Where a command of the line itself is, if its changes of directory come one after another; otherwise all of them. */
  at(run: ProgramStart): readonly string[];
};

/** Beyond this the line is asked about in every mode. */
export const mostDirectories = 16;
const mostMatches = 200;

export function directoriesOf(runs: StartedPrograms, cwd: string, situation: ShellSituation): LineDirectories {
  const places = new Map<ProgramStart, readonly string[]>();
  const found: LineDirectories = {
    paths: [cwd],
    unknown: false,
    made: false,
    at: (run) => places.get(run) ?? found.paths,
  };
  const walk = isStraight(runs) ? new Walk(cwd) : undefined;
  const outer = new Set(runs.lines[0]!.commands);
  for (const run of runs.runs) {
    if (walk && run.command.chain && outer.has(run.command)) places.set(run, walk.directoriesFor(run));
    if (!directoryChangers.has(baseName(run.name.value))) {
      for (const word of foldersOf(run)) changeTo(word, found, situation, found.paths);
      continue;
    }
    const word = run.args.find((arg) => !/^-[LPe@n]+$|^--$/.test(arg.value));
    if (walk && word?.value === "-") found.unknown = !walk.goBack(run) || found.unknown;
    else if (walk) walk.goTo(run, changeTo(word, found, situation, walk.directoriesFor(run)));
    else changeTo(word, found, situation, found.paths);
  }
  for (const word of runs.folders) changeTo(word, found, situation, found.paths);
  // Where `cd` looks is itself a variable.
  const isLedElsewhere =
    runs.scopes.some((scope) => scope.variables.has("CDPATH")) || runs.assigned.some(({ name }) => name === "CDPATH");
  return isLedElsewhere ? { ...found, unknown: true, made: true } : found;
}

/** Do all changes of directory stand in statements of the line itself, one after another? */
function isStraight({ runs, lines }: StartedPrograms): boolean {
  return (
    lines[0]!.functions.length === 0 &&
    runs.every(
      (run) => !directoryChangers.has(baseName(run.name.value)) || (run.depth === 0 && run.command.chain !== undefined),
    )
  );
}

/** Where a line that runs straight on may be: a change that may not happen, or may fail, leaves the old place possible. */
class Walk {
  #directories: string[];
  #previous: string[];
  /** `next`: the position behind the changes that surely happen. */
  #inStatement: { statement: number; directories: readonly string[]; next?: number } | undefined;

  constructor(cwd: string) {
    this.#directories = [cwd];
    this.#previous = [];
  }

  directoriesFor({ command: { chain } }: ProgramStart): readonly string[] {
    // Later members of a chain run only when the earlier ones did.
    return this.#inStatement?.statement === chain!.statement ? this.#inStatement.directories : this.#directories;
  }

  goTo(run: ProgramStart, targets: readonly string[]): void {
    const from = this.directoriesFor(run);
    const { statement, position } = run.command.chain!;
    const next = this.#inStatement?.statement === statement ? this.#inStatement.next : 0;
    const isSure = position === next && targets.length > 0 && targets.every(isDirectory);
    this.#previous = [...new Set([...this.#previous, ...this.#directories, ...from])];
    // Of a place that nobody knows, names are looked at from where the line was.
    const directories = targets.length > 0 ? targets : from;
    this.#inStatement = { statement, directories, ...(isSure && { next: position + 1 }) };
    this.#directories = isSure ? [...targets] : [...new Set([...this.#directories, ...targets])];
  }

  /** False: back to where the line has never been. */
  goBack(run: ProgramStart): boolean {
    const isKnown = this.#previous.length > 0;
    this.goTo(run, this.#previous);
    return isKnown;
  }
}

/** The folders that a word may lead to from any of these. */
function changeTo(
  word: ShellWord | undefined,
  found: LineDirectories,
  situation: ShellSituation,
  bases: readonly string[],
): string[] {
  if (found.paths.length > mostDirectories) return [];
  const choices = word === undefined ? [literalWord("~")] : candidatesOf(word, situation, found.paths[0]!);
  // A pattern in the text is a guess; one in a loop stands for what it was found to be.
  const isPattern = word?.glob === true && /[*?[]/.test(word.text);
  const isSpecial = isPattern || (word !== undefined && (word.value === "-" || /^\+\d/.test(word.value)));
  // Names that exist are where the line looked for them; of anything else only some of what it may be is known.
  const isOpen = word?.dynamic && word.origin !== "names" && expandHome(word, situation, found.paths[0]!) === undefined;
  if (choices.length === 0 || isSpecial || isOpen) {
    found.unknown = true;
    found.made ||= word?.origin === "made";
  }
  const reached: string[] = [];
  for (const choice of choices) {
    for (const base of [...bases]) {
      const resolved = resolvePath(targetOf(choice, base), situation, base);
      if ("problem" in resolved) found.unknown = true;
      // `cd ..` goes back along the name, `cd -P ..` along the folders: both are possible.
      else
        reached.push(
          ...new Set([resolved.real, resolved.given, ...(choice.glob ? oddMatches(resolved, situation) : [])]),
        );
    }
  }
  for (const path of reached)
    if (!found.paths.includes(path) && found.paths.length <= mostDirectories) found.paths.push(path);
  return reached;
}

export function touchOf(word: ShellWord, directories: readonly string[], situation: ShellSituation): Touch {
  const paths = directories.flatMap((directory) =>
    candidatesOf(word, situation, directory).flatMap((each) => pathsOf(each, directory, situation)),
  );
  const isUnknown = word.dynamic && expandHome(word, situation, directories[0]!) === undefined;
  return { word, paths: isUnknown ? [...paths, ...knownEnd(word)] : paths, isUnknown };
}

/** `$folder/.envrc`: wherever that is, its end is known. */
function knownEnd({ value }: ShellWord): ResolvedPath[] {
  const last = Math.max(...[..."$`{}()"].map((mark) => value.lastIndexOf(mark)));
  const from = value.indexOf("/", last);
  const end = from === -1 ? "" : value.slice(from);
  if (!end || end.startsWith("/..")) return [];
  const path = normalize(`/…${end}`);
  return [{ given: path, real: path }];
}

/** The words that a word may become, as far as they are known. */
function candidatesOf(word: ShellWord, situation: ShellSituation, cwd: string): ShellWord[] {
  const others = word.others ?? [];
  if (!word.dynamic) return [word, ...others];
  const value = expandHome(word, situation, cwd);
  return value === undefined ? [...others] : [{ ...word, value }, ...others];
}

function pathsOf(word: ShellWord, directory: string, situation: ShellSituation): ResolvedPath[] {
  if (word.value === "") return [];
  const resolved = resolvePath(targetOf(word, directory), situation, directory);
  if ("problem" in resolved) return [];
  return word.glob ? [resolved, ...matchesOf(resolved.given, situation)] : [resolved];
}

function targetOf({ value, tilde }: ShellWord, directory: string): string {
  return kernelTarget(tilde ? tildeTarget(value, directory) : value.replace(/^~/, "./~"), directory);
}

/** `~+/x` is where the line is; every other tilde is read as in any path. */
function tildeTarget(value: string, directory: string): string {
  const [, rest] = /^~(?:[+-]|\d+)(?![^/])(.*)$/s.exec(value) ?? [];
  return rest === undefined ? value : directory + rest;
}

/** The kernel's links to where a process is: for ours they lead elsewhere than for the one that will run. */
function kernelTarget(value: string, directory: string): string {
  const [, link, rest] = /^(\/.*?\/(?:cwd|root))(\/.*)?$/s.exec(value) ?? [];
  // Only up to the link: two dots behind it lead up from where that leads.
  const kind = link && /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(cwd|root)$/.exec(normalize(link))?.[1];
  return kind ? join(kind === "cwd" ? directory : "/", rest ?? "") : value;
}

/** `$HOME/x`, `$PWD/x`, `$(pwd)/x` and the top of the repository are as good as literal. */
export function expandHome(word: ShellWord, { home }: ShellSituation, cwd: string): string | undefined {
  const known: [RegExp, () => string | undefined][] = [
    [/^\$(HOME\b|\{HOME\})/, () => home],
    [/^\/(home|Users)\/\$(USER\b|\{USER\}|LOGNAME\b)/, () => home],
    [/^(\$(PWD\b|\{PWD\})|\$\(pwd\)|`pwd`)/, () => cwd],
    [/^(\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`)/, () => repositoryOf(cwd)],
  ];
  const value = word.value.replace(/^\/proc\/(self|thread-self|\d+)\/root\/*(?=[$`])/, "");
  const [start, pathOf] = known.find(([each]) => each.test(value)) ?? [];
  const path = pathOf?.();
  if (path === undefined) return undefined;
  const replaced = value.replace(start!, () => path);
  return /[$`{]/.test(replaced) ? undefined : replaced;
}

/** What the shell would make of a pattern, as the disk is now. */
function matchesOf(pattern: string, situation: ShellSituation): ResolvedPath[] {
  const segments = pattern.split("/");
  const first = segments.findIndex((segment) => /[*?[]/.test(segment));
  let folders = [segments.slice(0, first).join("/") || "/"];
  for (const segment of segments.slice(first)) {
    const fits = compilePath(segment, { brackets: true });
    const next: string[] = [];
    for (const folder of folders) {
      for (const name of namesIn(folder)) {
        if (next.length > mostMatches) break;
        if (fits(name) && (segment.startsWith(".") || !name.startsWith("."))) next.push(join(folder, name));
      }
    }
    folders = next;
  }
  return folders.flatMap((path) => {
    const resolved = resolvePath(path, situation);
    return "problem" in resolved ? [] : [resolved];
  });
}

/** Folders that a pattern stands for and that are not like their neighbours: hidden ones, and links. */
function oddMatches({ given }: ResolvedPath, situation: ShellSituation): string[] {
  const matches = matchesOf(given, situation);
  const isOdd = (each: ResolvedPath) => each.real !== each.given || /\/\.[^/]*$/.test(each.given);
  // The shell changes to a pattern only where one folder fits.
  return matches.filter((each) => matches.length === 1 || isOdd(each)).map((each) => each.real);
}

/** The nearest folder at or above this one that is a repository. */
function repositoryOf(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : repositoryOf(above);
}

/** A repository inside brings settings that run programs; so does a folder that only looks like one from within. */
export function nestedRepository(folder: string, { workspace }: ShellSituation): string | undefined {
  for (let at = folder; at !== workspace && isInside(at, workspace); at = dirname(at)) {
    if (existsSync(join(at, ".git")) || isBareRepository(at)) return at;
  }
  return undefined;
}

function isBareRepository(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
}

export function isOutside(path: ResolvedPath, situation: ShellSituation): boolean {
  return rootOf(path.real, situation) === undefined;
}

/** Where output goes nowhere, or where it would go anyway. */
export function isSink(target: string): boolean {
  return /^\/dev\/(null|stdout|stderr|fd\/\d+)$/.test(target);
}
