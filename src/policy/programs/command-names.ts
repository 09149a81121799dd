// Identifies programs by name: base names, shells and interpreters. Shared by all parts of the shell analysis.
import { each, words } from "../../text/words.ts";

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

/** Maps each alias to the program that it stands for. */
export function otherNames(namesOf: Record<string, string>): Record<string, string> {
  return Object.assign({}, ...Object.entries(namesOf).map(([program, names]) => each(names, program)));
}

/** Ignores inherited properties: a command may be named `constructor`. */
export function own<T>(table: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
