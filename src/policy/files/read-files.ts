// Finds the files whose contents a command may show or copy.

import { type CommandWords, literalWord, type ShellWord } from "../parse/shell-word.ts";
import { baseName, each, own, words } from "../programs/command-names.ts";
import { subcommandAt } from "../programs/git-options.ts";
import { showsNoContent } from "../programs/program-kinds.ts";
import { isOption, type OptionNames, valuesOf } from "../programs/read-options.ts";
import { gitMay, isValueOf, leavingOut, ownWords, pathsIn, programFiles } from "./named-files.ts";

/** Commands whose first operand is a pattern or a program, unless an option provides it. */
const patternReaders = words("grep egrep fgrep zgrep ugrep rg ag ack sed gsed awk gawk mawk nawk jq yq");
const givesPattern = /^(-[a-zA-Z]*[ef]|--(regexp|file|expression|from-file))(=|$)/s;
const givesPatternAttached = /^-[ef]./s;

/** Options that make programs without output read a file anyway. */
const readingOptions: Record<string, OptionNames> = {
  touch: { short: "r", values: "dt", long: ["reference"] },
  truncate: { short: "r", values: "s", long: ["reference"] },
  ...each("chmod chown chgrp", { long: ["reference"] }),
  setfacl: { short: "M", long: ["restore", "modify-file"] },
  du: { short: "X", long: ["files0-from", "exclude-from"] },
  find: { exact: /^-(([acB]?newer|newer[acmB][acmtB]|samefile)|files0-from)$/ },
  man: { short: "l", long: ["local-file"] },
  stat: { short: "f", values: "ct" },
};

/** Git subcommands that show file contents, or copy them where they can be shown. */
const gitShowing =
  /^(diff|show|blame|annotate|log|grep|cat-file|add|stage|hash-object|archive|apply|am|stash|difftool|checkout|restore|mv|update-index|credential-store|interpret-trailers|bundle|send-email|merge-file|range-diff|format-patch|whatchanged|diff-tree|diff-index|diff-files|rev-list|mailinfo|patch-id|ls-files)$/;

/** For each program, the files of other processes that it shows without naming them. */
const defaultFiles: Record<string, { said: RegExp; file: string }> = {
  // ps also accepts options without a dash, as in `ps auxe`.
  ps: { said: /^(?:(?:.* )?(?:[^-]\S* ))?[a-zA-Z]*e[a-zA-Z]*( |$)|(^| )-E/, file: "/proc/0/environ" },
  gdb: { said: /(^| )(-p|--?pid|attach)\b/, file: "/proc/0/mem" },
  gcore: { said: /./, file: "/proc/0/mem" },
};

export function readsOf({ name, args }: CommandWords): ShellWord[] {
  const base = baseName(name.value).toLowerCase();
  const defaultsOfProgram = own(defaultFiles, base);
  if (defaultsOfProgram?.said.test(args.map((arg) => arg.value).join(" ")))
    return [literalWord(defaultsOfProgram.file)];
  if (base === "git") return [...shownByGit({ name, args }), ...gitTexts(args)].flatMap(pathsIn);
  if (base === "man" && args.some((arg) => arg.value.includes("/"))) return args.flatMap(pathsIn);
  if (showsNoContent(base)) {
    const options = own(readingOptions, base);
    return options ? valuesOf(args, options) : [];
  }
  const mine = ownWords(base, args);
  const readArguments = mine.filter((arg, at) => !leavingOut.test(arg.value) && !isValueOf(mine, at, leavingOut));
  if (!patternReaders.has(base)) return readArguments.flatMap(pathsIn);
  return [...withoutPatterns(readArguments), ...programFiles(base, args)].flatMap(pathsIn);
}

/** Returns the words of a git command that may name what it shows. */
export function shownByGit({ name, args }: CommandWords): ShellWord[] {
  return baseName(name.value) === "git" ? gitMay(args, gitShowing) : [];
}

/** Returns the files from which git takes messages and settings. */
function gitTexts(args: readonly ShellWord[]): ShellWord[] {
  const at = subcommandAt(args);
  return /^(notes|commit|tag|config)$/.test(args[at]?.value ?? "")
    ? valuesOf(args.slice(at + 1), { short: "Ff", values: "mCc", long: ["file"] })
    : [];
}

/** Returns whether an option's value selects the files to search. */
function isGlob(word: ShellWord | undefined): boolean {
  return /^(-g|--(i?glob|include))$/.test(word?.value ?? "");
}

/** Returns all words except the pattern or program, whether it is an operand or an option value. */
export function withoutPatterns(args: readonly ShellWord[]): ShellWord[] {
  const isGiven = args.some((arg) => givesPattern.test(arg.value) || givesPatternAttached.test(arg.value));
  const first = isGiven ? -1 : args.findIndex((arg, at) => !isOption(arg) && !isGlob(args[at - 1]));
  return args.filter((arg, at) => {
    if (at === first || /^(-e.|--(regexp|expression)=)/s.test(arg.value)) return false;
    // Skip a glob that excludes files from the search.
    if (/^!/.test(arg.value) && isGlob(args[at - 1])) return false;
    return !/^(-[a-zA-Z]*e|--(regexp|expression))$/.test(args[at - 1]?.value ?? "") || /^-/.test(arg.value);
  });
}
