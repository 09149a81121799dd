// Describes the shell's built-ins and variables, and options that set a program's working folder.

import type { CommandWords, ShellWord } from "../parse/shell-word.ts";
import { baseName, each, own, words } from "./command-names.ts";
import { startingPoints } from "./find-arguments.ts";
import { type OptionNames, operandsOf, valuesOf } from "./read-options.ts";

/** Built-ins that change the shell itself, and so what later words mean. No rule for another command implies them. */
export const stateChangers = words(`
  eval source . export declare typeset local readonly alias unalias trap exec set shopt enable hash let
  mapfile readarray read unset getopts builtin complete compgen compopt bind ulimit umask history fc dirs popd
  wait disown suspend caller shift`);

/** Built-ins that redefine a name, so that later words of the line do not mean what they say. */
export const renamers = words("alias hash enable");

/** Built-ins that only control which command of the line is next. */
export const controlFlow = words("break continue exit return");

/** Matches variables that only change the look of output. */
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

/** Returns the folders that options tell a command to work in. */
export function foldersOf({ name, args }: CommandWords): ShellWord[] {
  const base = baseName(name.value);
  // -execdir and -okdir run the command in the folder of each match, below the starting points.
  if (/^g?find$/.test(base) && args.some((arg) => /^-(exec|ok)dir$/.test(arg.value))) return [...startingPoints(args)];
  const options = own(folderOptions, base);
  return options ? valuesOf(args, options) : [];
}

/** Built-ins that evaluate arguments as names and numbers, subscripts included: `declare -i n='a[$(x)]'`. */
const evaluating = words("declare typeset local readonly export unset read printf test [ getopts wait");
const declaring = words("declare typeset local");

export function isMade(word: ShellWord | undefined): boolean {
  return word?.origin === "made";
}

export function hidesCode({ name, args }: CommandWords): boolean {
  if (!evaluating.has(name.value)) return false;
  // A reference to an array element is evaluated wherever it is used: `declare -n r; r='a[$(x)]'`.
  if (declaring.has(name.value) && args.some((arg) => /^-[a-zA-Z]*n/.test(arg.value))) return true;
  const onlyByOption = name.value === "printf" || name.value === "test" || name.value === "[";
  if (onlyByOption && !args.some((arg) => /^-[vR]/.test(arg.value))) return false;
  // `export PATH="$x:$PATH"`: the assigned value is not evaluated again.
  const isPlain = /^(export|readonly)$/.test(name.value) && !args.some((arg) => arg.value.startsWith("-"));
  const evaluated = args.filter((arg) => !(isPlain && arg.dynamic && /^\w+=/.test(arg.value)));
  return evaluated.some((arg) => (arg.dynamic ? isMade(arg) : /[$`]/.test(arg.value)));
}

/** Returns words evaluated as arithmetic, which also evaluates the values of the variables they name. */
export function computedWords({ name, args }: CommandWords): readonly ShellWord[] {
  if (name.value === "let") return args;
  return declaring.has(name.value) && args.some((arg) => /^-[a-zA-Z]*i/.test(arg.value)) ? operandsOf(args) : [];
}
