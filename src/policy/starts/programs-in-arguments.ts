// Finds programs that arguments may name, because an unknown program may start them. Only for deny rules.
import type { Rule } from "../../protocol/permission-rule.ts";
import type { ShellWord } from "../parse/shell-word.ts";
import { quotedTexts } from "../programs/code-files.ts";
import { baseName, each, isInterpreter, isShell, own } from "../programs/command-names.ts";
import { inlineCode } from "../programs/executing-options.ts";
import { otherLanguages, startsNothing } from "../programs/program-kinds.ts";
import { runners, wrappers } from "../programs/wrapper-table.ts";
import { deniesCommand, programIn } from "../rules.ts";
import type { ProgramStart } from "./started-programs.ts";

/** Programs that start a command in a container, on another machine or in another environment, with the subcommands that do. */
const starters: Record<string, RegExp | undefined> = {
  ...each("docker podman nerdctl", /^(run|exec|create|unshare)$/),
  ...each("docker-compose podman-compose", /^(run|exec)$/),
  kubectl: /^(exec|run|debug)$/,
  oc: /^(exec|run|debug|rsh)$/,
  lxc: /^exec$/,
  ...each("machinectl adb", /^shell$/),
  ...each("flatpak toolbox", /^run$/),
  distrobox: /^enter$/,
  ...each("vagrant gcloud", /^ssh$/),
  nix: /^(shell|develop|run)$/,
  ...each(
    `ssh rsh mosh sshpass autossh wsl lxc-attach pssh parallel-ssh pdsh dsh ansible salt fab chokidar watchman-make nix-shell
    guix gpg-agent socat nc ncat netcat xterm gnome-terminal konsole x-terminal-emulator alacritty kitty lldb ninja bind
    lftp ftp pwsh powershell`,
    undefined,
  ),
};

/** Programs that start commands on another machine, whose files are not those here. */
const elsewhere =
  /^(ssh|rsh|mosh|sshpass|autossh|pssh|parallel-ssh|pdsh|dsh|ansible|salt|fab|kubectl|oc|adb|vagrant|gcloud|machinectl)$/;

/** Returns whether the arguments refer to files of another machine. */
export function runsElsewhere(name: string, args: readonly ShellWord[]): boolean {
  if (!elsewhere.test(name)) return false;
  const after = own(starters, name);
  return after === undefined || args.some((arg) => after.test(arg.value));
}

/** Returns whether it runs texts as commands on this machine, or in a container that may mount its folders. */
export function takesCommands(name: string): boolean {
  return Object.hasOwn(starters, name) && !elsewhere.test(name);
}

/** A denied program among the arguments of another. `isSure` means that starting it is that program's purpose. */
export type NamedProgram = { rule: Rule; name: string; by: string; isSure: boolean };

export function programsInArguments(run: ProgramStart, denying: readonly Rule[]): NamedProgram[] {
  const by = baseName(run.name.value);
  const isStarter = Object.hasOwn(starters, by);
  const script = scriptName(by, run.args);
  if (script)
    return denying.flatMap((rule) =>
      deniesCommand(rule, script) ? [{ rule, name: script.name, by, isSure: false }] : [],
    );
  if (!isStarter && (startsNothing(by) || own(runners, by) !== undefined)) return [];
  // Wrappers are followed elsewhere; a shell or interpreter runs its script, which gets the other arguments.
  if (!isStarter && own(wrappers, by) !== undefined) return [];
  const isScripted = !isStarter && (isShell(by) || isInterpreter(by));
  // Code in other languages is judged where it is read.
  const code = isScripted
    ? new Set([...inlineCode(run), ...shellScript(by, run)].map((word) => word.value))
    : undefined;
  const args = run.args.map((arg) => arg.value).filter((value) => !code?.has(value));
  const after = starters[by];
  const from = isStarter && after ? args.findIndex((arg) => after.test(arg)) + 1 : 0;
  if (isStarter && after && from === 0) return [];
  const texts = [...args.slice(from), ...(isScripted ? [] : bodiesOf(run))];
  return denying.flatMap((rule) => {
    const hit = deniedNameIn(rule, texts);
    return hit ? [{ rule, name: hit, by, isSure: isStarter }] : [];
  });
}

/** Finds denied programs in a code file that this run wrote, where any quoted text may be a program that it starts. */
export function programsInCode({ text, by }: { text: string; by: string }, denying: readonly Rule[]): NamedProgram[] {
  const texts = otherLanguages.has(by) ? [text] : quotedTexts(text);
  return denying.flatMap((rule) => {
    const name = deniedNameIn(rule, texts);
    return name ? [{ rule, name, by, isSure: false }] : [];
  });
}

/** `bun run rm`, `yarn rm`: a name that is not a script of the package is a program. */
function scriptName(by: string, args: readonly ShellWord[]): { name: string; args: string[] } | undefined {
  if (!/^(npm|pnpm|yarn|bun)$/.test(by)) return undefined;
  const words = args.map((arg) => arg.value);
  const from = words.findIndex((word) => /^(run|run-script)$/.test(word)) + 1;
  const at = from > 0 || by === "yarn" ? words.findIndex((word, index) => index >= from && !/^-./.test(word)) : -1;
  if (at === -1 || own(runners, by)?.includes(words[at]!)) return undefined;
  return { name: words[at]!, args: words.slice(at + 1) };
}

/** Returns the argument of `-c`, which is parsed as a script. */
function shellScript(by: string, { args }: ProgramStart): ShellWord[] {
  const at = isShell(by) ? args.findIndex((arg) => /^-[a-zA-Z]*c/.test(arg.value)) : -1;
  const text = at === -1 ? undefined : args.slice(at + 1).find((arg) => /\s/.test(arg.value));
  return text ? [text] : [];
}

function bodiesOf({ command }: ProgramStart): string[] {
  return command.redirects.flatMap(({ direction, body }) => (direction === "text" && body ? [body] : []));
}

/** Matches where a command may begin in a text: at its start, after an operator, quote or bracket, or after a word such as `exec`. */
const begins =
  /(?<=^|[!|;&({"'`:=%<>,[#] ?|\b(?:shell|spawn|exec|system|run|sudo|env|command|eval|call|start|then|do|else) )((?:[\w.+-]*\/)*[\w.+-]+)(?=((?:[ \t]+[^\s;|&)}"'`]+){0,20}))/g;

/** Returns the program that the rule denies, if a text names it where a command could begin or as a whole word. */
function deniedNameIn(rule: Rule, texts: readonly string[]): string | undefined {
  const wanted = programIn(rule)?.replace(/^.*\//s, "").toLowerCase();
  for (const [at, text] of texts.entries()) {
    if (wanted !== undefined && !text.toLowerCase().includes(wanted)) continue;
    if (/^[\w.+/-]+$/.test(text)) {
      if (deniesCommand(rule, { name: text, args: texts.slice(at + 1, at + 20) })) return text;
      continue;
    }
    // The lookbehind over long runs of spaces would be too slow.
    for (const [, name, rest] of text.replaceAll("\n", ";").replace(/\s+/g, " ").trim().matchAll(begins))
      if (deniesCommand(rule, { name: name!, args: rest!.split(/\s+/).filter(Boolean) })) return name;
  }
  return undefined;
}
