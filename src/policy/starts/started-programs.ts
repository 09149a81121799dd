// Collects every program that a command line would start, however deeply wrapped, and what could not be determined.

import type { ShellCommand, ShellLine, ShellWord } from "../parse/shell.ts";
import type { LoadKind } from "../programs/code-variables.ts";
import { showText } from "../show.ts";
import type { VariableScope } from "./expand-words.ts";

/** One start of a program, which may be wrapped in others. */
export type ProgramStart = {
  name: ShellWord;
  args: ShellWord[];
  /** Runs only its operands and changes nothing else, so it needs no rule of its own. */
  transparent: boolean;
  /** False for a guess after an unknown option: enough to deny, not to allow. */
  certain: boolean;
  /** From the value of an option: only deny rules and protected paths apply to it, since the option is judged itself. */
  inOption?: true;
  /** Another reading of the same command with unset variables: only its effects count. */
  ifUnset?: true;
  /** The simple command that contains this start. */
  command: ShellCommand;
  /** How deeply it is wrapped: the last start before it with a lower depth starts it. */
  depth: number;
};

export type StartedPrograms = ReturnType<typeof nothingStarted>;

export function nothingStarted() {
  return {
    runs: [] as ProgramStart[],
    /** The parsed lines: the command itself, and every literal script inside it. */
    lines: [] as ShellLine[],
    /** The texts of all command lines. */
    sources: [] as string[],
    /** The scope of variables for each line. */
    scopes: [] as VariableScope[],
    /** Reasons why a part of what would run is unknown. */
    opaque: [] as string[],
    /** Code in languages other than shell, to which no rule for a program applies. */
    inline: [] as string[],
    /** Names of programs that run the rest as another user. */
    privileged: [] as string[],
    /** Files run by a shell, an interpreter or by name. `isUsual`: found by convention, not named. `loads`: named by a variable. */
    files: [] as { word: ShellWord; by: string; isUsual?: true; loads?: LoadKind }[],
    /** Files that may list the changes a program makes. */
    patches: [] as ShellWord[],
    /** Variables set for a program other than by a shell assignment. */
    assigned: [] as { text: string; name: string; isKnown: boolean; by: string }[],
    /** Scripts and option values that cannot be parsed with certainty. */
    unreadable: [] as string[],
    /** Set if sh may parse one of them differently from bash, or if part of the line was not followed. */
    isMisread: false,
    /** Texts that programs run as their own code; files they name may be read or written. `isWritten` marks a file of this run. */
    code: [] as { text: string; by: string; isWritten?: true }[],
    /** Files that would be written by commands in option values. */
    guessedTargets: [] as ShellWord[],
    /** The folders in which programs are started. */
    folders: [] as ShellWord[],
    /** How many of the starts are only guesses. */
    guesses: 0,
  };
}

export function noteMisread(text: string, shell: string, found: StartedPrograms): void {
  found.opaque.push(`${shell} may read ${showText(text)} differently than bash`);
  found.unreadable.push(text);
  // Users of other shells know their syntax; sh is easily mistaken for bash.
  if (!/^(zsh|fish|csh|tcsh|xonsh|nu)$/.test(shell)) found.isMisread = true;
}

/** Parts that are not followed may do anything: a long line must not be a way around protected paths. */
export function tooMuch(what: string, found: StartedPrograms): void {
  found.opaque.push(what);
  found.isMisread = true;
}
