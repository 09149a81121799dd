// Denies reads that a command does not name: files inside a folder that it reads whole, and the memory of processes.
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Rule } from "../../protocol/permission-rule.ts";
import { compilePath } from "../../text/glob.ts";
import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import { isDirectory, isInside } from "../paths.ts";
import { subcommandAt } from "../programs/git-options.ts";
import { showsNoContent, writesAsKnown } from "../programs/program-kinds.ts";
import { isOption, operandsOf, valuesOf } from "../programs/read-options.ts";
import { nameOf, rulesFor } from "../rules.ts";
import { showText } from "../show.ts";
import { baseName, type ProgramStart, type StartedPrograms } from "../starts/wrappers.ts";
import { pathsIn, pathsInCode } from "./named-files.ts";
import { readsOf, withoutPatterns } from "./read-files.ts";
import { type ShellSituation, type Touch, touchOf } from "./shell-paths.ts";
import { mountsOf, targetOptions } from "./written-files.ts";

/** Returns the deny reasons for folders that a line reads or copies with all their contents. */
export function deniedFolders(
  { runs, code }: StartedPrograms,
  directories: readonly string[],
  situation: ShellSituation,
): string[] {
  const rules = rulesFor(situation.rules, "Read", "deny").filter((rule) => rule.withFolders);
  // Folders that code names; a lone slash or tilde is ordinary text.
  const inCode = code.flatMap(({ text }) => pathsInCode(text).filter(({ value }) => /^[/~].*\w/.test(value)));
  const reasons = new Set<string>();
  for (const word of [...runs.flatMap(wholeFolders), ...inCode])
    for (const { real } of touchOf(word, directories, situation).paths) {
      const wordText = showText(word.value || word.text);
      const rule = rules.find((each) => holdsDeniedFile(real, each) && mayBeFound(word, each.pattern));
      if (rule && isDirectory(real)) reasons.add(`${nameOf(rule)} denies ${wordText}, which contains it.`);
      if (/^\/proc(\/\d+)?$/.test(real) && !inCode.includes(word) && mayBeFound(word, "environ"))
        reasons.add(processReason(wordText));
    }
  return [...reasons];
}

/** Reading the folder of a denied file is always refused; a folder further up only if the file exists. */
function holdsDeniedFile(folder: string, { pattern }: Rule): boolean {
  return isInside(pattern, folder) && (folder === dirname(pattern) || existsSync(pattern));
}

/** Returns whether `find folder -name '*.md'` could match the file. */
function mayBeFound({ others = [] }: ShellWord, file: string): boolean {
  const names = others.filter((each) => each.glob);
  const fits = ({ value }: ShellWord) => compilePath(basename(value), { fold: true, brackets: true })(basename(file));
  return names.length === 0 || names.some(fits);
}

const recursive = /^(-[a-zA-Z]*[rR]|--(dereference-)?recursive|--directories=recurse)/;

/** Returns the folders that a command reads with all their contents. */
function wholeFolders(run: ProgramStart): ShellWord[] {
  const { name, args } = run;
  const base = baseName(name.value).toLowerCase();
  if (showsNoContent(base)) return [];
  const has = (option: RegExp) => args.some((arg) => option.test(arg.value));
  const found = args.filter((arg) => arg.origin === "names");
  const plain = operandsOf(args, targetOptions(base));
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
  if (/^(docker|podman|nerdctl)$/.test(base))
    return [...mountsOf(args).flatMap(({ source }) => pathsIn(source)), ...(has(/^(cp|build)$/) ? plain : [])];
  if (writesAsKnown(base)) return found;
  // Ignore the root folder as an argument of unknown programs, which may mean something else by it.
  return readsOf(run).filter((word) => !/^(\/|\.*|\/proc\/?)$/.test(word.value));
}

/** A process's environment, keys included, and its memory. The command's own process (`/proc/self`) holds no secrets of the agent. */
const processMemory = /^\/proc\/\d+\/(task\/\d+\/)?(environ|mem)$/;

export function deniedProcesses(reads: readonly Touch[]): string[] {
  const isOurs = ({ given, real }: Touch["paths"][0]) =>
    !/^\/proc\/(self|thread-self)\//.test(given) && (processMemory.test(given) || processMemory.test(real));
  return reads
    .filter(({ paths }) => paths.some(isOurs))
    .map(({ word }) => processReason(showText(word.value || word.text)));
}

function processReason(displayPath: string): string {
  return `${displayPath} shows what processes were started with, and that may be keys.`;
}
