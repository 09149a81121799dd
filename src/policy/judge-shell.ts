// Decides whether a command line may run: judges every program it would start and every file it would write.
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Rule } from "../protocol/permission-rule.ts";
import { isNamedByWrapper, uncoveredRun, workspaceProgram } from "./allow-rules.ts";
import { deniedArguments, deniedRuns, deniedTouches, unseenArguments } from "./deny-rules.ts";
import { copiedPaths, takenByCode, takenFolders } from "./files/copies.ts";
import { followFiles, generatedCode } from "./files/generated-code.ts";
import { deniedFolders, deniedProcesses } from "./files/kept-from-reading.ts";
import { guessedWrites, mayLeadToRuled } from "./files/named-files.ts";
import {
  directoriesOf,
  isOutside,
  isSink,
  type LineDirectories,
  maxDirectories,
  nestedRepository,
  type ShellSituation,
  type Touch,
  touchOf,
} from "./files/shell-paths.ts";
import { madeUpReads, namedFiles, readFiles, writtenFiles } from "./files/touched-files.ts";
import { wholeFolders } from "./files/whole-folders.ts";
import { namesIn } from "./hard-links.ts";
import type { Judgement } from "./need.ts";
import { looksOutside, onlyReads } from "./only-reads.ts";
import type { ShellLine, ShellWord } from "./parse/shell.ts";
import { literalWord } from "./parse/shell-word.ts";
import { type Floor, floorOf, holdsWorkspace, isInside, type ResolvedPath, rootOf } from "./paths.ts";
import { hasDangerousOptions } from "./programs/dangerous-options.ts";
import { reachesOut } from "./programs/program-kinds.ts";
import { harmlessVariables } from "./programs/shell-builtins.ts";
import { homeSettings } from "./protected-names.ts";
import { allowsCommand, coversPath, deniedBelow, nameOf, namesPath, rulesFor } from "./rules.ts";
import { capitalize, showText } from "./show.ts";
import { isNumeric, type VariableScope } from "./starts/expand-words.ts";
import { suspiciousText } from "./starts/suspicious-text.ts";
import { baseName, type ProgramStart, type StartedPrograms, startedPrograms } from "./starts/wrappers.ts";
import { keptWhole, systemFloor } from "./system-folders.ts";

/** `isPurpose` means that writing the file is the command's purpose; a redirect needs its own Write rule. */
export type FileWrite = Touch & { isPurpose: boolean };

/** What applies to a line in every mode: what denies it, and what must be asked about. */
export type ShellFindings = {
  denied: string[];
  floor: string[];
  /** Parts of the line that cannot be compared with deny rules. */
  unseen: string[];
  runs: StartedPrograms;
  /** Files that cannot be compared with Read deny rules. */
  unread: string[];
  writes: FileWrite[];
  reads: Touch[];
  directories: LineDirectories;
};

/** The number of files in one line above which the user is asked in every mode. */
const maxFiles = 400;

