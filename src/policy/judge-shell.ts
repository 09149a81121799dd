// May this command line run? Every program it would start is judged, and every file it would write.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Rule } from "../protocol/permission-rule.ts";
import { directoryChangers, harmlessVariables, readsOf, stateChangers, writesOf } from "./command-facts.ts";
import { dangerousArgument } from "./dangerous-options.ts";
import { patternsMeet } from "./glob.ts";
import type { Verdict } from "./need.ts";
import { floorOf, isInside, type Place, type ResolvedPath, resolvePath, rootOf } from "./paths.ts";
import { absolutePattern, allowsCommand, coversPath, deniesCommand, nameOf, namesPath } from "./rules.ts";
import type { ShellLine, ShellWord } from "./shell.ts";
import { baseName, isInterpreter, isShell, type Run, type Runs, runsOf } from "./wrappers.ts";

export type ShellSituation = Place & { rules: readonly Rule[] };
export type Judgement = { verdict: Verdict; reasons: string[] };

/** A file that the line touches; `path` is missing when only the shell knows which. */
type Touch = { word: ShellWord; paths: ResolvedPath[] };

/** Everything about a line that no mode changes: what denies it, and what must be asked about in every mode. */
export type ShellFindings = {
  denied: string[];
  floor: string[];
  /** Parts that deny rules cannot be compared with. */
  unseen: string[];
  runs: Runs;
  writes: Touch[];
  directories: { paths: string[]; unknown: boolean };
};

/** Beyond this the line is asked about in every mode. */
const mostFiles = 1000;
const mostDirectories = 16;

export function inspectShell(command: string, cwd: string, situation: ShellSituation): ShellFindings {
  const runs = runsOf(command);
  const directories = directoriesOf(runs, cwd, situation);
  const redirects = runs.lines.flatMap((line) => line.redirects);
  const targets = (direction: string) =>
    redirects.filter((each) => each.direction === direction && each.target).map((each) => each.target!);
  const written = distinct([...targets("out"), ...runs.runs.filter((run) => run.certain).flatMap(writesOf)]);
  const read = distinct([...targets("in"), ...runs.runs.flatMap(readsOf)]);
  const touch = (word: ShellWord): Touch => ({ word, paths: pathsOf(word, directories.paths, situation) });
  const writes = written
    .filter((word) => !isSink(word.value))
    .slice(0, mostFiles)
    .map(touch);
  const reads = read.slice(0, mostFiles).map(touch);
  const denied = [
    ...deniedRuns(command, runs, situation.rules),
    ...deniedTouches("Read", reads, situation),
    ...deniedTouches("Write", writes, situation),
  ];
  const floor = floorReasons(writes, situation, denied);
  const readsMatter = situation.rules.some((rule) => rule.kind === "Read" && rule.verdict === "deny");
  if (written.length > mostFiles || (readsMatter && read.length > mostFiles)) {
    floor.push(`It names more than ${mostFiles} files.`);
  }
  if (directories.paths.length > mostDirectories) floor.push("It changes directory too often.");
  return {
    denied,
    floor,
    unseen: unseenParts(runs),
    runs,
    writes,
    directories,
  };
}

function distinct(words: readonly ShellWord[]): ShellWord[] {
  return [...new Map(words.map((word) => [`${word.text}\n${word.value}`, word])).values()];
}

