// ShellWord: a word of a command line, and what can be known of it before a shell has seen it.

export type ShellWord = {
  /** As written. */
  text: string;
  /** After quote removal; expansions stay as written. */
  value: string;
  /** Holds an expansion, a substitution or a brace list: what it becomes is known only to the shell. */
  dynamic: boolean;
  /** Holds an unquoted pattern. */
  glob: boolean;
  /** Begins with an unquoted tilde. */
  tilde: boolean;
  /** What a dynamic word is made of. */
  pieces?: readonly WordPiece[];
  /** The other words that it may become as well. */
  others?: readonly ShellWord[];
  /** How far what it becomes can be foreseen; missing for words that are known. */
  origin?: WordOrigin;
};

/** A word that is what it looks like. */
export function literalWord(value: string): ShellWord {
  return { text: value, value, dynamic: false, glob: false, tilde: value.startsWith("~") };
}

/**
 * Where the unknown part of a word comes from. `names`: names that exist, of files, branches, containers. `environment`:
 * what the user has set. `derived`: cut from one of these. `made`: by the line itself, so it can be anything.
 */
export type WordOrigin = "names" | "environment" | "derived" | "made";

export type WordPiece =
  | { kind: "text"; value: string }
  | { kind: "variable"; name: string; quoted: boolean }
  /** Part of what a variable holds. */
  | { kind: "part"; name: string }
  /** One of these. */
  | { kind: "choice"; choices: readonly (readonly WordPiece[])[] }
  /** Digits. */
  | { kind: "number" }
  /** What a pipeline of simple commands prints. */
  | { kind: "output"; commands: readonly CommandWords[]; quoted: boolean }
  | { kind: "unknown" };

/** A program and what it is given. */
export type CommandWords = { name: ShellWord; args: readonly ShellWord[] };
