// Finds what options would run: commands that they name, to check against deny rules, and code in other languages.

import type { CommandWords, ShellWord } from "../parse/shell-word.ts";
import { baseName, isInterpreter, words } from "./command-names.ts";
import { type DangerousArgument, dangerousArguments } from "./dangerous-options.ts";

/** Programs with options that contain shell commands or names of programs. */
const hosts = words(`
  git tar gtar bsdtar cpio split ssh scp sftp rsync man zip sort gsort rg ag ack gcc cc g++ c++ clang clang++ ld go wget
  nano npm pnpm strace`);

/** The maximum number of options that are inspected. */
const maxOptions = 40;

/** Matches git settings whose value is run as a program. */
export const programSetting =
  /^(alias|pager|filter|credential|browser|man|include|includeif|sendemail|difftool|mergetool|guitool|trailer|interactive)\.|(pager|editor|fsmonitor|askpass|gitproxy|external|command|cmd|textconv|driver|process|program|helper|pack|hook|hookspath|vcs|tunnel|httpd|\.update)$/i;

/** Returns option values that may be commands; each is only a guess. `isCut` means that there may be more. */
export function commandsInOptions(command: CommandWords): { texts: string[]; isCut: boolean } {
  const base = baseName(command.name.value);
  if (!hosts.has(base)) return { texts: builtinCallbacks(base, command.args), isCut: false };
  const dangers = dangerousArguments(command);
  const texts: string[] = [];
  let isCut = dangers.length > maxOptions;
  for (const danger of dangers.slice(0, maxOptions)) {
    const rest = command.args.slice(danger.at + 1).map((arg) => arg.value);
    if (rest.length > maxOptions && !danger.name.startsWith("-")) isCut = true;
    texts.push(...commandsAt(base, danger, rest.slice(0, maxOptions)));
  }
  return { texts: texts.map((text) => text.replace(/^[\s!|:+]+/, "")).filter((text) => text !== ""), isCut };
}

function commandsAt(base: string, { name, text }: DangerousArgument, rest: readonly string[]): string[] {
  const [next] = rest;
  if (base === "git" && name === "-c") return settingCommand(text.slice(text.indexOf("c") + 1) || next);
  if (base === "git" && text.includes("::")) return [text.slice(text.indexOf("::") + 2).replaceAll("% ", " ")];
  // `git bisect run rm x`: the rest is the command; `git filter-branch --tree-filter 'rm x'`: one of the words is.
  if (!name.startsWith("-"))
    return [rest.join(" "), ...rest.slice(1), ...rest.flatMap((word) => asList(afterEquals(word)))];
  const value = afterEquals(text);
  const texts = value === undefined ? asList(next) : [value];
  // Matches `--checkpoint-action=exec=rm` and `-o ProxyCommand=rm`.
  texts.push(...asList(afterEquals(texts[0] ?? "")), attachedValue(name, text));
  return [...new Set(texts.flatMap((each) => [each, rewriteAsCommand(base, each)]))];
}

/** Returns the value attached to a letter, as in `-Irm`. `-TT` is one option. */
function attachedValue(name: string, text: string): string {
  return text.replace(/^-T(?=T)/, "-").slice(text.indexOf(name[1]!) + 1);
}

/** Rewrites `-o 'ProxyCommand rm'` and `-wrapper rm,x` as commands. */
function rewriteAsCommand(base: string, text: string): string {
  return /^s(sh|cp|ftp)$/.test(base) ? text.replace(/^\w+\s+/, "") : text.replaceAll(",", " ");
}

function settingCommand(setting: string | undefined): string[] {
  const value = setting && programSetting.test(setting.replace(/=.*$/s, "")) ? afterEquals(setting) : undefined;
  // An alias stands for a subcommand, unless it begins with an exclamation mark.
  const isSubcommand = value !== undefined && /^alias\./i.test(setting!) && !value.startsWith("!");
  return isSubcommand ? [value, `git ${value}`] : asList(value);
}

function afterEquals(text: string): string | undefined {
  const at = text.indexOf("=");
  return at === -1 ? undefined : text.slice(at + 1);
}

function asList(text: string | undefined): string[] {
  return text === undefined ? [] : [text];
}

/** Returns callbacks: `mapfile -C`, `compgen -C`, `complete -C`, `fc -e`. */
function builtinCallbacks(base: string, args: readonly ShellWord[]): string[] {
  if (!/^(mapfile|readarray|compgen|complete|fc)$/.test(base)) return [];
  return args.map((arg) => arg.value.replace(/^-[CFe]/, ""));
}

const codeOption: Record<string, RegExp> = {
  python: /^(?:-[a-zA-Z]*c)(.*)$/s,
  perl: /^(?:-[a-zA-Z0]*?[eE])(.*)$/s,
  ruby: /^(?:-[a-zA-Z]*?e)(.*)$/s,
  node: /^(?:-[epri]{1,3}|--eval=?|--print=?|--import=?)(.*)$/s,
  php: /^(?:-[a-zA-Z]*[rBRE]|--run)(.*)$/s,
  deno: /^(?:eval)(.*)$/s,
  bun: /^(?:-e|--eval=?|-p)(.*)$/s,
  other: /^(?:-e|-c|--eval=?)(.*)$/s,
};

/** Returns the code in an interpreter's arguments. */
export function inlineCode({ name, args }: CommandWords): ShellWord[] {
  const base = baseName(name.value);
  if (!isInterpreter(base)) return [];
  const option = codeOption[base.replace(/[\d.]+$/, "").replace("nodejs", "node")] ?? codeOption["other"]!;
  return args.flatMap((arg, at) => {
    const found = option.exec(arg.value);
    if (!found) return [];
    return found[1] === "" ? (args[at + 1] ?? []) : [{ ...arg, value: found[1]! }];
  });
}

/** Matches any direct or indirect way to start a program. False positives are fine; a miss is not. */
const starters =
  /system|run-program|\(sh\s|popen|spawn|exec|fork|subprocess|child_process|shell|eval|compile|import\s*\(|importlib|__|getattr|globals?\b|globalThis|builtins|ctypes|\bpty\b|chr\s*\(|decode|unhex|fromCharCode|atob|Buffer|Function|constructor|Reflect|\b(?:Process|Command)\b|Kernel|CORE|\bsend\b|const_get|instance_|\\x|\\u|\\[0-7]{2}|`|\bqx\b|%x|\bopen\b[^;]*\||&\s*\{|require\s*\(?\s*[^\s'"(]|require\s*\(\s*(['"])[^'"]*\1\s*[^)\s]|\[\s*(['"])[^'"\]]*\2\s*\+|\\!/i;

export function mayStartPrograms(code: string): boolean {
  return starters.test(code);
}
