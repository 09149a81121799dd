// Folders that a command takes away whole, with all that they hold.

import type { ResolvedPath } from "../paths.ts";
import { baseName, words } from "../programs/command-names.ts";
import { operands, valuesOf } from "../programs/read-options.ts";
import type { ProgramStart } from "../starts/wrappers.ts";
import { type ShellSituation, touchOf } from "./shell-paths.ts";

const removers = words("rm rimraf trash trash-put");
/** Tests of find that choose: with one of them it does not take everything. */
const choosing =
  /^-(i?name|i?path|i?wholename|i?regex|[acm]?(min|time)|newer\w*|size|user|group|perm|empty|links|inum)$/;

export function removedPaths(
  run: ProgramStart,
  directories: readonly string[],
  situation: ShellSituation,
): ResolvedPath[] {
  return removed(run).flatMap((word) =>
    // What is only there when a variable is not set, nobody means.
    word.dynamic
      ? touchOf({ ...word, others: [] }, directories, situation).paths
      : touchOf(word, directories, situation).paths,
  );
}

function removed({ name, args }: ProgramStart) {
  const base = baseName(name.value);
  if (removers.has(base)) return operands(args);
  if (base === "mv") {
    const isNamed = valuesOf(args, { short: "t", long: ["target-directory"] }).length > 0;
    return isNamed ? operands(args) : operands(args).slice(0, -1);
  }
  const isWhole = base === "find" && args.some((arg) => arg.value === "-delete");
  if (!isWhole || args.some((arg) => choosing.test(arg.value))) return [];
  const tests = args.findIndex((arg) => /^[-(!]/.test(arg.value));
  return args.slice(0, tests);
}
