// Applies deny rules to a command line. They match broadly: everything that it would start, read or write.
import type { Rule } from "../protocol/permission-rule.ts";
import { expandBraces, patternsMeet } from "../text/glob.ts";
import type { ShellSituation, Touch } from "./files/shell-paths.ts";
import { hasSecondName } from "./hard-links.ts";
import {
  absolutePattern,
  coversFile,
  coversPath,
  deniesCommand,
  type LinkedFiles,
  nameOf,
  programIn,
  rulesFor,
  shellPattern,
} from "./rules.ts";
import { showText } from "./show.ts";
import { type NamedProgram, programsInArguments, programsInCode } from "./starts/programs-in-arguments.ts";
import type { ProgramStart, StartedPrograms } from "./starts/wrappers.ts";

/** Finds denied programs among the arguments of other programs. */
export function deniedArguments({ runs, code }: StartedPrograms, rules: readonly Rule[]): NamedProgram[] {
  const denying = rulesFor(rules, "Shell", "deny");
  if (denying.length === 0) return [];
  return [
    ...runs.flatMap((run) => (run.name.dynamic || run.name.glob ? [] : programsInArguments(run, denying))),
    ...code.flatMap((each) => (each.isWritten ? programsInCode(each, denying) : [])),
  ];
}

export function deniedRuns(
  command: string,
  { runs, lines, unreadable }: StartedPrograms,
  rules: readonly Rule[],
): string[] {
  const denying = rulesFor(rules, "Shell", "deny");
  if (denying.length === 0) return [];
  const reasons = new Set<string>();
  for (const { name, args } of runs) {
    // The name is only known to the shell: match it against rules that name any program.
    const line = { name: name.dynamic || name.glob ? "" : name.value, args: args.map((arg) => arg.value) };
    for (const rule of denying)
      if (deniesCommand(rule, line))
        reasons.add(`${nameOf(rule)} denies ${showText([name, ...args].map((word) => word.text).join(" "))}.`);
  }
  // A line that cannot be parsed is still searched for denied names.
  const texts = lines.some((line) => line.errors.length > 0) ? [command, ...unreadable] : unreadable;
  for (const text of texts) {
    const names = text.split(/[\s;|&()<>`'"\\{}$=!]+/).filter(Boolean);
    for (const rule of denying) {
      const hit = deniedName(rule, names);
      if (hit) reasons.add(`${nameOf(rule)} denies ${hit}, and the line cannot be read.`);
    }
  }
  return [...reasons];
}

/** Returns the first word that the rule denies, taking the words after it as its arguments. */
function deniedName(rule: Rule, names: readonly string[]): string | undefined {
  const wanted = programIn(rule)?.toLowerCase();
  const end = wanted?.slice(wanted.lastIndexOf("/") + 1);
  return names.find(
    (name, index) =>
      (end === undefined || name.toLowerCase().includes(end)) &&
      deniesCommand(rule, { name, args: names.slice(index + 1, index + 20) }),
  );
}

/** Finds arguments that may expand to what a deny rule names: `git $x` against `Shell(git push)`. */
export function unseenArguments({ runs }: StartedPrograms, rules: readonly Rule[]): string[] {
  const denying = rulesFor(rules, "Shell", "deny").filter((rule) => /[\s:]/.test(rule.pattern));
  return runs
    .filter((run) => !run.name.dynamic && !run.name.glob && denying.some((rule) => mayMatch(rule, run)))
    .map((run) => `what ${run.name.value} is given is not known in advance`);
}

/** How many arguments are compared with deny rules: those that a rule names come soon after the program. */
const maxArguments = 50;

/** Returns whether the rule would match if its own words replaced the unknown arguments. */
function mayMatch(rule: Rule, { name, args }: ProgramStart): boolean {
  const near = args.slice(0, maxArguments);
  const values = near.map((each) => each.value);
  const isDenied = (at: number, wanted: readonly string[]) =>
    deniesCommand(rule, { name: name.value, args: [...values.slice(0, at), ...wanted, ...values.slice(at + 1)] });
  return near.some(
    ({ dynamic, glob, others = [] }, at) =>
      (dynamic || glob || others.length > 0) && argumentsIn(rule.pattern).some((wanted) => isDenied(at, wanted)),
  );
}

/** Returns the words after the program's name for each brace alternative. A star also stands for itself. */
function argumentsIn(text: string): string[][] {
  return (expandBraces(text) ?? [text]).map((each) => {
    const pattern = shellPattern(each);
    if (pattern.form === "any") return [];
    return pattern.form === "glob" ? pattern.glob.split(/\s+/).filter(Boolean) : pattern.tokens.slice(1);
  });
}

export function deniedTouches(kind: "Read" | "Write", touches: readonly Touch[], situation: ShellSituation): string[] {
  const denying = rulesFor(situation.rules, kind, "deny");
  if (denying.length === 0) return [];
  const reasons = new Set<string>();
  const known: LinkedFiles = new Map();
  for (const { word, paths } of touches) {
    const linked = new Set(paths.filter((path) => !path.isNew && hasSecondName(path.real)));
    for (const rule of denying) {
      const mayBecome = word.glob || (word.others ?? []).some((other) => other.glob);
      const hit = paths.some(
        (path) =>
          (linked.has(path) ? coversFile(rule, path, situation, known) : coversPath(rule, path, situation)) ||
          (mayBecome && /[*?[]/.test(path.given) && patternsMeet(path.given, absolutePattern(rule.pattern, situation))),
      );
      if (hit) reasons.add(`${nameOf(rule)} denies ${showText(word.value || word.text)}.`);
    }
  }
  return [...reasons];
}