function deniedRuns(command: string, { runs, lines }: Runs, rules: readonly Rule[]): string[] {
  const denying = rules.filter((rule) => rule.kind === "Shell" && rule.verdict === "deny");
  if (denying.length === 0) return [];
  const reasons = new Set<string>();
  for (const run of runs) {
    if (run.name.dynamic || run.name.glob) continue;
    const line = { name: run.name.value, args: run.args.map((arg) => arg.value) };
    for (const rule of denying) if (deniesCommand(rule, line)) reasons.add(`${nameOf(rule)} denies ${run.name.value}.`);
  }
  // A line too long to be parsed is still searched for denied names.
  if (lines.some((line) => line.errors.length > 0)) {
    const names = command.split(/[\s;|&()<>`'"\\{}$=]+/).filter(Boolean);
    for (const rule of denying) {
      const hit = names.find((name, index) => deniesCommand(rule, { name, args: names.slice(index + 1, index + 20) }));
      if (hit) reasons.add(`${nameOf(rule)} denies ${hit}, and the line cannot be read.`);
    }
  }
  return [...reasons];
}

function deniedTouches(kind: "Read" | "Write", touches: readonly Touch[], situation: ShellSituation): string[] {
  const denying = situation.rules.filter((rule) => rule.kind === kind && rule.verdict === "deny");
  const reasons = new Set<string>();
  for (const rule of denying) {
    for (const { word, paths } of touches) {
      const hit = word.glob
        ? paths.some(({ given }) => patternsMeet(given, absolutePattern(rule.pattern, situation)))
        : paths.some((path) => coversPath(rule, path, situation));
      if (hit) reasons.add(`${nameOf(rule)} denies ${word.value}.`);
    }
  }
  return [...reasons];
}

/** Protected paths are asked about in every mode; the agent's own configuration is refused. */
function floorReasons(writes: readonly Touch[], situation: ShellSituation, denied: string[]): string[] {
  const reasons = new Set<string>();
  for (const { paths } of writes) {
    for (const path of paths) {
      const floor = floorOf(path, situation);
      if (!floor) continue;
      if (floor.level === "never") denied.push(`${floor.why}.`);
      else if (!isLifted(path, situation)) reasons.add(`${floor.why}.`);
    }
  }
  return [...reasons];
}

/** A rule of the user that names one file of the project, letter by letter. */
function isLifted(path: ResolvedPath, situation: ShellSituation): boolean {
  if (rootOf(path.real, situation) === undefined) return false;
  return situation.rules.some(
    (rule) =>
      rule.kind === "Write" && rule.verdict === "allow" && rule.scope === "user" && namesPath(rule, path, situation),
  );
}

function unseenParts({ runs, lines, opaque }: Runs): string[] {
  const parts = new Set(opaque);
  for (const line of lines) for (const error of line.errors) parts.add(`the line cannot be read: ${error}`);
  for (const run of runs)
    if (run.name.dynamic || run.name.glob) parts.add(`which program ${show(run.name.text)} is, only the shell knows`);
  return [...parts];
}

/** Is every part of the line covered by allow rules? Otherwise: what is not. */
export function judgeByRules(
  command: string,
  findings: ShellFindings,
  cwd: string,
  situation: ShellSituation,
): Judgement {
  const allowing = situation.rules.filter((rule) => rule.kind === "Shell" && rule.verdict === "allow");
  const everything = allowing.find((rule) => /^\*+(:\*+)?$/.test(rule.pattern));
  if (everything && findings.unseen.length === 0)
    return { verdict: "allow", reasons: [`${nameOf(everything)} allows it.`] };
  const open = new Set<string>(findings.unseen.map((part) => `${capital(part)}.`));
  for (const reason of suspiciousText(command, findings.runs.lines)) open.add(reason);
  for (const line of findings.runs.lines) for (const reason of structureReasons(line)) open.add(reason);
  for (const name of findings.runs.privileged) open.add(`${name} changes who runs the rest.`);
  for (const run of findings.runs.runs) {
    const reason = uncoveredRun(run, allowing, situation);
    if (reason) open.add(reason);
  }
  for (const reason of writeReasons(findings, situation)) open.add(reason);
  for (const reason of directoryReasons(findings, cwd, situation)) open.add(reason);
  if (open.size > 0) return { verdict: "ask", reasons: [...open] };
  return { verdict: "allow", reasons: ["Allow rules cover every part of it."] };
}

function uncoveredRun(run: Run, allowing: readonly Rule[], { workspace }: ShellSituation): string | undefined {
  const { name, args } = run;
  if (name.dynamic || name.glob) return undefined;
  if (!run.certain) return `An option before ${show(name.text)} is unknown.`;
  const bare = programName(name.value, workspace);
  if (bare === undefined) return `${show(name.value)} is a path, and rules name programs.`;
  if (stateChangers.has(bare)) return `${bare} changes the shell itself.`;
  const line = { name: bare, args: args.map((arg) => arg.value) };
  const rules = allowing.filter((rule) => allowsCommand(rule, line));
  if (rules.length === 0 && !run.transparent) return `No allow rule covers ${show([bare, ...line.args].join(" "))}.`;
  const option = dangerousArgument(run);
  const named = option !== undefined && rules.some((rule) => rule.pattern.includes(option.split("=")[0]!));
  if (option !== undefined && !named) return `${bare} ${show(option)} can run or write more than the rule says.`;
  const dynamicOption = args.find((arg) => arg.dynamic && (isShell(bare) || isInterpreter(bare)));
  return dynamicOption ? `What ${bare} is given is not known before.` : undefined;
}

/** A bare name, or a path of the system's own folders; a file of the workspace is not the program the user allowed. */
function programName(name: string, workspace: string): string | undefined {
  if (!name.includes("/")) return name;
  const system = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"];
  const base = baseName(name);
  return system.some((folder) => name === folder + base) && !isInside(name, workspace) ? base : undefined;
}

function structureReasons(line: ShellLine): string[] {
  const reasons = line.functions.map((name) => `It defines ${show(name)} anew.`);
  for (const text of line.evaluates) reasons.push(`${text} evaluates data as code.`);
  for (const { assignments, name } of line.commands) {
    for (const assignment of assignments) {
      if (!name) reasons.push(`${show(assignment.text)} changes the shell itself.`);
      else if (!harmlessVariables.test(assignment.name) || assignment.value?.dynamic !== false) {
        reasons.push(`${show(assignment.text)} changes what ${show(name.text)} does.`);
      }
    }
  }
  return reasons;
}

/** Writes need a Write rule, except by commands whose purpose they are, inside the workspace. */
function writeReasons({ writes, runs }: ShellFindings, situation: ShellSituation): string[] {
  const allowing = situation.rules.filter((rule) => rule.kind === "Write" && rule.verdict === "allow");
  const redirected = new Set(runs.lines.flatMap((line) => line.redirects.map((redirect) => redirect.target?.text)));
  const reasons: string[] = [];
  for (const { word, paths } of writes) {
    if (paths.length === 0) reasons.push(`Where ${show(word.text)} leads, only the shell knows.`);
    const isRedirect = redirected.has(word.text);
    for (const path of paths) {
      if (allowing.some((rule) => coversPath(rule, path, situation))) continue;
      if (isRedirect || /^\/dev\//.test(path.given)) reasons.push(`No Write rule covers ${show(word.value)}.`);
      else if (rootOf(path.real, situation) === undefined)
        reasons.push(`${show(word.value)} lies outside of the workspace.`);
    }
  }
  for (const run of runs.runs)
    if (baseName(run.name.value) === "uniq" && writesOf(run).length > 0)
      reasons.push("The second operand of uniq is written.");
  for (const run of runs.runs) if (baseName(run.name.value) === "ln") reasons.push(...linkReasons(run, situation));
  return reasons;
}

function linkReasons(run: Run, situation: ShellSituation): string[] {
  return writesOf(run)
    .filter((word) =>
      pathsOf(word, [situation.workspace], situation).some((path) => rootOf(path.real, situation) === undefined),
    )
    .map((word) => `${show(word.value)} would be linked into the workspace.`);
}

function directoryReasons({ directories, runs }: ShellFindings, cwd: string, situation: ShellSituation): string[] {
  const reasons: string[] = [];
  if (directories.unknown) reasons.push("It changes to a directory that is not known before.");
  for (const path of directories.paths) {
    if (rootOf(path, situation) === undefined) reasons.push(`${path} lies outside of the workspace.`);
    // A repository inside brings settings that run programs.
    const usesGit = runs.runs.some((run) => baseName(run.name.value) === "git");
    if (usesGit && path !== situation.workspace && existsSync(join(path, ".git")))
      reasons.push(`${path} is a repository of its own.`);
  }
  return rootOf(cwd, situation) === undefined && reasons.length === 0
    ? [`${cwd} lies outside of the workspace.`]
    : reasons;
}

/** Every directory that a relative name of the line may mean: it is judged in all of them. */
function directoriesOf({ runs }: Runs, cwd: string, situation: ShellSituation): { paths: string[]; unknown: boolean } {
  const paths = new Set([cwd]);
  let unknown = false;
  const change = (word: ShellWord | undefined): void => {
    const value = word?.value ?? "~";
    if (word && (word.dynamic || word.glob || value === "-" || /^[+]\d/.test(value))) {
      const known = expandHome(word, situation, cwd);
      if (known === undefined) unknown = true;
      else paths.add(known);
      return;
    }
    if (paths.size > mostDirectories) return;
    for (const base of [...paths]) {
      const resolved = resolvePath(value, situation, base);
      if ("problem" in resolved) unknown = true;
      else paths.add(resolved.real);
    }
  };
  for (const { name, args } of runs) {
    const base = baseName(name.value);
    if (directoryChangers.has(base)) change(args.find((arg) => !/^-[LPe@n]+$|^--$/.test(arg.value)));
    const at = base === "git" ? args.findIndex((arg) => arg.value === "-C") : -1;
    if (at !== -1) change(args[at + 1]);
  }
  return { paths: [...paths].slice(0, mostDirectories + 1), unknown };
}

function pathsOf(word: ShellWord, directories: readonly string[], situation: ShellSituation): ResolvedPath[] {
  const value = word.dynamic ? expandHome(word, situation, directories[0]!) : word.value;
  if (value === undefined || value === "") return [];
  // A quoted tilde is an ordinary character.
  const target = value.startsWith("~") && !word.tilde ? `./${value}` : value;
  const found: ResolvedPath[] = [];
  for (const directory of directories) {
    const resolved = resolvePath(target, situation, directory);
    if (!("problem" in resolved)) found.push(resolved);
  }
  return found;
}

/** `$HOME/x` and `$PWD/x` are as good as literal. */
function expandHome(word: ShellWord, { home }: ShellSituation, cwd: string): string | undefined {
  const replaced = word.value.replace(/^\$(HOME\b|\{HOME\})/, () => home).replace(/^\$(PWD\b|\{PWD\})/, () => cwd);
  return replaced !== word.value && !/[$`{]/.test(replaced) ? replaced : undefined;
}

function isSink(target: string): boolean {
  return /^\/dev\/(null|stdout|stderr|fd\/\d+)$/.test(target);
}

/** Characters that make a line look like another one. Inside quotes people may write what they like, escapes excepted. */
function suspiciousText(command: string, lines: readonly ShellLine[]): string[] {
  const reasons: string[] = [];
  if (/[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f]/.test(command)) reasons.push("It holds control characters.");
  const words = lines.flatMap((line) =>
    line.commands.flatMap((each) => [...(each.name ? [each.name] : []), ...each.args]),
  );
  if (
    words.some((word) =>
      /[\p{Cf}\p{Zs}\p{Zl}\p{Zp}\u00a0]/u.test(
        word.text.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/gs, "").replace(/\\ | /g, ""),
      ),
    )
  ) {
    reasons.push("It holds invisible characters outside of quotes.");
  }
  if (/[\u202a-\u202e\u2066-\u2069]/.test(command))
    reasons.push("It holds characters that change the direction of text.");
  const names = lines.flatMap((line) => line.commands.map((each) => each.name?.value ?? ""));
  for (const name of names)
    if (/[^\x20-\x7e]/.test(name)) reasons.push(`The name ${show(name)} holds unusual characters.`);
  return reasons;
}

function show(text: string): string {
  const visible = text.replace(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  return visible.length > 100 ? `${visible.slice(0, 99)}…` : visible;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
