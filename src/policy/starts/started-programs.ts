// What a command line would start: every program, however deep it is wrapped, and what could not be seen on the way.

import type { ShellCommand, ShellLine, ShellWord } from "../parse/shell.ts";
import type { LoadKind } from "../programs/code-variables.ts";
import { show } from "../show.ts";
import type { VariableScope } from "./expand-words.ts";

/** One program start, however deep it is wrapped. */
export type ProgramStart = {
  name: ShellWord;
  args: ShellWord[];
  /** Runs only what it is given, and changes nothing else: needs no rule of its own. */
  transparent: boolean;
  /** False: only a guess, because an option before it is unknown. Good enough to deny, not to allow. */
  certain: boolean;
  /** Stands in the value of an option: only deny rules and the floor look at it, the option is judged by itself. */
  inOption?: true;
  /** Another reading of the same command, for where variables are not set: only what it would do counts. */
  ifUnset?: true;
  /** The simple command that it belongs to. */
  command: ShellCommand;
  /** How deep it is wrapped: the last one before it that is less deep starts it. */
  depth: number;
};

export type StartedPrograms = ReturnType<typeof nothingStarted>;

export function nothingStarted() {
  return {
    runs: [] as ProgramStart[],
    /** Lines that are parsed: the command itself, and every literal script inside it. */
    lines: [] as ShellLine[],
    /** The text of each of the lines. */
    sources: [] as string[],
    /** What the variables of each of the lines may hold. */
    scopes: [] as VariableScope[],
    /** Why part of what would run cannot be seen. */
    opaque: [] as string[],
    /** Code of another language than the shell's, which no rule for a program covers. */
    inline: [] as string[],
    /** Names of programs that change who runs the rest. */
    privileged: [] as string[],
    /** Files that are run by a shell or an interpreter, or by their own name. `isUsual`: nobody names them. `loads`: by a variable. */
    files: [] as { word: ShellWord; by: string; isUsual?: true; loads?: LoadKind }[],
    /** Files that may say what a program changes. */
    patches: [] as ShellWord[],
    /** Variables that are set for a program by another way than the shell's own. */
    assigned: [] as { text: string; name: string; isKnown: boolean; by: string }[],
    /** Scripts and values of options that cannot be read for sure. */
    unreadable: [] as string[],
    /** One of them is for the plain shell, which may read it differently than bash does. */
    isMisread: false,
    /** Texts that programs take as code of their own: the files that they name may be read and written. `isWritten`: a file of this run. */
    code: [] as { text: string; by: string; isWritten?: true }[],
    /** Where commands in the values of options would write. */
    guessedTargets: [] as ShellWord[],
    /** Folders that programs are started in. */
    folders: [] as ShellWord[],
    /** How many starts are only guesses. */
    guesses: 0,
  };
}

export function noteMisread(text: string, shell: string, found: StartedPrograms): void {
  found.opaque.push(`${shell} may read ${show(text)} differently than bash`);
  found.unreadable.push(text);
  // The languages of other shells are no secret to those who use them; the plain shell passes for bash.
  if (!/^(zsh|fish|csh|tcsh|xonsh|nu)$/.test(shell)) found.isMisread = true;
}

/** What is not followed any more may do anything: a long line must not be a way past the floor. */
export function tooMuch(what: string, found: StartedPrograms): void {
  found.opaque.push(what);
  found.isMisread = true;
}
