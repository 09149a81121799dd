// Finds options and subcommands of git that run programs or read settings from elsewhere.

import type { ShellWord } from "../parse/shell-word.ts";
import { list, own, words } from "./command-names.ts";
import type { DangerousArgument } from "./dangerous-options.ts";
import { longIn, shortIn } from "./read-options.ts";

/** Matches git options that precede the subcommand. */
const globalOption =
  /^(-c|--config-env|--exec-path=.*|--git-dir|--work-tree|--namespace|--super-prefix|--attr-source)(=|$)/s;
const globalValues = words("-C -c --config-env --git-dir --work-tree --namespace --super-prefix --attr-source");

const longOptions = list(
  "upload-pack receive-pack exec open-files-in-pager ext-diff template config separate-git-dir unsafe-paths",
);
const programs = words(`
  difftool mergetool filter-branch daemon hook instaweb send-email credential credential-store credential-cache
  remote-ext remote-fd fast-import fast-export update-git-for-windows web--browse sh-i18n upload-pack receive-pack
  shell maintenance cvsimport cvsserver svn p4 gui citool http-backend imap-send merge-index`);
/** For each subcommand, the word after which the rest is a command. */
const commandAfter: Record<string, string> = { bisect: "run", submodule: "foreach", "submodule--helper": "foreach" };
const shortOptions: Record<string, string> = { clone: "uc", "ls-remote": "u", grep: "O", rebase: "x" };

/** Returns the index of the subcommand, or -1. */
export function subcommandAt(args: readonly ShellWord[]): number {
  return args.findIndex((arg, index) => !arg.value.startsWith("-") && !globalValues.has(args[index - 1]?.value ?? ""));
}

export function dangerousGit(args: readonly ShellWord[]): DangerousArgument[] {
  const found: DangerousArgument[] = [];
  const add = (name: string, at: number) => found.push({ name, text: args[at]!.value, at });
  const at = subcommandAt(args);
  for (const [index, { value }] of (at === -1 ? args : args.slice(0, at)).entries()) {
    const option = globalOption.exec(value);
    if (option) add(option[1]!.replace(/=.*$/s, ""), index);
  }
  if (at === -1) return found;
  const sub = args[at]!.value;
  const rest = args.slice(at + 1);
  if (programs.has(sub) || (sub === "config" && !onlyReadsConfig(rest))) add(sub, at);
  const end = rest.findIndex((arg) => arg.value === "--");
  for (const [index, { value }] of rest.entries()) {
    // The ext and fd transports run a command; they may also be in an operand.
    const transport = /^(?:--[\w-]+=)?(ext|fd)::/.exec(value)?.[1];
    const name = transport ?? (end === -1 || index < end ? dangerousWord(value, sub) : undefined);
    if (name) add(name, at + 1 + index);
  }
  return found;
}

function dangerousWord(value: string, sub: string): string | undefined {
  if (value === own(commandAfter, sub)) return value;
  // For `commit`, this is the template of the message.
  if (sub === "commit" && value.startsWith("--template")) return undefined;
  const short = own(shortOptions, sub);
  return longIn(value, longOptions) ?? (short && shortIn(value, { short }));
}

/** Matches options with which `git config` changes no setting. */
const configReaders = /^(--get|--get-all|--get-regexp|--get-urlmatch|--get-color|--get-colorbool|--list|-l)$/;
/** Options for where to look and what to show; they decide neither reading nor writing. */
const configPlaces =
  /^(--(global|system|local|worktree|show-origin|show-scope|null|includes|no-includes|bool|int|path)|--(file|type)=.*|-z)$/s;
const configValues = words("-f --file --blob --type --default");

/** `git config a.b` reads a setting, `git config a.b c` changes it. Options end at the first operand. */
export function onlyReadsConfig(args: readonly ShellWord[]): boolean {
  const isValue = (at: number) => configValues.has(args[at - 1]?.value ?? "");
  const first = args.findIndex((arg, at) => !arg.value.startsWith("-") && !isValue(at));
  const options = (first === -1 ? args : args.slice(0, first)).filter((_, at) => !isValue(at));
  if (options.some((arg) => configReaders.test(arg.value))) return true;
  const operand = args[first];
  if (!operand || !options.every((arg) => configPlaces.test(arg.value) || configValues.has(arg.value))) return false;
  if (/^(get|list)$/.test(operand.value)) return true;
  return first === args.length - 1 && !operand.dynamic && operand.value.includes(".");
}
