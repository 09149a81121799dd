// Parses the options of a command as getopt does: clusters, attached values, abbreviated long names.
import type { ShellWord } from "../parse/shell-word.ts";
import type { WrapperSyntax } from "./wrapper-table.ts";

export function isOption(word: ShellWord): boolean {
  return word.value.startsWith("-") && word.value.length > 1;
}

export type ParsedOptions = {
  operands: ShellWord[];
  values: Map<string, ShellWord>;
  /** The values of options that were given again later. */
  replaced: ShellWord[];
  /** Whether it is unclear if one of the options takes a value. */
  isUnsure: boolean;
};

/** Returns the words after the options, or between them where they may be mixed. */
export function parseOptions(args: readonly ShellWord[], table: WrapperSyntax): ParsedOptions {
  const read: ParsedOptions = { operands: [], values: new Map(), replaced: [], isUnsure: false };
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    if (word.value === "--") {
      read.operands.push(...args.slice(at + 1));
      break;
    }
    if (!isOption(word)) {
      // Some programs treat a single dash as an option.
      if (word.value === "-" && read.operands.length === 0) continue;
      if (table.permutes) {
        read.operands.push(word);
        continue;
      }
      read.operands.push(...args.slice(at));
      break;
    }
    if (word.dynamic) read.isUnsure = true;
    const takesNext = word.value.startsWith("--") ? readLong(word, table, read) : readCluster(word, table, read);
    if (takesNext !== undefined && args[at + 1]) keepValue(takesNext, args[++at]!, read);
  }
  return read;
}

function keepValue(name: string, value: ShellWord, { values, replaced }: ParsedOptions): void {
  const before = values.get(name);
  if (before) replaced.push(before);
  values.set(name, value);
}

/** Returns the name of an option whose value is the next word. */
function readLong(word: ShellWord, table: WrapperSyntax, read: ParsedOptions): string | undefined {
  const [, name = "", given, value] = /^--([^=]*)(=(.*))?$/s.exec(word.value) ?? [];
  const valued = longNames(table.values);
  const fitting = [...valued, ...longNames(table.flags)].filter((each) => each.startsWith(name));
  const existing = fitting.find((each) => each === name) ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (existing === undefined) read.isUnsure = true;
  if (given !== undefined) {
    keepValue(existing ?? name, { ...word, value: value! }, read);
    return undefined;
  }
  return valued.find((each) => each === existing);
}

/** Returns the long names from a list such as `"uC --unset --chdir"`. */
function longNames(options = ""): string[] {
  return options.split(/ ?--/).slice(1);
}

function hasLetter(letter: string, options = ""): boolean {
  return /^[^ -]*/.exec(options)![0].includes(letter);
}

function readCluster(word: ShellWord, table: WrapperSyntax, read: ParsedOptions): string | undefined {
  const letters = [...word.value.slice(1)];
  // `nice -5` is a number and not a cluster of options.
  if (letters.every((letter) => /\d/.test(letter))) return undefined;
  for (const [index, letter] of letters.entries()) {
    if (hasLetter(letter, table.values)) {
      const rest = letters.slice(index + 1).join("");
      if (rest === "") return letter;
      keepValue(letter, { ...word, value: rest }, read);
      return undefined;
    }
    if (table.attached?.includes(letter)) return undefined;
    if (!hasLetter(letter, table.flags)) {
      read.isUnsure = true;
      return undefined;
    }
  }
  return undefined;
}

/**
 * Options to look for: short letters, long names, or whole words. `values` lists other letters that take a value, which ends a cluster.
 * With `alone`, short options are not clustered.
 */
export type OptionNames = { short?: string; long?: readonly string[]; exact?: RegExp; values?: string; alone?: true };

/** Returns the listed letter that a word contains, even if it may be in the value of an unknown option. */
export function shortIn(value: string, { short, values, alone }: OptionNames): string | undefined {
  if (!short || !/^-[a-zA-Z0-9]/.test(value)) return undefined;
  for (const letter of alone ? value.slice(1, 2) : value.slice(1)) {
    if (short.includes(letter)) return `-${letter}`;
    if (values?.includes(letter)) return undefined;
  }
  return undefined;
}

/** Matches abbreviated long options, because programs accept them. */
export function longIn(value: string, names: readonly string[] | undefined): string | undefined {
  const [, name] = /^--([^=]+)/s.exec(value) ?? [];
  const found = name && names?.find((each) => each.startsWith(name));
  return found && `--${found}`;
}

/** Returns a listed option and its value, which is attached, after an equals sign, or the next word. Undefined for other words. */
export function optionValue(
  value: string,
  next: ShellWord | undefined,
  options: OptionNames,
): { name: string; word: ShellWord | undefined } | undefined {
  if (options.exact?.test(value)) return { name: value, word: next };
  const letter = shortIn(value, options);
  if (letter) {
    const rest = value.slice(value.indexOf(letter[1]!, 1) + 1);
    return { name: letter, word: rest === "" ? next : attachedWord(rest.replace(/^=/, "")) };
  }
  const name = longIn(value, options.long);
  if (!name) return undefined;
  const equals = value.indexOf("=");
  return { name, word: equals === -1 ? next : attachedWord(value.slice(equals + 1)) };
}

function attachedWord(text: string): ShellWord {
  return { text, value: text, dynamic: /[$`]/.test(text), glob: /[*?[]/.test(text), tilde: text.startsWith("~") };
}

/** Returns the values of the listed options. */
export function valuesOf(args: readonly ShellWord[], options: OptionNames): ShellWord[] {
  const found: ShellWord[] = [];
  for (const [index, arg] of args.entries()) {
    if (arg.value === "--") break;
    const value = optionValue(arg.value, args[index + 1], options)?.word;
    const origin = value?.origin ?? arg.origin;
    if (value) found.push(origin ? { ...value, origin } : value);
    // `--output=${x:-file}`: adds the alternatives it may expand to.
    for (const other of arg.others ?? []) {
      const named = optionValue(other.value, undefined, options)?.word;
      if (named) found.push(named);
    }
  }
  return found;
}

/** Returns the words that are neither options nor their values. */
export function operandsOf(args: readonly ShellWord[], options: OptionNames = {}): ShellWord[] {
  const end = args.findIndex((arg) => arg.value === "--");
  const mixed = end === -1 ? args : args.slice(0, end);
  const isValue = (arg: ShellWord, before: ShellWord | undefined) =>
    before !== undefined && optionValue(before.value, arg, options)?.word === arg;
  return [
    ...mixed.filter((arg, at) => !isOption(arg) && !isValue(arg, mixed[at - 1])),
    ...args.slice(mixed.length + 1),
  ];
}