export function inspectShell(command: string, cwd: string, situation: ShellSituation): ShellFindings {
  const runs = startedPrograms(command);
  followFiles(runs, directoriesOf(runs, cwd, situation).paths, situation);
  const directories = directoriesOf(runs, cwd, situation);
  const written = writtenFiles(runs);
  const ruling = rulesFor(situation.rules, "Write", "deny");
  const isRuled = (path: string) => ruling.some((rule) => coversPath(rule, { given: path, real: path }, situation));
  const readsMatter = rulesFor(situation.rules, "Read", "deny").length > 0;
  const read = readFiles(runs, { withOperands: readsMatter });
  const touch = <Word extends ShellWord>(word: Word): Touch => touchOf(word, directories.paths, situation);
  const writes = written
    .filter((word) => word.dynamic || !isSink(word.value))
    .slice(0, maxFiles)
    .map((word) => ({ ...touch(word), isPurpose: word.isPurpose }));
  const reads = read.slice(0, maxFiles).map(touch);
  const makesFolders = runs.runs.some((run) => baseName(run.name.value) === "mkdir");
  const copyDirectories = { directories: directories.paths, makesFolders };
  const copies = runs.runs.flatMap((run) => copiedPaths(run, copyDirectories, situation));
  const named = namedFiles(runs, written).filter((word) => mayLeadToRuled(word, directories.paths, isRuled));
  const others = [
    ...copies.map((path) => ({ word: literalWord(path.given), paths: [path], isUnknown: false })),
    ...named.slice(0, maxFiles).map(touch),
  ];
  const namedPrograms = deniedArguments(runs, situation.rules);
  const whole = wholeFolders(runs, directories, situation);
  const denied = [
    ...deniedRuns(command, runs, situation.rules),
    ...namedPrograms
      .filter((each) => each.isSure)
      .map(({ rule, name, by }) => `${nameOf(rule)} denies ${name}, which ${by} would start.`),
    ...deniedTouches("Read", reads, situation),
    ...deniedFolders(runs, directories.paths, situation),
    ...deniedProcesses(reads),
    ...deniedTouches("Write", [...writes, ...others], situation),
    ...runs.runs
      .flatMap((run) => takenFolders(run, directories.paths, situation))
      .concat(takenByCode(runs.code, directories.paths, situation))
      .flatMap(({ folder, isMeant }) => deniedBelow(folder, situation, isMeant) ?? []),
    ...whole.flatMap(({ folder, change }) => keptWhole(folder, change, situation) ?? []).map((text) => `${text}.`),
  ];
  const floor = floorReasons({ writes, others, directories }, situation, denied);
  for (const { folder, change, isEmptied } of whole) {
    if (change !== "remove") continue;
    if (holdsWorkspace(folder, situation) && !(isEmptied && folder === situation.workspace))
      floor.push(`${folder} contains the workspace.`);
    const setting = homeSettings.find((name) => isInside(join(situation.home, name), folder));
    if (setting) floor.push(`${folder} contains ~/${setting}, which is protected.`);
  }
  if (Math.max(written.length, named.length, read.length) > maxFiles) {
    floor.push(`It names more than ${maxFiles} files.`);
  }
  for (const line of runs.lines) if (line.isMisread) floor.push(`It cannot be judged as a whole: ${line.errors[0]}.`);
  if (runs.isMisread) floor.push("It is written in a way that may be read as something else.");
  if (directories.paths.length > maxDirectories) floor.push("It changes directory too often.");
  const writtenPaths = writes.flatMap((write) => write.paths.map((path) => path.real));
  const unseen = [
    ...uncheckedReasons(runs, situation.rules),
    ...namedPrograms.map(({ name, by }) => `${by} may start ${name}, which it gets as an argument`),
    ...absentPrograms(runs, directories),
    ...generatedCode(runs, { made: writtenPaths, directories: directories.paths }, situation),
  ];
  const unread = readsMatter
    ? madeUpReads(runs).map(
        (text) => `Only the shell knows which file ${showText(text)} is, and there are Read deny rules.`,
      )
    : [];
  return { denied, floor, unseen: [...new Set(unseen)], unread, runs, writes, reads, directories };
}

/** Finds programs given by a path that does not exist yet: code in the same line may create them. */
function absentPrograms({ runs, code }: StartedPrograms, { paths }: LineDirectories): string[] {
  const isAbsent = ({ name: { value, dynamic, glob } }: ProgramStart) =>
    !dynamic && !glob && value.includes("/") && !paths.some((folder) => existsSync(resolve(folder, value)));
  return code.length === 0 ? [] : runs.filter(isAbsent).map(({ name }) => `${showText(name.text)} is not there before`);
}

/** `others` are files that the command creates without naming them, or names without a known purpose. */
type FloorInput = { writes: readonly FileWrite[]; others: readonly Touch[]; directories: LineDirectories };

/** Protected paths are asked about in every mode; the agent's own configuration is refused. */
function floorReasons(
  { writes, others, directories }: FloorInput,
  situation: ShellSituation,
  denied: string[],
): string[] {
  const reasons = new Set<string>();
  const judge = (floor: Floor | undefined, path: ResolvedPath) => {
    if (floor?.level === "never") denied.push(`${floor.why}.`);
    else if (floor && !isLifted(path, situation)) reasons.add(`${floor.why}.`);
  };
  for (const path of [...writes, ...others].flatMap((touch) => touch.paths)) judge(floorOf(path, situation), path);
  // Many programs are passed the names of system files, but few write them, so only known writes count.
  for (const path of writes.flatMap((touch) => touch.paths)) judge(systemFloor(path), path);
  // A name that the line itself creates may be a protected path.
  for (const { word, isUnknown } of writes)
    if (isUnknown && word.origin === "made") reasons.add(`Only the shell knows where ${showText(word.text)} leads.`);
  if (directories.made && writes.some(({ word }) => !word.value.startsWith("/")))
    reasons.add("It writes in a directory whose name it makes up.");
  return [...reasons];
}

/** Returns whether a user-level rule names this project file exactly. */
function isLifted(path: ResolvedPath, situation: ShellSituation): boolean {
  if (rootOf(path.real, situation) === undefined) return false;
  return rulesFor(situation.rules, "Write", "allow").some(
    (rule) => rule.scope === "user" && namesPath(rule, path, situation),
  );
}

