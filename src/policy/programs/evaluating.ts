// Built-ins that evaluate what they are given as names and numbers, subscripts included: `declare -i n='a[$(x)]'`.

import type { Invocation, ShellWord } from "../parse/shell-word.ts";
import { words } from "./command-names.ts";

const evaluating = words(`
  let declare typeset local readonly export unset read printf test [ mapfile readarray getopts wait compgen complete`);

export function isMade(word: ShellWord | undefined): boolean {
  return word?.dynamic === true && word.origin === "made";
}

export function hidesCode({ name, args }: Invocation): boolean {
  if (!evaluating.has(name.value)) return false;
  const onlyByOption = name.value === "printf" || name.value === "test" || name.value === "[";
  if (onlyByOption && !args.some((arg) => /^-[vR]/.test(arg.value))) return false;
  return args.some((arg) => (arg.dynamic ? isMade(arg) : /[$`]/.test(arg.value)));
}
