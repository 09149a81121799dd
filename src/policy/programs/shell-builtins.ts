// What is known about the shell's own commands and variables, and about folders that programs are told to work in.

import type { CommandWords, ShellWord } from "../parse/shell-word.ts";
import { baseName, each, own, words } from "./command-names.ts";
import { type OptionNames, operands, valuesOf } from "./read-options.ts";

/** Built-ins that change the shell itself: what later words mean. No rule for another command implies them. */
export const stateChangers = words(`
  eval source . export declare typeset local readonly alias unalias trap exec set shopt enable hash let
  mapfile readarray read unset getopts builtin complete compgen compopt bind ulimit umask history fc dirs popd
  wait disown suspend caller shift`);

/** Built-ins that give a name another meaning: later words of the line are not what they look like. */
export const renamers = words("alias hash enable");

/** Built-ins that only say where the line goes on. */
export const controlFlow = words("break continue exit return");

/** Variables that change only how output looks. */
export const harmlessVariables = /^(LANG|LC_[A-Z]+|TZ|NO_COLOR|CI|TERM|COLUMNS)$/;

export const directoryChangers = words("cd pushd chdir");

/** Options whose value is the folder that the command works in. */
const folderOptions: Record<string, OptionNames> = {
  ...each("git go ninja meson", { short: "C" }),
  cargo: { short: "C", long: ["manifest-path"] },
  mvn: { short: "f", long: ["file"], alone: true },
  ...each("gradle gradlew", { short: "p", long: ["project-dir"], alone: true }),
  tsc: { short: "p", long: ["project"], alone: true },
  composer: { short: "d", long: ["working-dir"], alone: true },
  dotnet: { long: ["project"] },
  docker: { long: ["project-directory"] },
  pytest: { long: ["rootdir"] },
  just: { short: "d", long: ["working-directory"], alone: true },
  ...each("make poetry", { short: "C", long: ["directory"] }),
  npm: { short: "C", long: ["prefix"] },
  pnpm: { short: "C", long: ["dir", "prefix"] },
  ...each("yarn bun", { long: ["cwd"] }),
  uv: { long: ["directory", "project"] },
  cmake: { short: "BS", alone: true },
  ...each("tar gtar bsdtar", { short: "C", values: "fbgHKLNTVXIF", long: ["directory"] }),
  unzip: { short: "d" },
};

/** Folders that a command is told to work in. */
export function foldersOf({ name, args }: CommandWords): ShellWord[] {
  const base = baseName(name.value);
  // What it runs is run where something was found: below where it looks.
  if (/^g?find$/.test(base) && args.some((arg) => /^-(exec|ok)dir$/.test(arg.value)))
    return args.slice(
      0,
      Math.max(
        0,
        args.findIndex((arg) => /^[-(!]/.test(arg.value)),
      ),
    );
  const options = own(folderOptions, base);
  return options ? valuesOf(args, options) : [];
}

/** They evaluate what they are given as names and numbers, subscripts included: `declare -i n='a[$(x)]'`. */
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
  // `export PATH="$x:$PATH"`: what is assigned is not evaluated once more.
  const isPlain = /^(export|readonly)$/.test(name.value) && !args.some((arg) => arg.value.startsWith("-"));
  const evaluated = args.filter((arg) => !(isPlain && arg.dynamic && /^\w+=/.test(arg.value)));
  return evaluated.some((arg) => (arg.dynamic ? isMade(arg) : /[$`]/.test(arg.value)));
}

/** Words that are evaluated as numbers, and with them what the variables hold that they name. */
export function computedWords({ name, args }: CommandWords): readonly ShellWord[] {
  if (name.value === "let") return args;
  return declaring.has(name.value) && args.some((arg) => /^-[a-zA-Z]*i/.test(arg.value)) ? operands(args) : [];
}
