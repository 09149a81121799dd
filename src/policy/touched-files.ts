// The files that a line touches: what it writes and reads by the tables, and what it names in places that no table knows.

import { meaningOf } from "./meaning.ts";
import { mayBeWritten, mayNameProtected, pathsIn, pathsInCode } from "./named-files.ts";
import { writesAsKnown } from "./program-kinds.ts";
import { readsOf } from "./read-files.ts";
import type { Run, Runs } from "./runs.ts";
import type { ShellWord } from "./shell-word.ts";
import { type Written, writesOf } from "./written-files.ts";

export function writtenFiles(runs: Runs): Written[] {
  return distinct([
    ...redirectTargets(runs, "out").map((word) => ({ ...word, isPurpose: false })),
    ...runs.guessedTargets.map((word) => ({ ...word, isPurpose: true })),
    ...runs.runs.flatMap((run) => writesOf(run).map((word) => (run.inOption ? { ...word, isPurpose: true } : word))),
  ]);
}

/** Redirects always count; operands only where somebody asks. */
export function readFiles(runs: Runs, { withOperands }: { withOperands: boolean }): ShellWord[] {
  const redirected = redirectTargets(runs, "in");
  if (!withOperands) return distinct(redirected);
  return distinct([
    ...redirected,
    ...runs.runs.flatMap(readsOf),
    ...runs.code.flatMap(({ text }) => pathsInCode(text)),
  ]);
}

/** Files that a program which nobody knows may write, because it is told their names. */
export function namedFiles(runs: Runs): ShellWord[] {
  const known = new Set(runs.runs.flatMap((run) => writesOf(run).map((word) => word.value)));
  return distinct([
    ...runs.runs.flatMap((run) => [...mayBeWritten(run), ...variablesOf(run)].flatMap(pathsIn)),
    ...runs.code.flatMap(({ text }) => (mayNameProtected(text) ? pathsInCode(text).filter(isNamed) : [])),
  ]).filter((word) => !known.has(word.value));
}

function isNamed(word: ShellWord): boolean {
  return mayNameProtected(word.value);
}

/** `OUTPUT=file program` */
function variablesOf({ name, command, inOption }: Run): ShellWord[] {
  if (inOption || command.name !== name || name.value === "git" || writesAsKnown(name.value)) return [];
  return command.assignments.flatMap(({ value }) => value ?? []);
}

/** The targets of redirects, with what the line says about their variables filled in. */
function redirectTargets({ lines, scopes }: Runs, direction: "in" | "out"): ShellWord[] {
  return lines.flatMap((line, index) =>
    line.redirects
      .filter((each) => each.target && (each.direction === direction || (direction === "in" && each.operator === "<>")))
      .map((each) => meaningOf(each.target!, scopes[index]!)),
  );
}

function distinct<Word extends ShellWord>(words: readonly Word[]): Word[] {
  const key = ({ text, value, origin, others, isPurpose }: ShellWord & Partial<Written>) =>
    [isPurpose, origin, text, value, ...(others ?? []).map((other) => other.value)].join("\n");
  return [...new Map(words.map((word) => [key(word), word])).values()];
}
