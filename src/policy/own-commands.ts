// Commands of this program that change what the agent may do. A person types them; the agent never gets to by itself.

import { resolve } from "node:path";
import { joined } from "./files/named-files.ts";
import type { ShellWord } from "./parse/shell.ts";
import { literalWord } from "./parse/shell-word.ts";
import { realOrSame, textOf } from "./paths.ts";
import { quotedTexts } from "./programs/code-files.ts";
import { each, own, words } from "./programs/command-names.ts";
import { baseName, isInterpreter, type ProgramStart } from "./starts/wrappers.ts";

/** The names it is installed under, and its file and package. */
const programs = words("courser cursor-agent agent courser.cjs courser.js courser-agent");

/** Subcommands that change something for later runs; `*`: all of them. */
const changing: Record<string, ReadonlySet<string> | "*"> = {
  config: words("set unset edit"),
  permissions: words("allow deny remove"),
  trust: words("add"),
  sandbox: words("enable disable reset"),
  mcp: words("enable disable add remove"),
  ...each("login logout install uninstall update upgrade install-shell-integration uninstall-shell-integration", "*"),
};

/** Flags that give a run more than its caller has. */
const widening =
  /^(--(force|yolo|trust|approve-mcps?|mcp-config|hooks|ask-command|auto-review|sandbox|add-dir)(=.*)?|-[a-zA-Z]*f[a-zA-Z]*)$/s;

/** A sentence for each such command among what a line would start. No rule covers them: not Shell(courser), not Shell(**). */
export function ownCommands(runs: readonly ProgramStart[], directories: readonly string[] = []): string[] {
  const reasons = new Set<string>();
  for (const run of runs) {
    const args = ownArguments(run, directories);
    const found = args && changeIn(args);
    if (found) reasons.add(`${baseName(run.name.value)} ${found} changes what the agent may do: only you may run it.`);
  }
  return [...reasons];
}

/** What the program is given; undefined for other programs. `node dist/courser.cjs …` is the program too. */
function ownArguments({ name, args }: ProgramStart, directories: readonly string[]): readonly ShellWord[] | undefined {
  if (isOwn(name, directories)) return args;
  if (!isInterpreter(name.value)) return undefined;
  const at = args.findIndex((arg) => isOwn(arg, directories));
  if (at !== -1) return args.slice(at + 1);
  // Code that loads it says what it is told in texts of its own.
  const told = args.flatMap((arg) => quotedTexts(joined(arg.value)).map(literalWord));
  const isLoaded = told.some(({ value }) => /cour|curs/i.test(value) && isOwn(literalWord(value), []));
  return isLoaded ? [...told, ...args.filter((arg) => !/["'`]/.test(arg.value))] : undefined;
}

/** By its name, by a link to it, or as a copy of its file. */
function isOwn({ value }: ShellWord, directories: readonly string[]): boolean {
  if (programs.has(baseName(value).toLowerCase())) return true;
  if (!/[/.]/.test(value)) return false;
  return directories.some((directory) => {
    const path = realOrSame(resolve(directory, value));
    return programs.has(baseName(path).toLowerCase()) || ownFile.test(textOf(path, longestEntry));
  });
}

/** `cli/boot.ts`, and the small scripts that package managers put in its place. */
const ownFile = /COURSER_CODE_CACHE|dist[\\/]courser\.cjs/;
const longestEntry = 8192;

function changeIn(args: readonly ShellWord[]): string | undefined {
  for (const [index, { value, dynamic, glob }] of args.entries()) {
    // What only the shell knows may be any of them.
    if (dynamic || glob) return "with arguments that are not known in advance";
    if (widening.test(value)) return value;
    const subcommands = own(changing, value);
    if (subcommands === "*") return value;
    const next = subcommands && args.slice(index + 1).find((arg) => subcommands.has(arg.value));
    if (next) return `${value} ${next.value}`;
  }
  return undefined;
}
