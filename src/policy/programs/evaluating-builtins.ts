// Built-ins that evaluate what they are given as names and numbers, subscripts included: `declare -i n='a[$(x)]'`.

import type { CommandWords, ShellWord } from "../parse/shell-word.ts";
import { words } from "./command-names.ts";
import { operands } from "./read-options.ts";

const evaluating = words("declare typeset local readonly export unset read printf test [ getopts wait");
const declaring = words("declare typeset local");

export function isMade(word: ShellWord | undefined): boolean {
  return word?.origin === "made";
}

export function hidesCode({ name, args }: CommandWords): boolean {
  if (!evaluating.has(name.value)) return false;
  // A name for an element of a list is evaluated wherever it is used: `declare -n r; r='a[$(x)]'`.
  if (declaring.has(name.value) && args.some((arg) => /^-[a-zA-Z]*n/.test(arg.value))) return true;
  const onlyByOption = name.value === "printf" || name.value === "test" || name.value === "[";
  if (onlyByOption && !args.some((arg) => /^-[vR]/.test(arg.value))) return false;
  return args.some((arg) => (arg.dynamic ? isMade(arg) : /[$`]/.test(arg.value)));
}

/** Words that are evaluated as numbers, and with them what the variables hold that they name. */
export function computedWords({ name, args }: CommandWords): readonly ShellWord[] {
  if (name.value === "let") return args;
  return declaring.has(name.value) && args.some((arg) => /^-[a-zA-Z]*i/.test(arg.value)) ? operands(args) : [];
}
