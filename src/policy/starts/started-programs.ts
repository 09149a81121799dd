// Collects every program that a command line would start, however deeply wrapped, and what could not be determined.

import type { ShellCommand, ShellLine, ShellWord } from "../parse/shell.ts";
import type { LoadKind } from "../programs/code-variables.ts";
import { showText } from "../show.ts";
import type { VariableScope } from "./expand-words.ts";

/** One program start, however deeply wrapped. */
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
  /** The simple command that it belongs to. */
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
    /** The text of each command line. */
    sources: [] as string[],
    /** The variable scope of each line. */
    scopes: [] as VariableScope[],
    /** Why part of what would run is unknown. */
    opaque: [] as string[],
    /** Code in other languages than shell, which no rule for a program covers. */
    inline: [] as string[],
    /** Names of programs that change the user the rest runs as. */
    privileged: [] as string[],
    /** Files run by a shell, an interpreter or by name. `isUsual`: found by convention, not named. `loads`: named by a variable. */
    files: [] as { word: ShellWord; by: string; isUsual?: true; loads?: LoadKind }[],
    /** Files that may list what a program changes. */
    patches: [] as ShellWord[],
    /** Variables set for a program other than by a shell assignment. */
    assigned: [] as { text: string; name: string; isKnown: boolean; by: string }[],
    /** Scripts and option values that cannot be parsed with certainty. */
    unreadable: [] as string[],
    /** Set if sh may parse one of them differently from bash, or if part of the line was not followed. */
    isMisread: false,
    /** Texts that programs run as their own code; files they name may be read or written. `isWritten` marks a file of this run. */
    code: [] as { text: string; by: string; isWritten?: true }[],
    /** Files that commands in option values would write. */
    guessedTargets: [] as ShellWord[],
    /** Folders that programs are started in. */
    folders: [] as ShellWord[],
    /** The number of starts that are only guesses. */
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
