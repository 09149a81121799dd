// Code that the line itself puts on the disk and then runs: nobody has seen it.

import { basename, dirname } from "node:path";
import { isInside } from "../paths.ts";
import { show } from "../show.ts";
import type { StartedPrograms } from "../starts/wrappers.ts";
import { type ShellSituation, touchOf } from "./shell-paths.ts";

/** `made`: what the line writes. */
type WrittenPaths = { made: readonly string[]; directories: readonly string[] };

/** Why part of what the line runs is not known in advance. */
export function selfWrittenCode(
  runs: StartedPrograms,
  { made, directories }: WrittenPaths,
  situation: ShellSituation,
): string[] {
  if (made.length === 0) return [];
  const reasons = selfWrittenPrograms(runs, made, situation);
  for (const { word, by, isUsual } of runs.files) {
    // A new folder holds nothing that is run without being named.
    const isMade = (path: string) => made.some((each) => (isUsual ? path === each : isInside(path, each)));
    if (!word.glob && !touchOf(word, directories, situation).paths.some((path) => isMade(path.real))) continue;
    reasons.push(
      word.value === by
        ? `${by} is written by the same line`
        : `${by} runs ${show(word.value)}, which the same line writes`,
    );
  }
  return reasons;
}

/** Programs that are found by their name, in a folder where the line puts a file of that name. */
function selfWrittenPrograms(
  { runs, scopes, assigned }: StartedPrograms,
  made: readonly string[],
  { searchPath }: ShellSituation,
): string[] {
  const isUnknown =
    searchPath === undefined ||
    scopes.some((scope) => scope.variables.has("PATH")) ||
    assigned.some(({ name }) => name === "PATH");
  const folders = new Set(searchPath?.split(":"));
  const names = new Set(made.filter((path) => isUnknown || folders.has(dirname(path))).map((path) => basename(path)));
  return runs.filter((run) => names.has(run.name.value)).map((run) => `${run.name.value} is written by the same line`);
}
