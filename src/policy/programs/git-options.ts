// Options and subcommands of git that run programs or read settings from elsewhere.

import type { ShellWord } from "../parse/shell-word.ts";
import { own, words } from "./command-names.ts";
import type { DangerousArgument } from "./dangerous-options.ts";
import { longIn, shortIn } from "./read-options.ts";

/** Before the subcommand. */
const globalOption =
  /^(-c|--config-env|--exec-path=.*|--git-dir|--work-tree|--namespace|--super-prefix|--attr-source)(=|$)/s;
const globalValues = words("-C -c --config-env --git-dir --work-tree --namespace --super-prefix --attr-source");

const longOptions = [
  "upload-pack",
  "receive-pack",
  "exec",
  "open-files-in-pager",
  "ext-diff",
  "template",
  "config",
  "separate-git-dir",
  "unsafe-paths",
];
const programs = words(`
  difftool mergetool filter-branch daemon hook instaweb send-email credential credential-store credential-cache
  remote-ext remote-fd fast-import fast-export update-git-for-windows web--browse sh-i18n upload-pack receive-pack
  shell maintenance cvsimport cvsserver svn p4 gui citool http-backend imap-send`);
const configReaders =
  /^(--get|--get-all|--get-regexp|--list|-l|get|list|--show-origin|--show-scope|--get-urlmatch|--get-color|--get-colorbool|--name-only)$/;
const shortOptions: Record<string, string> = { clone: "uc", "ls-remote": "u", grep: "O", rebase: "x" };
/** Harmless where the option means something else. */
const harmless: Record<string, RegExp> = { commit: /^--template/ };

/** Where the subcommand stands; -1 where there is none. */
export function subcommandAt(args: readonly ShellWord[]): number {
  return args.findIndex((arg, index) => !arg.value.startsWith("-") && !globalValues.has(args[index - 1]?.value ?? ""));
}

export function dangerousGit(args: readonly ShellWord[]): DangerousArgument[] {
  const found: DangerousArgument[] = [];
  const add = (name: string, at: number) => found.push({ name, text: args[at]!.value, at });
  const at = subcommandAt(args);
  const end = at === -1 ? args.length : at;
  for (let index = 0; index < end; index++) {
    const option = globalOption.exec(args[index]!.value);
    if (option) add(option[1]!.replace(/=.*$/s, ""), index);
  }
  if (at === -1) return found;
  const sub = args[at]!.value;
  const rest = args.slice(at + 1);
  if (programs.has(sub)) add(sub, at);
  if (sub === "config" && !rest.some((arg) => configReaders.test(arg.value))) add(sub, at);
  const first = rest.findIndex((arg) => !arg.value.startsWith("-"));
  const action = rest[first]?.value;
  if ((sub === "bisect" && action === "run") || (sub === "submodule" && action === "foreach"))
    add(action!, at + 1 + first);
  if (sub === "submodule" && rest.some((arg) => arg.value === "foreach")) add("foreach", at);
  const short = own(shortOptions, sub);
  for (const [index, { value }] of rest.entries()) {
    if (value === "--") break;
    if (own(harmless, sub)?.test(value)) continue;
    // A transport that is a command.
    if (/^(ext|fd)::/.test(value)) add(value.slice(0, value.indexOf(":")), at + 1 + index);
    const name = longIn(value, longOptions) ?? shortIn(value, short ? { short } : {});
    if (name) add(name, at + 1 + index);
  }
  return found;
}
