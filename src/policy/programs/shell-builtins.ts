// What is known about the shell's own commands and variables, and about folders that programs are told to work in.

import type { CommandWords, ShellWord } from "../parse/shell-word.ts";
import { baseName, each, own, words } from "./command-names.ts";
import { type OptionNames, valuesOf } from "./read-options.ts";

/** Built-ins that change the shell itself: what later words mean. No rule for another command implies them. */
export const stateChangers = words(`
  eval source . export declare typeset local readonly alias unalias trap exec set shopt enable hash let
  mapfile readarray read unset getopts builtin complete compgen compopt bind ulimit umask history fc dirs popd
  wait disown suspend caller shift`);

/** Built-ins that only say where the line goes on. */
export const controlFlow = words("break continue exit return");

/** Variables that change only how output looks. */
export const harmlessVariables = /^(LANG|LC_[A-Z]+|TZ|NO_COLOR|CI|TERM|COLUMNS)$/;

export const directoryChangers = words("cd pushd chdir");

/** Options whose value is the folder that the command works in. */
const folderOptions: Record<string, OptionNames> = {
  ...each("git cargo go ninja", { short: "C" }),
  ...each("make poetry", { short: "C", long: ["directory"] }),
  npm: { short: "C", long: ["prefix"] },
  pnpm: { short: "C", long: ["dir", "prefix"] },
  ...each("yarn bun", { long: ["cwd"] }),
  uv: { long: ["directory", "project"] },
  cmake: { short: "B" },
};

/** Folders that a command is told to work in. */
export function foldersOf({ name, args }: CommandWords): ShellWord[] {
  const options = own(folderOptions, baseName(name.value));
  return options ? valuesOf(args, options) : [];
}
