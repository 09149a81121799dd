// What is kept from commands although they do not name it: files that go with a whole folder, and the memory of processes.
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Rule } from "../../protocol/permission-rule.ts";
import { compilePath } from "../glob.ts";
import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import { isDirectory, isInside } from "../paths.ts";
import { subcommandAt } from "../programs/git-options.ts";
import { showsNoContent, writesAsKnown } from "../programs/program-kinds.ts";
import { isOption, operands, valuesOf } from "../programs/read-options.ts";
import { nameOf, rulesFor } from "../rules.ts";
import { show } from "../show.ts";
import { baseName, type ProgramStart, type StartedPrograms } from "../starts/wrappers.ts";
import { pathsIn, pathsInCode } from "./named-files.ts";
import { readsOf, withoutPatterns } from "./read-files.ts";
import { type ShellSituation, type Touch, touchOf } from "./shell-paths.ts";
import { targetOptions } from "./written-files.ts";

/** Reasons for rules that hold for folders as well, where a line reads or copies one with all that it holds. */
export function deniedFolders(
  { runs, code }: StartedPrograms,
  directories: readonly string[],
  situation: ShellSituation,
): string[] {
  const rules = rulesFor(situation.rules, "Read", "deny").filter((rule) => rule.withFolders);
  // A folder that code names; a lone slash or tilde is part of a text.
  const inCode = code.flatMap(({ text }) => pathsInCode(text).filter(({ value }) => /^[/~].*\w/.test(value)));
  const reasons = new Set<string>();
  for (const word of [...runs.flatMap(wholeFolders), ...inCode])
    for (const { real } of touchOf(word, directories, situation).paths) {
      const shown = show(word.value || word.text);
      const rule = rules.find((each) => holds(real, each) && mayBeFound(word, each.pattern));
      if (rule && isDirectory(real)) reasons.add(`${nameOf(rule)} denies ${shown}, which contains it.`);
      if (/^\/proc(\/\d+)?$/.test(real) && !inCode.includes(word) && mayBeFound(word, "environ"))
        reasons.add(processReason(shown));
    }
  return [...reasons];
}

/** Whoever takes the folder of the file has no business there; above it, only what is there counts. */
function holds(folder: string, { pattern }: Rule): boolean {
  return isInside(pattern, folder) && (folder === dirname(pattern) || existsSync(pattern));
}

/** `find folder -name '*.md'`: what is not looked for is not found. */
function mayBeFound({ others = [] }: ShellWord, file: string): boolean {
  const names = others.filter((each) => each.glob);
  return (
    names.length === 0 ||
    names.some(({ value }) => compilePath(basename(value), { fold: true, brackets: true })(basename(file)))
  );
}

const recursive = /^(-[a-zA-Z]*[rR]|--(dereference-)?recursive|--directories=recurse)/;

/** The folders that a command reads with all that they hold. */
function wholeFolders(run: ProgramStart): ShellWord[] {
  const { name, args } = run;
  const base = baseName(name.value).toLowerCase();
  if (showsNoContent(base)) return [];
  const has = (option: RegExp) => args.some((arg) => option.test(arg.value));
  const found = args.filter((arg) => arg.origin === "names");
  const plain = operands(args, targetOptions(base));
  const sources = valuesOf(args, targetOptions(base)).length > 0 ? plain : plain.slice(0, -1);
  const searched = withoutPatterns(args).filter((arg) => !isOption(arg));
  const here = searched.length > 0 ? searched : [literalWord(".")];
  if (/^([efz]?grep|bzgrep|xzgrep)$/.test(base))
    return has(recursive) || args.some((arg) => arg.value === "recurse") ? here : found;
  if (/^(rg|ag|ack|ugrep|pt|sift)$/.test(base)) return here;
  if (base === "cp") return has(/^(-[a-zA-Z]*[rRa]|--(recursive|archive)$)/) ? sources : found;
  if (/^(rsync|scp|ditto)$/.test(base)) return sources;
  if (/tar$/.test(base)) return has(/^-?[a-zA-Z]*[cru]|^--(create|append|update)/) ? plain : found;
  if (base === "zip") return has(/^(-[a-zA-Z]*r|--recurse)/) ? plain : found;
  if (/^(diff|colordiff|delta|ln)$/.test(base)) return base === "ln" || has(recursive) ? plain : found;
  if (base === "git")
    return /^(add|stage|diff|archive|stash)$/.test(args[subcommandAt(args)]?.value ?? "") ? plain : [];
  if (/^(docker|podman|nerdctl)$/.test(base)) return [...mounted(args), ...(has(/^(cp|build)$/) ? plain : [])];
  if (writesAsKnown(base)) return found;
  // The root is a value like any other to programs that nobody knows.
  return readsOf(run).filter((word) => !/^(\/|\.*|\/proc\/?)$/.test(word.value));
}

/** Folders of this machine that a container gets, to write in or not. */
function mounted(args: readonly ShellWord[]): ShellWord[] {
  return valuesOf(args, { short: "v", values: "epwunlmhfc", long: ["volume", "mount"] }).flatMap((word) =>
    pathsIn({
      ...word,
      value: /(?:^|,)(?:source|src)=([^,]*)/.exec(word.value)?.[1] ?? word.value.replace(/:.*$/s, ""),
    }),
  );
}

/** What a process was started with, keys included, and what it holds now. The command's own process has nothing of ours. */
const processMemory = /^\/proc\/\d+\/(task\/\d+\/)?(environ|mem)$/;

export function deniedProcesses(reads: readonly Touch[]): string[] {
  const isOurs = ({ given, real }: Touch["paths"][0]) =>
    !/^\/proc\/(self|thread-self)\//.test(given) && (processMemory.test(given) || processMemory.test(real));
  return reads
    .filter(({ paths }) => paths.some(isOurs))
    .map(({ word }) => processReason(show(word.value || word.text)));
}

function processReason(shown: string): string {
  return `${shown} shows what processes were started with, and that may be keys.`;
}
