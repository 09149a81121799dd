// Identifies programs by name: base names, shells and interpreters. Shared by all parts of the shell analysis.
import { list, words } from "../../text/words.ts";
import type { ShellWord } from "../parse/shell-word.ts";

export { each, list, words } from "../../text/words.ts";

const shells = words("sh bash zsh dash ksh mksh ash fish rbash csh tcsh posh yash xonsh nu");
const interpreters =
  /^(python[\d.]*|pypy3?|ipython3?|perl|ruby|irb|node|nodejs|deno|bun|tsx|ts-node|php|lua[\d.]*|luajit|tclsh|wish|expect|osascript|pwsh|powershell|Rscript|R|octave|gnuplot|groovy|scala|jshell|ghci|erl|iex|m4|dc|ed|ex|gdb|lldb|sqlite3|psql|mysql|julia|elixir|ghc|raku|racket|guile|sbcl|clojure|swipl)$/;

export function baseName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

export function isShell(name: string): boolean {
  return shells.has(baseName(name));
}

export function isInterpreter(name: string): boolean {
  return interpreters.test(baseName(name));
}

/** Ignores inherited properties: a command may be named `constructor`. */
export function own<T>(table: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

const moduleOption = /^-[BEIOPRSVbdhiqstuvx]*m/;
/** Returns the module that Python runs, with the words before and after it: `-m pytest`, `-mpytest`, `-Im pytest`. */
export function moduleOf(base: string, args: readonly ShellWord[]) {
  const isScript = ({ value, dynamic }: ShellWord, at: number) =>
    !dynamic && !value.startsWith("-") && !/^(-[a-zA-Z]*[XW]|--check.*)$/.test(args[at - 1]?.value ?? "");
  const script = args.findIndex(isScript);
  const isModule = (value: string, at: number) => moduleOption.test(value) && (script === -1 || at < script);
  const at = args.findIndex(({ value }, index) => value === "-m" || isModule(value, index));
  if (at === -1 || !/^python/.test(base)) return undefined;
  const attached = args[at]!.value.replace(moduleOption, "");
  const [module, ...rest] = attached ? [{ ...args[at]!, value: attached }, ...args.slice(at + 1)] : args.slice(at + 1);
  return module && { before: args.slice(0, at), module, rest };
}

/** Programs that take the same options, under the first of their names. */
const sameOptions = `
  python pypy ipython, vim vi nvim ex view vimdiff rview, node nodejs, make gmake, gcc cc g++ c++ clang clang++, find gfind,
  sort gsort, tar gtar bsdtar, lua luajit, zip zipcloak, test [, docker podman, pwsh powershell, nc ncat netcat,
  gradle gradlew, ruby irb pry, rpm rpmquery rpmverify rpmdb, pytest py.test`;
const otherNames = Object.fromEntries(
  sameOptions.split(",").flatMap((group) => list(group).map((name, _, [first]) => [name, first!])),
);

/** Returns the name under which tables list a program's options: `python3.12` is python. */
export function programOf(base: string): string {
  const plain = base.replace(/(?<=^(i?python|pypy|pip|lua|perl|ruby|php|node))[\d.]+$/, "");
  return own(otherNames, plain) ?? plain;
}
