// Collects the files that a line touches: those that the tables know it reads or writes, and names in other places.

import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import { baseName } from "../programs/command-names.ts";
import { opensFiles, writesAsKnown } from "../programs/program-kinds.ts";
import { isMade } from "../programs/shell-builtins.ts";
import { expandWord } from "../starts/expand-words.ts";
import type { ProgramStart, StartedPrograms } from "../starts/started-programs.ts";
import { configurationVariable, mayBeWritten, pathsIn, pathsInCode, withoutReading } from "./named-files.ts";
import { readsOf, shownByGit } from "./read-files.ts";
import { type WrittenWord, writesOf } from "./written-files.ts";

export function writtenFiles(runs: StartedPrograms): WrittenWord[] {
  return distinctWords([
    ...redirectTargets(runs, "out").map((word) => ({ ...word, isPurpose: false })),
    ...runs.guessedTargets.map((word) => ({ ...word, isPurpose: true })),
    ...(usesTemplate(runs) ? [{ ...literalWord(".git/hooks"), isPurpose: true }] : []),
    ...runs.runs.flatMap((run) => writesOf(run).map((word) => (run.inOption ? { ...word, isPurpose: true } : word))),
  ]);
}

/** `GIT_TEMPLATE_DIR=folder git init` copies the folder's hooks into the repository. */
function usesTemplate({ runs, scopes, assigned }: StartedPrograms): boolean {
  const name = "GIT_TEMPLATE_DIR";
  const isSet = scopes.some((scope) => scope.variables.has(name)) || assigned.some((each) => each.name === name);
  return isSet && runs.some((run) => baseName(run.name.value) === "git");
}

/** Redirects always count; operands only if `withOperands` is set. */
export function readFiles(runs: StartedPrograms, { withOperands }: { withOperands: boolean }): ShellWord[] {
  const redirected = redirectTargets(runs, "in");
  if (!withOperands) return distinctWords(redirected);
  return distinctWords([
    ...redirected,
    ...runs.runs.flatMap(readsOf),
    ...runs.code.flatMap(({ text }) => pathsInCode(text)),
  ]);
}

/** Matches options that take a list of files from elsewhere: `--files0-from=-`, `-T <(…)`. */
const listed = /^(--files0?-from|-[a-zA-Z]*T)(?:[= ]|= )?(-$|<\(|\/dev\/)/;

/** Returns reads of files whose names the line itself generates. */
export function madeUpReads(runs: StartedPrograms): string[] {
  const words = [
    ...redirectTargets(runs, "in"),
    ...runs.runs.flatMap((run) => (opensFiles(run.name.value) ? run.args : shownByGit(run))),
  ];
  return words
    .filter(
      (word, at) =>
        isMade(word) ||
        (word.dynamic && word.origin === "derived") ||
        listed.test(`${words[at - 1]?.text ?? ""} ${word.text}`) ||
        listed.test(word.text),
    )
    .map((word) => word.text);
}

/** Returns files that an unknown program may write because it gets their names, without those already `written`. */
export function namedFiles(runs: StartedPrograms, written: readonly WrittenWord[]): ShellWord[] {
  const writtenNames = new Set(written.map((word) => word.value));
  return distinctWords([
    ...runs.runs.flatMap((run) => [...mayBeWritten(run), ...variablesOf(run)].flatMap(pathsIn)),
    ...runs.code.flatMap(({ text }) => pathsInCode(withoutReading(text))),
  ]).filter((word) => !writtenNames.has(word.value));
}

/** Returns the values of variables set for a program: `OUTPUT=file program`. */
function variablesOf({ name, command }: ProgramStart): ShellWord[] {
  if (baseName(name.value) === "git" || writesAsKnown(name.value)) return [];
  return command.assignments.flatMap((each) => (configurationVariable.test(each.name) ? [] : (each.value ?? [])));
}

/** Returns redirect targets, with variables expanded as far as the line sets them. */
function redirectTargets({ lines, scopes }: StartedPrograms, direction: "in" | "out"): ShellWord[] {
  return lines.flatMap((line, index) =>
    line.redirects
      .filter((each) => each.target && (each.direction === direction || (direction === "in" && each.operator === "<>")))
      .map((each) => expandWord(each.target!, scopes[index]!)),
  );
}

function distinctWords<Word extends ShellWord>(words: readonly Word[]): Word[] {
  const key = ({ text, value, origin, others, isPurpose }: ShellWord & Partial<WrittenWord>) =>
    [isPurpose, origin, text, value, ...(others ?? []).map((other) => other.value)].join("\n");
  return [...new Map(words.map((word) => [key(word), word])).values()];
}
