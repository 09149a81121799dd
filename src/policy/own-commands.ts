// Finds commands of Courser itself that change what the agent may do. Only the user may run them, never the agent on its own.

import { resolve } from "node:path";
import { joinConcatenations } from "./files/named-files.ts";
import type { ShellWord } from "./parse/shell.ts";
import { literalWord } from "./parse/shell-word.ts";
import { readTextUpTo, realOrSame } from "./paths.ts";
import { quotedTexts } from "./programs/code-files.ts";
import { each, own, words } from "./programs/command-names.ts";
import { baseName, isInterpreter, type ProgramStart } from "./starts/wrappers.ts";

/** The names that Courser is installed under, its file and its package. */
const programs = words("courser cursor-agent agent courser.cjs courser.js courser-agent");

/** Subcommands that change settings for later runs; `*` means all of them. */
const changing: Record<string, ReadonlySet<string> | "*"> = {
  config: words("set unset edit"),
  permissions: words("allow deny remove"),
  trust: words("add"),
  sandbox: words("enable disable reset"),
  mcp: words("enable disable add remove"),
  ...each("login logout install uninstall update upgrade install-shell-integration uninstall-shell-integration", "*"),
};

/** Matches flags that give a run more permissions than its caller has. */
const widening =
  /^(--(force|yolo|trust|approve-mcps?|mcp-config|hooks|ask-command|auto-review|sandbox|add-dir)(=.*)?|-[a-zA-Z]*f[a-zA-Z]*)$/s;

/** Returns a sentence for each such command that a line would start. No rule covers them: not Shell(courser), not Shell(**). */
export function ownCommands(runs: readonly ProgramStart[], directories: readonly string[] = []): string[] {
  const reasons = new Set<string>();
  for (const run of runs) {
    const args = ownArguments(run, directories);
    const found = args && changeIn(args);
    if (found) reasons.add(`${baseName(run.name.value)} ${found} changes what the agent may do: only you may run it.`);
  }
  return [...reasons];
}

/** Returns Courser's arguments, or undefined for other programs. `node dist/courser.cjs …` counts as Courser too. */
function ownArguments({ name, args }: ProgramStart, directories: readonly string[]): readonly ShellWord[] | undefined {
  if (isOwn(name, directories)) return args;
  if (!isInterpreter(name.value)) return undefined;
  const at = args.findIndex((arg) => isOwn(arg, directories));
  if (at !== -1) return args.slice(at + 1);
  // Code that loads Courser passes its arguments as quoted texts.
  const quoted = args.flatMap((arg) => quotedTexts(joinConcatenations(arg.value)).map(literalWord));
  const isLoaded = quoted.some(({ value }) => /cour|curs/i.test(value) && isOwn(literalWord(value), []));
  return isLoaded ? [...quoted, ...args.filter((arg) => !/["'`]/.test(arg.value))] : undefined;
}

/** Recognises Courser by its name, by a link to it, or by a copy of its file. */
function isOwn({ value }: ShellWord, directories: readonly string[]): boolean {
  if (programs.has(baseName(value).toLowerCase())) return true;
  if (!/[/.]/.test(value)) return false;
  return directories.some((directory) => {
    const path = realOrSame(resolve(directory, value));
    return programs.has(baseName(path).toLowerCase()) || ownFile.test(readTextUpTo(path, longestEntry));
  });
}

/** Matches `cli/boot.ts` and the wrapper scripts that package managers install for it. */
const ownFile = /COURSER_CODE_CACHE|dist[\\/]courser\.cjs/;
const longestEntry = 8192;

function changeIn(args: readonly ShellWord[]): string | undefined {
  for (const [index, { value, dynamic, glob }] of args.entries()) {
    // A word that only the shell can expand may be any subcommand.
    if (dynamic || glob) return "with arguments that are not known in advance";
    if (widening.test(value)) return value;
    const subcommands = own(changing, value);
    if (subcommands === "*") return value;
    const next = subcommands && args.slice(index + 1).find((arg) => subcommands.has(arg.value));
    if (next) return `${value} ${next.value}`;
  }
  return undefined;
}
