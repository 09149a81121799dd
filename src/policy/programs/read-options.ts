// The options of a command, as getopt reads them: clusters, attached values, long names that may be shortened.
import type { ShellWord } from "../parse/shell-word.ts";
import type { WrapperSyntax } from "./wrapper-table.ts";

export function isOption(word: ShellWord): boolean {
  return word.value.startsWith("-") && word.value.length > 1;
}

export type ParsedOptions = {
  operands: ShellWord[];
  values: Map<string, ShellWord>;
  /** The values of options that were given again. */
  replaced: ShellWord[];
  /** An option stands there that may or may not have a value. */
  isUnsure: boolean;
};

/** The words after the options, or between them where they may be mixed. */
export function parseOptions(args: readonly ShellWord[], table: WrapperSyntax): ParsedOptions {
  const read: ParsedOptions = { operands: [], values: new Map(), replaced: [], isUnsure: false };
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    if (word.value === "--") {
      read.operands.push(...args.slice(at + 1));
      break;
    }
    if (!isOption(word)) {
      // A lone dash is an option to some.
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

/** The name of the option whose value is the next word. */
function readLong(word: ShellWord, table: WrapperSyntax, read: ParsedOptions): string | undefined {
  const [, name = "", given, value] = /^--([^=]*)(=(.*))?$/s.exec(word.value) ?? [];
  const fitting = [...(table.longValues ?? []), ...(table.longFlags ?? [])].filter((each) => each.startsWith(name));
  const known = fitting.find((each) => each === name) ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (known === undefined) read.isUnsure = true;
  if (given !== undefined) {
    keepValue(known ?? name, { ...word, value: value! }, read);
    return undefined;
  }
  return table.longValues?.find((each) => each === known);
}

function readCluster(word: ShellWord, table: WrapperSyntax, read: ParsedOptions): string | undefined {
  const letters = [...word.value.slice(1)];
  // `nice -5`
  if (letters.every((letter) => /\d/.test(letter))) return undefined;
  for (const [index, letter] of letters.entries()) {
    if (table.values?.includes(letter)) {
      const rest = letters.slice(index + 1).join("");
      if (rest === "") return letter;
      keepValue(letter, { ...word, value: rest }, read);
      return undefined;
    }
    if (table.attached?.includes(letter)) return undefined;
    if (!table.flags?.includes(letter)) {
      read.isUnsure = true;
      return undefined;
    }
  }
  return undefined;
}

/**
 * Options to look for: short letters, long names, or whole words. `values`: other letters that have a value, which ends
 * a cluster. `alone`: short options are not clustered.
 */
export type OptionNames = { short?: string; long?: readonly string[]; exact?: RegExp; values?: string; alone?: true };

/** The letter of a list that a word holds. That it may stand in the value of an unknown option makes no difference. */
export function shortIn(value: string, { short, values, alone }: OptionNames): string | undefined {
  if (!short || !/^-[a-zA-Z0-9]/.test(value)) return undefined;
  for (const letter of alone ? value.slice(1, 2) : value.slice(1)) {
    if (short.includes(letter)) return `-${letter}`;
    if (values?.includes(letter)) return undefined;
  }
  return undefined;
}

/** Programs take long options shortened; so must we. */
export function longIn(value: string, names: readonly string[] | undefined): string | undefined {
  const [, name] = /^--([^=]+)/s.exec(value) ?? [];
  const found = name && names?.find((each) => each.startsWith(name));
  return found && `--${found}`;
}

/** An option of the list and its value: attached, after an equals sign, or the next word. Undefined for other words. */
export function optionValue(
  value: string,
  next: ShellWord | undefined,
  options: OptionNames,
): { name: string; word: ShellWord | undefined } | undefined {
  if (options.exact?.test(value)) return { name: value, word: next };
  const letter = shortIn(value, options);
  if (letter) {
    const rest = value.slice(value.indexOf(letter[1]!, 1) + 1);
    return { name: letter, word: rest === "" ? next : attached(rest.replace(/^=/, "")) };
  }
  const name = longIn(value, options.long);
  if (!name) return undefined;
  const equals = value.indexOf("=");
  return { name, word: equals === -1 ? next : attached(value.slice(equals + 1)) };
}

function attached(text: string): ShellWord {
  return { text, value: text, dynamic: /[$`]/.test(text), glob: /[*?[]/.test(text), tilde: text.startsWith("~") };
}

/** The values of the options in the list. */
export function valuesOf(args: readonly ShellWord[], options: OptionNames): ShellWord[] {
  const found: ShellWord[] = [];
  for (const [index, arg] of args.entries()) {
    if (arg.value === "--") break;
    const value = optionValue(arg.value, args[index + 1], options)?.word;
    const origin = value?.origin ?? arg.origin;
    if (value) found.push(origin ? { ...value, origin } : value);
    // `--output=${x:-file}`: the words that it may become.
    for (const other of arg.others ?? []) {
      const named = optionValue(other.value, undefined, options)?.word;
      if (named) found.push(named);
    }
  }
  return found;
}

/** The words that are neither options nor values of these. */
export function operands(args: readonly ShellWord[], options: OptionNames = {}): ShellWord[] {
  const end = args.findIndex((arg) => arg.value === "--");
  const mixed = end === -1 ? args : args.slice(0, end);
  const isValue = (arg: ShellWord, before: ShellWord | undefined) =>
    before !== undefined && optionValue(before.value, arg, options)?.word === arg;
  return [
    ...mixed.filter((arg, at) => !isOption(arg) && !isValue(arg, mixed[at - 1])),
    ...args.slice(mixed.length + 1),
  ];
}
