// What options would run: commands that they name, for deny rules to see, and code of other languages.

import type { Invocation, ShellWord } from "../parse/shell-word.ts";
import { baseName, isInterpreter, words } from "./command-names.ts";
import { dangerousArguments } from "./dangerous-options.ts";

/** Programs whose options hold commands for the shell, or names of programs. */
const hosts = words(`
  git tar gtar bsdtar cpio split ssh scp sftp rsync man zip sort gsort rg ag ack gcc cc g++ c++ clang clang++ ld go wget
  nano npm pnpm`);

const mostOptions = 40;

/** Settings of git whose value is run. */
const programSetting =
  /^(alias|pager|filter|credential|browser|man|include|includeif|sendemail|difftool|mergetool|guitool|trailer|interactive)\.|\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|external|command|cmd|textconv|driver|process|program|helper|uploadpack|receivepack|packobjectshook|hookspath)$/i;

/** Texts that may be commands: the values of options that execute. Each is only a guess. */
export function commandsInOptions(command: Invocation): string[] {
  const base = baseName(command.name.value);
  const { args } = command;
  if (!hosts.has(base)) return builtinCallbacks(base, args);
  const texts: string[] = [];
  // A few are enough to see: with more of them than this nothing is allowed anyway.
  for (const { name, text, at } of dangerousArguments(command).slice(0, mostOptions)) {
    const rest = args.slice(at + 1, at + 1 + mostOptions).map((arg) => arg.value);
    if (base === "git" && name === "-c") {
      const [key, value] = (text === "-c" ? (rest[0] ?? "") : text.slice(2)).split(/=(.*)/s);
      if (value !== undefined && programSetting.test(key!)) texts.push(value);
      continue;
    }
    if (base === "git" && text.includes("::")) {
      texts.push(text.slice(text.indexOf("::") + 2).replaceAll("% ", " "));
      continue;
    }
    // `--checkpoint-action=exec=…`, `-oProxyCommand=…`: what follows each equals sign.
    const pieces = text.split("=");
    for (let index = 1; index < Math.min(pieces.length, 4); index++) texts.push(pieces.slice(index).join("="));
    if (/^-[a-zA-Z]./.test(text)) texts.push(text.slice(2), text.slice(text.indexOf(name.slice(1)) + 1));
    const next = pieces.length === 1 ? rest[0] : undefined;
    if (next !== undefined) texts.push(next, ...(next.includes("=") ? [next.slice(next.indexOf("=") + 1)] : []));
    // `-o 'ProxyCommand rm'`
    if (next !== undefined && /^s(sh|cp|ftp)$/.test(base)) texts.push(next.replace(/^\w+\s+/, ""));
    // `git bisect run rm x`: the rest is the command; `git filter-branch --tree-filter 'rm x'`: one of the words is.
    if (!name.startsWith("-")) texts.push(rest.join(" "), ...rest.slice(1));
  }
  return texts.map((text) => text.replace(/^[\s!|:+]+/, "")).filter((text) => text !== "");
}

/** `mapfile -C`, `compgen -C`, `complete -C`: commands for later. */
function builtinCallbacks(base: string, args: readonly ShellWord[]): string[] {
  if (!/^(mapfile|readarray|compgen|complete|bind|fc)$/.test(base)) return [];
  return args.map((arg) => arg.value.replace(/^-[CFxse]/, ""));
}

const codeOption: Record<string, RegExp> = {
  python: /^(?:-[a-zA-Z]*c)(.*)$/s,
  perl: /^(?:-[a-zA-Z0]*?[eE])(.*)$/s,
  ruby: /^(?:-[a-zA-Z]*?e)(.*)$/s,
  node: /^(?:-[epri]{1,3}|--eval=?|--print=?|--import=?)(.*)$/s,
  php: /^(?:-[a-zA-Z]*[rBRE]|--run)(.*)$/s,
  lua: /^(?:-e)(.*)$/s,
  deno: /^(?:eval)(.*)$/s,
  bun: /^(?:-e|--eval=?|-p)(.*)$/s,
  other: /^(?:-e|-c|-Command|-ex|-cmd|--eval=?)(.*)$/s,
};

/** The code that an interpreter is given in its arguments. */
export function inlineCode({ name, args }: Invocation): ShellWord[] {
  const base = baseName(name.value);
  if (!isInterpreter(base)) return [];
  const option = codeOption[base.replace(/[\d.]+$/, "").replace("nodejs", "node")] ?? codeOption["other"]!;
  return args.flatMap((arg, at) => {
    const found = option.exec(arg.value);
    if (!found) return [];
    return found[1] === "" ? (args[at + 1] ?? []) : [{ ...arg, value: found[1]! }];
  });
}

/** Starting programs, and the ways to say that without saying it. Only the answer no must be right. */
const starters =
  /system|popen|spawn|exec|fork|subprocess|child_process|shell|eval|compile|import\s*\(|importlib|__|getattr|globals?\b|globalThis|builtins|ctypes|\bpty\b|chr\s*\(|decode|unhex|fromCharCode|atob|Buffer|Function|constructor|Reflect|\bProcess\b|Kernel|CORE|\bsend\b|const_get|instance_|\\x|\\u|\\[0-7]{2}|`|\bqx\b|%x|\bopen\b[^;]*\||&\s*\{|require\s*\(?\s*[^\s'"(]|require\s*\(\s*(['"])[^'"]*\1\s*[^)\s]|\[\s*(['"])[^'"\]]*\2\s*\+|\\!/i;

export function mayStartPrograms(code: string): boolean {
  return starters.test(code);
}
