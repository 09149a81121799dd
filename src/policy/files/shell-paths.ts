// Resolves the words of a command line to files, in every directory the line may be in, with globs expanded from disk.
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { Rule } from "../../protocol/permission-rule.ts";
import { compilePath } from "../../text/glob.ts";
import { namesIn } from "../hard-links.ts";
import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import { isDirectory, isInside, type ResolvedPath, resolvePath, rootOf, type WorkspacePaths } from "../paths.ts";
import { directoryChangers, foldersOf } from "../programs/shell-builtins.ts";
import { baseName, type ProgramStart, type StartedPrograms } from "../starts/wrappers.ts";

export type ShellSituation = WorkspacePaths & {
  rules: readonly Rule[];
  /** The `PATH` that commands receive. */
  searchPath?: string;
  /** When this run started, in milliseconds. Files that changed since then may be its own work. */
  startedAt?: number;
};

/** A file that the line touches. `paths` lists where it may lead, and is empty if only the shell knows. */
export type Touch = { word: ShellWord; paths: ResolvedPath[]; isUnknown: boolean };

/** Every directory that a relative name may refer to; the name is judged in all of them. */
export type LineDirectories = {
  paths: string[];
  /** Whether the line changes to a directory that is not known in advance. */
  unknown: boolean;
  /** Whether the line itself creates the name of that directory. */
  made: boolean;
  /** Returns the directory of a command if the line changes directories one after another; otherwise all of them. */
  at(run: ProgramStart): readonly string[];
};

/** The number of directories in one line above which the user is asked in every mode. */
export const maxDirectories = 16;
const maxMatches = 200;

export function directoriesOf(runs: StartedPrograms, cwd: string, situation: ShellSituation): LineDirectories {
  const places = new Map<ProgramStart, readonly string[]>();
  const found: LineDirectories = {
    paths: [cwd],
    unknown: false,
    made: false,
    at: (run) => places.get(run) ?? found.paths,
  };
  const walk = changesDirectoriesInOrder(runs) ? new Walk(cwd) : undefined;
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
  // With CDPATH set, `cd` may search in other directories.
  const isLedElsewhere =
    runs.scopes.some((scope) => scope.variables.has("CDPATH")) || runs.assigned.some(({ name }) => name === "CDPATH");
  return isLedElsewhere ? { ...found, unknown: true, made: true } : found;
}

/** Returns whether every directory change is a top-level statement of the line, and so takes effect in order. */
function changesDirectoriesInOrder({ runs, lines }: StartedPrograms): boolean {
  return (
    lines[0]!.functions.length === 0 &&
    runs.every(
      (run) => !directoryChangers.has(baseName(run.name.value)) || (run.depth === 0 && run.command.chain !== undefined),
    )
  );
}

/** Tracks the directories of a straight line: a change that may be skipped or fail keeps the old one possible. */
class Walk {
  #directories: string[];
  #previous: string[];
  /** `next` is the position after the changes that certainly happen. */
  #inStatement: { statement: number; directories: readonly string[]; next?: number } | undefined;

  constructor(cwd: string) {
    this.#directories = [cwd];
    this.#previous = [];
  }

  directoriesFor({ command: { chain } }: ProgramStart): readonly string[] {
    // Later commands of an && chain run only if the earlier ones succeeded.
    return this.#inStatement?.statement === chain!.statement ? this.#inStatement.directories : this.#directories;
  }

  goTo(run: ProgramStart, targets: readonly string[]): void {
    const from = this.directoriesFor(run);
    const { statement, position } = run.command.chain!;
    const next = this.#inStatement?.statement === statement ? this.#inStatement.next : 0;
    const isSure = position === next && targets.length > 0 && targets.every(isDirectory);
    this.#previous = [...new Set([...this.#previous, ...this.#directories, ...from])];
    // If the target of `cd` is unknown, resolve names from the previous directory.
    const directories = targets.length > 0 ? targets : from;
    this.#inStatement = { statement, directories, ...(isSure && { next: position + 1 }) };
    this.#directories = isSure ? [...targets] : [...new Set([...this.#directories, ...targets])];
  }