function uncheckedReasons(runs: StartedPrograms, rules: readonly Rule[]): string[] {
  const parts = new Set(runs.opaque);
  for (const line of runs.lines) for (const error of line.errors) parts.add(`the line cannot be read: ${error}`);
  for (const run of runs.runs)
    if (run.name.dynamic || run.name.glob)
      parts.add(`only the shell knows which program ${showText(run.name.text)} is`);
  for (const part of unseenArguments(runs, rules)) parts.add(part);
  for (const [index, line] of runs.lines.entries())
    for (const part of evaluatedParts(line, runs.scopes[index]!)) parts.add(part);
  return [...parts];
}

/** Finds data that is evaluated as code, so that no command of the line shows what it runs. */
function evaluatedParts(line: ShellLine, scope: VariableScope): string[] {
  return [
    ...line.evaluates.map((text) => `${showText(text)} evaluates data as code`),
    ...line.computed
      .filter((word) => !isNumeric(word, scope))
      .map((word) => `${showText(word.text)} is computed, and may be more than a number`),
  ];
}

/**
 * Checks that allow rules cover every part of the line; if not, the reasons say what is not covered. With `isReading`, a line that only
 * reads in the workspace needs no rules for its programs.
 */
export function judgeByRules(
  command: string,
  findings: ShellFindings,
  situation: ShellSituation,
  { isReading = false } = {},
): Judgement {
  const { runs, unseen } = findings;
  const allowing = rulesFor(situation.rules, "Shell", "allow");
  const everything = allowing.find((rule) => /^\*+(:\*+)?$/.test(rule.pattern));
  if (everything && unseen.length === 0) return { verdict: "allow", reasons: [`${nameOf(everything)} allows it.`] };
  const open = new Set<string>(unseen.map((part) => `${capitalize(part)}.`));
  const add = (reasons: Iterable<string>) => {
    for (const reason of reasons) open.add(reason);
  };
  add(suspiciousText(command, runs));
  for (const line of runs.lines) add(structureReasons(line));
  for (const { text, name, isKnown, by } of runs.assigned)
    if (!harmlessVariables.test(name) || !isKnown) open.add(`${showText(text)} changes what ${by} runs.`);
  for (const name of runs.privileged) open.add(`${name} changes who runs the rest.`);
  add(runs.inline.map((part) => `${capitalize(part)}.`));
  add(isReading ? readingReasons(command, findings, situation) : runReasons(runs.runs, allowing, situation));
  const guessed = runs.runs.flatMap(guessedWrites).slice(0, maxFiles);
  const touches = guessed.map((word) => touchOf(word, findings.directories.paths, situation));
  const writes = [...findings.writes, ...touches.map((touch) => ({ ...touch, isPurpose: true }))];
  add(writeReasons(writes, situation));
  add(readReasons(findings, situation));
  add(optionFiles(findings));
  add(directoryReasons(findings, situation));
  if (open.size > 0) return { verdict: "ask", reasons: [...open] };
  return { verdict: "allow", reasons: ["Allow rules cover every part of it."] };
}

/** Returns the texts of the allow rules that match the line's programs. */
export function coveringTexts({ runs }: ShellFindings, { rules }: ShellSituation): string[] {
  const allowing = rulesFor(rules, "Shell", "allow");
  const named = runs.runs.flatMap(({ name, args }) => {
    const words = { name: baseName(name.value), args: args.map((arg) => arg.value) };
    return allowing.filter((rule) => allowsCommand(rule, words)).map(({ text }) => text);
  });
  return [...new Set(named)];
}

/** Returns why the line may do more than read in the workspace. */
function readingReasons(command: string, { runs, directories }: ShellFindings, situation: ShellSituation): string[] {
  const isForeign = runs.runs.every(({ name }) => workspaceProgram(name.value, situation) === undefined);
  if (!isForeign || !onlyReads(command, runs)) return ["It may do more than read."];
  const word = looksOutside(runs, directories, situation);
  return word ? [`${showText(word.text)} may be outside the workspace.`] : [];
}

/** Returns why a command needs to reach beyond the sandbox, where it would only fail. */
export function beyondSandbox({ runs, writes, directories }: ShellFindings, situation: ShellSituation): string[] {
  const reasons = runs.privileged.map((name) => `${name} changes who runs the rest.`);
  for (const { name, args } of runs.runs) {
    if (reachesOut(name.value, args))
      reasons.push(`${showText([name, ...args].map(({ text }) => text).join(" "))} reaches beyond the sandbox.`);
  }
  for (const { word, paths } of writes)
    if (paths.some((path) => isOutside(path, situation)))
      reasons.push(`${showText(word.value)} is outside the workspace.`);
  for (const path of directories.paths)
    if (rootOf(path, situation) === undefined) reasons.push(`${path} is outside the workspace.`);
  return [...new Set(reasons)];
}

