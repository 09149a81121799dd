// Finds files that words may name: whole words, option values, parts of `a:b` and `key=value`, and names inside code. Which of them a
// program opens is unknown; they can count against a line, never for it.
import { join } from "node:path";
import { foldText } from "../../text/glob.ts";
import { type CommandWords, literalWord, type ShellWord } from "../parse/shell-word.ts";
import { isThere } from "../paths.ts";
import { quotedIn } from "../programs/code-files.ts";
import { baseName, isInterpreter, isShell, moduleOf, own } from "../programs/command-names.ts";
import { subcommandAt } from "../programs/git-options.ts";
import { hasOutputOptions } from "../programs/output-options.ts";
import { changingOptions, isOnlyChecking, opensOperands, writesAsKnown } from "../programs/program-kinds.ts";
import { isOption } from "../programs/read-options.ts";
import { isTaskRunner } from "../programs/script-files.ts";
import { awkLiterals, sedFileNames } from "../programs/sed-awk-code.ts";
import { wrappers } from "../programs/wrapper-table.ts";
import { runsElsewhere, takesCommands } from "../starts/programs-in-arguments.ts";
import { isSink } from "./shell-paths.ts";

/** Matches options that name files to exclude. */
export const leavingOut = /^--?[\w-]*(exclude|ignore|skip|omit)[\w-]*(=|$)/s;
/** Options whose value is a configuration file that is only read, and variables that name such a file. */
const configurationOption = /^--?(config|project|env-file|tsconfig|rcfile|settings)(=|$)/s;
export const configurationVariable = /(CONFIG|SETTINGS)(_FILE|_PATH)?$|(^|_)ENV_FILE$/;

export function pathsIn(word: ShellWord): ShellWord[] {
  return [word, ...(word.others ?? [])].flatMap((each) => {
    const value = each.value.replace(/^(.*?)file:\/\/(localhost)?(?=[/.$~])/is, "$1=");
    // A URL does not name a local file.
    if (/^(?:[\w.+-]*[=@])?[a-z][a-z0-9+.-]*:\/\//i.test(value)) return [];
    const attached = /^-[A-Za-z]+([./~].*)$/s.exec(value)?.[1];
    const values = [...new Set([each.value, ...(attached ? [attached] : []), ...value.split(/[=,:;@<>]+/)])];
    return values
      .filter((part) => part !== "" && !part.startsWith("-"))
      .map((part) => (part === each.value ? each : partOf(each, part)));
  });
}

/** Creates a word for a part of another, with its properties, as for `x=$HOME/.bashrc`. */
function partOf(word: ShellWord, value: string): ShellWord {
  const dynamic = word.dynamic && /[$`]/.test(value);
  return { text: word.text, value, dynamic, glob: word.glob && /[*?[]/.test(value), tilde: value.startsWith("~") };
}

/** Finds possible paths in code of another language: `open(".envrc", "w")`. A plain name counts only in quotes. */
export function pathsInCode(text: string): ShellWord[] {
  const code = joinConcatenations(text);
  const found = new Set([
    ...code.split(/[^\w./~@+%*\u0080-\uffff-]+/).filter((piece) => /[./~]/.test(piece)),
    ...Array.from(code.matchAll(/["'`>]\s*([\w@+%-]+)\s*(?=["'`]|$)/gm), ([, name]) => name!),
    ...pathsInParts(code),
  ]);
  return [...found].map((value) => ({ ...literalWord(value), glob: value.includes("*") }));
}

/** Matches the text between two parts of a path: `join("a", "b")`, `Path("a") / "b"`. */
const betweenParts = /^\)?\s*[,/]\s*$/;
const entered = /\bchdir\b\W{1,3}([\w.@+%~/-]+)/gi;
const maxParts = 6;
const maxTexts = 60;

/** Builds the paths that code passes in consecutive parts, or that lie below a folder it changes to. */
function pathsInParts(code: string): string[] {
  const texts = quotedIn(code)
    .filter(({ text }) => /^[\w.@+%~/-]+$/.test(text))
    .slice(0, maxTexts);
  const folders = Array.from(code.matchAll(entered), ([, folder]) => folder!).slice(0, maxParts);
  const paths = folders.flatMap((folder) => texts.map(({ text }) => `${folder}/${text}`));
  for (const [at, first] of texts.entries()) {
    let [path, end] = [first.text, first.end];
    for (const next of texts.slice(at + 1, at + maxParts)) {
      if (!betweenParts.test(code.slice(end, next.start))) break;
      [path, end] = [`${path}/${next.text}`, next.end];
      paths.push(path);
    }
  }
  return paths;
}

