// Reads the arguments of `find`: where it starts, which names it looks for, and whether it filters.
import type { ShellWord } from "../parse/shell-word.ts";

export function startingPoints(findArgs: readonly ShellWord[]): readonly ShellWord[] {
  const tests = findArgs.findIndex((arg) => /^[-(!]/.test(arg.value));
  return tests === -1 ? findArgs : findArgs.slice(0, tests);
}

export function namePatterns(findArgs: readonly ShellWord[]): ShellWord[] {
  return findArgs.filter((_, at) => /^-i?(path|wholename|name)$/.test(findArgs[at - 1]?.value ?? ""));
}

/** Tests of find that filter, so that it does not match everything. */
const choosing =
  /^-(i?name|i?path|i?wholename|i?lname|i?regex|[acm]?(min|time)|newer\w*|size|user|group|nouser|nogroup|perm|empty|links|inum|samefile|xtype|executable)$/;

/** Returns whether find leaves anything out. A pattern for every name filters nothing. */
export function filtersFiles(findArgs: readonly ShellWord[]): boolean {
  return findArgs.some((arg, at) => choosing.test(arg.value) && !/^\*+$/.test(findArgs[at + 1]?.value ?? ""));
}