function runReasons(runs: readonly ProgramStart[], allowing: readonly Rule[], situation: ShellSituation): string[] {
  const reasons: string[] = [];
  const trail: ProgramStart[] = [];
  for (const run of runs) {
    while (trail.length > 0 && trail.at(-1)!.depth >= run.depth) trail.pop();
    const wrapper = trail.at(-1);
    trail.push(run);
    const reason = uncoveredRun(run, allowing, situation);
    if (reason && !(wrapper && isNamedByWrapper(run, wrapper, allowing, situation))) reasons.push(reason);
  }
  return reasons;
}

function structureReasons(line: ShellLine): string[] {
  const reasons = line.functions.map((name) => `It redefines ${showText(name)}.`);
  for (const text of line.assigns) reasons.push(`${showText(text)} changes the shell itself.`);
  for (const { assignments, name } of line.commands) {
    for (const assignment of assignments) {
      if (!name) reasons.push(`${showText(assignment.text)} changes the shell itself.`);
      else if (!harmlessVariables.test(assignment.name) || assignment.value?.dynamic !== false) {
        reasons.push(`${showText(assignment.text)} changes what ${showText(name.text)} does.`);
      }
    }
  }
  return reasons;
}

/** Writes need a Write rule, unless they are inside the workspace and the command's purpose. */
function writeReasons(writes: readonly FileWrite[], situation: ShellSituation): string[] {
  const allowing = rulesFor(situation.rules, "Write", "allow");
  const reasons: string[] = [];
  for (const { word, paths, isUnknown, isPurpose } of writes) {
    // Names found on disk are where the line looked for them, and that folder is judged by its own name.
    const isFound = word.origin === "names" && !isPurpose;
    if ((isUnknown || paths.length === 0) && !isFound)
      reasons.push(`Only the shell knows where ${showText(word.text)} leads.`);
    for (const path of paths) {
      if (allowing.some((rule) => coversPath(rule, path, situation))) continue;
      if (!isPurpose) reasons.push(`No Write rule covers ${showText(word.value)}.`);
      else if (isOutside(path, situation)) reasons.push(`${showText(word.value)} is outside the workspace.`);
    }
  }
  return reasons;
}

/** Read deny rules cannot be compared with a name that the line generates; a socket is not a file. */
function readReasons({ reads }: ShellFindings, { rules }: ShellSituation): string[] {
  const socket = reads.find(({ word }) => /^\/dev\/(tcp|udp)\//.test(word.value));
  if (socket) return [`${showText(socket.word.value)} is a connection, not a file.`];
  if (rulesFor(rules, "Read", "deny").length === 0) return [];
  return reads
    .filter(({ word, isUnknown }) => isUnknown && word.origin === "made")
    .map(({ word }) => `Only the shell knows which file ${showText(word.text)} is, and there are Read deny rules.`);
}

/** Explains a risk: a glob that begins with a wildcard may expand to an option if a file is named like one. */
function optionFiles({ runs, writes, directories }: ShellFindings): string[] {
  const patterns = runs.runs
    .filter((run) => hasDangerousOptions(run.name.value))
    .flatMap((run) => run.args.filter((arg) => arg.glob && /^[*?[]/.test(arg.value)));
  if (patterns.length === 0) return [];
  const isMade = writes.some(({ paths }) => paths.some((path) => basename(path.given).startsWith("-")));
  const isThere = directories.paths.some((folder) => namesIn(folder).some((name) => name.startsWith("-")));
  return isMade || isThere ? [`${showText(patterns[0]!.text)} may become an option.`] : [];
}

function directoryReasons({ directories, runs, writes }: ShellFindings, situation: ShellSituation): string[] {
  const reasons: string[] = [];
  if (directories.unknown) reasons.push("It changes to a directory that is not known in advance.");
  const usesGit = runs.runs.some((run) => baseName(run.name.value) === "git");
  for (const path of directories.paths) {
    if (rootOf(path, situation) === undefined) reasons.push(`${path} is outside the workspace.`);
    if (!usesGit) continue;
    const repository = nestedRepository(path, situation);
    if (repository) reasons.push(`${repository} is a separate repository.`);
    // A missing folder may become a repository before git reads it.
    const isFilled = writes.some((write) =>
      write.paths.some((each) => each.real !== path && isInside(each.real, path)),
    );
    if (isFilled && !existsSync(path))
      reasons.push(`${path} is filled by the same line, and git reads settings there.`);
  }
  return reasons;
}