  /** Returns false if there is no previous directory to go back to. */
  goBack(run: ProgramStart): boolean {
    const isKnown = this.#previous.length > 0;
    this.goTo(run, this.#previous);
    return isKnown;
  }
}

/** Returns the folders that a word may lead to from any of the bases. */
function changeTo(
  word: ShellWord | undefined,
  found: LineDirectories,
  situation: ShellSituation,
  bases: readonly string[],
): string[] {
  if (found.paths.length > maxDirectories) return [];
  const choices = word === undefined ? [literalWord("~")] : candidatesOf(word, situation, found.paths[0]!);
  // A glob in the text is a guess; one in a loop stands for the names it matched.
  const isPattern = word?.glob === true && /[*?[]/.test(word.text);
  const isSpecial = isPattern || (word !== undefined && (word.value === "-" || /^\+\d/.test(word.value)));
  // Names found on disk are where the line looked for them; for other words only some of the values are known.
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
      // `cd ..` follows the logical path and `cd -P ..` the physical one: both are possible.
      else
        reached.push(
          ...new Set([resolved.real, resolved.given, ...(choice.glob ? oddMatches(resolved, situation) : [])]),
        );
    }
  }
  for (const path of reached)
    if (!found.paths.includes(path) && found.paths.length <= maxDirectories) found.paths.push(path);
  return reached;
}

export function touchOf(word: ShellWord, directories: readonly string[], situation: ShellSituation): Touch {
  const paths = directories.flatMap((directory) =>
    candidatesOf(word, situation, directory).flatMap((each) => pathsOf(each, directory, situation)),
  );
  const isUnknown = word.dynamic && expandHome(word, situation, directories[0]!) === undefined;
  return { word, paths: isUnknown ? [...paths, ...knownEnd(word)] : paths, isUnknown };
}

/** Returns the known end of a path with an unknown start, as in `$folder/.envrc`. */
function knownEnd({ value }: ShellWord): ResolvedPath[] {
  const last = Math.max(...[..."$`{}()"].map((mark) => value.lastIndexOf(mark)));
  const from = value.indexOf("/", last);
  const end = from === -1 ? "" : value.slice(from);
  if (!end || end.startsWith("/..")) return [];
  const path = normalize(`/…${end}`);
  return [{ given: path, real: path }];
}

/** Returns the words that a word may expand to, as far as they are known. */
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

/** Expands `~+/x` to the line's directory; leaves every other tilde for path resolution. */
function tildeTarget(value: string, directory: string): string {
  const [, rest] = /^~(?:[+-]|\d+)(?![^/])(.*)$/s.exec(value) ?? [];
  return rest === undefined ? value : directory + rest;
}

/** Resolves /proc links to a process's directory or root, which differ between this process and the one that will run. */
function kernelTarget(value: string, directory: string): string {
  const [, link, rest] = /^(\/.*?\/(?:cwd|root))(\/.*)?$/s.exec(value) ?? [];
  // Normalise only up to the link: `..` after it is relative to the link's target.
  const kind = link && /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(cwd|root)$/.exec(normalize(link))?.[1];
  return kind ? join(kind === "cwd" ? directory : "/", rest ?? "") : value;
}

/** Expands `$HOME/x`, `$PWD/x`, `$(pwd)/x` and the repository's top folder, which are as good as literal. */
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

/** Expands a glob like the shell does, from the files that exist now. */
function matchesOf(pattern: string, situation: ShellSituation): ResolvedPath[] {
  const segments = pattern.split("/");
  const first = segments.findIndex((segment) => /[*?[]/.test(segment));
  let folders = [segments.slice(0, first).join("/") || "/"];
  for (const segment of segments.slice(first)) {
    const fits = compilePath(segment, { brackets: true });
    const next: string[] = [];
    for (const folder of folders) {
      for (const name of namesIn(folder)) {
        if (next.length > maxMatches) break;
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

/** Returns matching folders that need their own check: hidden ones and links. */
function oddMatches({ given }: ResolvedPath, situation: ShellSituation): string[] {
  const matches = matchesOf(given, situation);
  const isOdd = (each: ResolvedPath) => each.real !== each.given || /\/\.[^/]*$/.test(each.given);
  // The shell changes to a glob only if exactly one folder matches.
  return matches.filter((each) => matches.length === 1 || isOdd(each)).map((each) => each.real);
}

function repositoryOf(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : repositoryOf(above);
}

/** Returns the nested repository, or folder laid out like a bare one, that contains a folder: its settings can run programs. */
export function nestedRepository(folder: string, { workspace }: ShellSituation): string | undefined {
  for (let at = folder; at !== workspace && isInside(at, workspace); at = dirname(at)) {
    const has = (name: string) => existsSync(join(at, name));
    if (has(".git") || ["HEAD", "objects", "refs"].every(has)) return at;
  }
  return undefined;
}

export function isOutside(path: ResolvedPath, situation: ShellSituation): boolean {
  return rootOf(path.real, situation) === undefined;
}

/** Returns whether a redirect's target discards the output or passes it through. */
export function isSink(target: string): boolean {
  return /^\/dev\/(null|stdout|stderr|fd\/\d+)$/.test(target);
}