/** Joins string concatenations in code; interpolated values become `*`. Removes the a/ and b/ prefixes of a patch. */
export function joinConcatenations(code: string): string {
  return (
    code
      // Expand home folders, which the shell does before the program sees the code.
      .replace(/\$(HOME|\{HOME\})(?=\/)/g, "~")
      .replace(/\$(PWD|\{PWD\})(?=\/)/g, ".")
      .replace(/^(---|\+\+\+) [ab]\//gm, "")
      .replace(/(["'])\s*[+.]?\s*\1(?=[^\s,;)\]}+])/g, "")
      .replace(/(["'])\s*[+.]\s*[\w.()[\]]+\s*[+.]\s*\1|\$?\{[\w.()[\]]*\}|%[sd]/g, "*")
  );
}

/** Matches function calls that only read the file they name. */
const reading =
  /\b(open|readFileSync|readFile|readTextFile(?:Sync)?|require|import|existsSync|statSync|file_get_contents|read_text|read_csv|exists|isfile|isdir|readlines?)\s*\(\s*(["'])[^"']*\2\s*(?:,\s*(?:["'](?:r[bt]?|utf-?8|rt)["']|encoding\s*=\s*["'][\w-]+["']))*\s*\)/gi;

/** Removes read-only calls from code; returns all of it if such a name is also used in another way. */
export function withoutReading(code: string): string {
  const plain = code.replace(/(^|\s)(\.read|\\i)\s+\S+/g, " ");
  const calls = [...plain.matchAll(reading)];
  const names = new Set(calls.map(([, name]) => name!));
  const isOnly = (name: string) =>
    calls.filter((call) => call[1] === name).length === (plain.match(new RegExp(`\\b${name}\\b`, "g"))?.length ?? 0);
  return calls.length > 0 && [...names].every(isOnly) ? plain.replace(reading, " ") : plain;
}

/** Prefixes of protected names, to rule out a long text with one match. */
const protectedStart =
  /\.(git|cursor|vscode|idea|zed|claude|codex|gemini|opencode|devcontainer|husky|npmrc|envrc|mcp|bash|zsh|zprofile|zlog|profile|ksh|csh|tcsh|log|inputrc|x|pam|ssh|config)|code-workspace|\/etc\//;

export function mayNameProtected(text: string): boolean {
  return protectedStart.test(foldText(text));
}

/** Returns whether a word could lead to a protected or ruled path: by name, as a pattern, or through a link that exists. */
export function mayLeadToRuled(
  { value, dynamic, glob }: ShellWord,
  directories: readonly string[],
  isRuled: (path: string) => boolean,
): boolean {
  if (dynamic || glob || leadsOut.test(value) || mayNameProtected(value)) return true;
  const first = /^(?:\.\/+)*([^/]*)/.exec(value)![1]!;
  return directories.some(
    (folder) => mayNameProtected(folder) || isThere(join(folder, first)) || isRuled(join(folder, value)),
  );
}

/** Returns the words that may name a file the program writes although no table lists it. */
export function mayBeWritten(run: CommandWords): ShellWord[] {
  const { name, args } = run;
  const base = baseName(name.value);
  // For git, an argument is a branch or a remote unless a table says that it is a file.
  if (base === "git") return gitMay(args, gitWriters).filter((arg) => arg.dynamic || /[^\w-]/.test(arg.value));
  if (isFilter(base)) return filterFiles(base, args);
  if (/^(docker|podman|nerdctl|docker-compose)$/.test(base)) return containerFiles(args);
  if (writesAsKnown(base) || isOnlyChecking(base, args) || runsElsewhere(base, args)) return [];
  // Judge the arguments of a Python module like those of a program.
  const module = moduleOf(base, args);
  if (module) return [...module.before];
  const named = isTaskRunner(base) ? args.filter((arg) => !/^[\w:-]+$/.test(arg.value)) : args;
  const ownFiles = withoutScript(base, ownWords(base, named)).flatMap((arg) =>
    // A text that is a command, or contains quoted texts as a statement does, can name files like code.
    /\s/.test(arg.value) && (takesCommands(base) || /["'`]/.test(arg.value))
      ? [arg, ...pathsInCode(withoutReading(arg.value))]
      : arg,
  );
  return ownFiles.filter(
    (arg, at) =>
      !leavingOut.test(arg.value) &&
      !configurationOption.test(arg.value) &&
      !configurationVariable.test(/^(\w+)=/.exec(arg.value)?.[1] ?? "") &&
      !isValueOf(ownFiles, at, leavingOut, configurationOption),
  );
}

/** Options whose value is looked up, or only a name: headers, libraries, addresses, definitions. */
const onlyLooked =
  /^-(?!-[\w-]*(?:build|cache|data|install|out|package|scratch)[\w-]*(?:=|$))(?:[BDFIL]|i[a-z]|Wl,-+(?:rpath|L|T|dynamic)|-?(?:[\w-]*[-_.])?(?:root|include|path|from|input|file|source|src|lib|python|interpreter|socket|host|key|cert|cacert|base|url|with)\b)/;
const leadsOut = /^[~/]|(^|\/)\.\.(\/|$)/;
const attached = /^-(?:[A-Za-z]|.*[=:,])(?:[~/]|(?:[^=:,]*\/)?\.\.(?:\/|$))/s;
/** Names of programs and subcommands that make the place they are given: `meson setup ../x`, `gh repo clone a/b ../x`. */
const making =
  /^(?:\w+[.:])?(?:archive|checkout|clone|co|compileall|copy|create|deploy|export|extract|init|new|scaffold|setup|start(?:app|project)|unpack|venv)(?:[-:][\w-]*)?(?:@.*)?$/;
/** Settings that name a place to write to: `make PREFIX=/opt install`, `-DoutputDirectory=../x`. */
const placing =
  /^(?:(?:O|DESTDIR|prefix|[\w.]*_prefix)=|(?:[-/][DPp]:?)?[\w.]*(?:out(?:put)?|dest(?:ination)?|dist|build_?dir|repo\.local)(?:_?(?:dir(?:ectory)?|path|file))?=)/i;
/** Options that are usually flags, so that the next word is no value of theirs. */
const flag =
  /^--(?:no-.*|all|check|color|debug|dry-run|fix|force|help|ignore-.*|json|list|only-.*|quiet|recursive|silent|skip-.*|strict|verbose|version|watch|yes)$/;

/** Returns option values, settings, operands changed in place and places made, which may be outside though no table says so. */
export function guessedWrites(run: CommandWords): ShellWord[] {
  const { name, args } = run;
  const base = baseName(name.value);
  const isChecking = Object.hasOwn(changingOptions, base) && isOnlyChecking(base, args);
  const isInPlace = Object.hasOwn(changingOptions, base) && !isChecking;
  const letter = isChecking || base === "git" || hasOutputOptions(base) ? /^(?!)/ : /^-[bBCdDgOPw]$/;
  const isValue = (before = "") =>
    letter.test(before) || (/^--[^=]+$/.test(before) && !flag.test(before) && !onlyLooked.test(before));
  const maker = making.test(base) ? 0 : args.findIndex(({ value }) => making.test(value));
  const isMade = (arg: ShellWord) => !isChecking && maker !== -1 && args.indexOf(arg) >= maker;
  return (isChecking ? args : mayBeWritten(run))
    .filter((arg) => {
      if (placing.test(arg.value)) return true;
      return isOption(arg)
        ? attached.test(arg.value) && !onlyLooked.test(arg.value) && !configurationOption.test(arg.value)
        : isInPlace || isMade(arg) || isValue(args[args.indexOf(arg) - 1]?.value);
    })
    .flatMap(pathsIn)
    .filter(({ value, dynamic }) => !dynamic && leadsOut.test(value) && !isSink(value));
}

/** Returns the arguments of a container's command, since it may mount folders of this machine. The mounts are judged separately. */
function containerFiles(args: readonly ShellWord[]): ShellWord[] {
  const at = args.findIndex((arg) => /^(run|exec|create)$/.test(arg.value));
  const givesFile = /^(-[vf]|--(volume|mount|file|env-file|label-file))(=|$)/s;
  if (at === -1) return [];
  return args
    .slice(at + 1)
    .filter((arg, index, rest) => !givesFile.test(arg.value) && !isValueOf(rest, index, givesFile));
}

/** Returns whether a program only reads its operands, and writes files only in place or as its script says. */
function isFilter(base: string): boolean {
  return /^(g?sed|[gmn]?awk|perl|ruby)$/.test(base);
}

function filterFiles(base: string, args: readonly ShellWord[]): ShellWord[] {
  const named = programFiles(base, args);
  if (/sed$/.test(base)) return named;
  const isInPlace = args.some((arg, at) =>
    base.endsWith("awk")
      ? /^(-i|--include=?)(inplace)?/.test(arg.value) && /inplace/.test(arg.value + (args[at + 1]?.value ?? ""))
      : /^-[a-zA-Z0-9]*i/.test(arg.value),
  );
  const isLoop = args.some((arg) => /^-[a-zA-Z0-9]*[np]/.test(arg.value));
  if (isInPlace || (!base.endsWith("awk") && !isLoop)) return [...named, ...withoutScript(base, args)];
  return [...named, ...args.filter((arg) => /^\w+=|^-v./.test(arg.value) || /^-v$/.test(arg.value))];
}

/** Returns the files that a sed or awk script names, as far as they can be distinguished from its regular expressions. */
export function programFiles(base: string, args: readonly ShellWord[]): ShellWord[] {
  if (/^g?sed$/.test(base)) return args.flatMap(sedFileNames);
  return base.endsWith("awk") ? args.flatMap(awkLiterals) : [];
}

export function isValueOf(args: readonly ShellWord[], at: number, ...options: readonly RegExp[]): boolean {
  const before = args[at - 1]?.value ?? "";
  return !before.includes("=") && options.some((option) => option.test(before));
}

/** Returns a wrapper's own words, without the command that it runs, which is judged separately. */
export function ownWords(base: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const wrapper = own(wrappers, base);
  if (!wrapper || wrapper.joins) return args;
  const end = args.findIndex((arg, at) => !isOption(arg) && !/^\w+=/.test(arg.value) && !isOption(args[at - 1] ?? arg));
  return end === -1 ? args : args.slice(0, end + (wrapper.operands ?? 0));
}

/** Removes the script of a shell or interpreter, which is only read. If it is attached to its option, no operand is the script. */
function withoutScript(base: string, args: readonly ShellWord[]): readonly ShellWord[] {
  if ((!isShell(base) && !isInterpreter(base)) || opensOperands.has(base)) return args;
  if (isFilter(base) && args.some((arg) => /^-[a-zA-Z0]*?e./s.test(arg.value))) return args;
  const script = args.findIndex((arg) => !isOption(arg));
  return args.filter((_, at) => at !== script);
}

/** Git subcommands beyond those of `gitWrites` that write to the working tree or to a folder they name. */
const gitWriters =
  /^(checkout|apply|am|worktree|clone|stash|checkout-index|read-tree|sparse-checkout|init|submodule|bundle|difftool|mergetool|svn|subtree|lfs|switch|merge-file|unpack-file|mktree|fast-import|bugreport|diagnose)$/;
/** Returns the words of such a subcommand, without messages. */
export function gitMay(args: readonly ShellWord[], subcommands: RegExp): ShellWord[] {
  const at = subcommandAt(args);
  if (at === -1 || !subcommands.test(args[at]!.value)) return [];
  const rest = args.slice(at + 1);
  return rest.filter((arg, index) => !isMessage(arg, rest[index - 1])).map(asPattern);
}

/** Marks a word with wildcards as a pattern: git expands them in paths even if the shell does not, because they are quoted. */
export function asPattern(word: ShellWord): ShellWord {
  return /[*?[]/.test(word.value) ? { ...word, glob: true } : word;
}

function isMessage(arg: ShellWord, before: ShellWord | undefined): boolean {
  const isText = !arg.dynamic && /\s/.test(arg.value);
  return isText || /^(-[a-z]*m|--(message|author|date|grep|format|pretty))$/.test(before?.value ?? "");
}
