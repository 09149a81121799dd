// Decides whether a command may remove contents from a repository. Before such a command nothing is borrowed: everything is saved.
import { resolve } from "node:path";
import { removedPaths } from "../../policy/files/copies.ts";
import type { ShellWord } from "../../policy/parse/shell.ts";
import { isInside } from "../../policy/paths.ts";
import { type ProgramStart, startedPrograms } from "../../policy/starts/wrappers.ts";
import { words } from "../../text/words.ts";

/** Git commands that remove or move objects that no branch reaches. */
const cleaners = words("gc prune prune-packed repack maintenance filter-branch filter-repo reflog unpack-objects");

/** Returns true in any doubt, which only makes saving slower. `cwd` is where the command starts. */
export function harmsRepository(command: string, cwd: string, roots: readonly string[]): boolean {
  // Match the folder itself, not `.gitignore` and the like.
  if (/\.git(?![\w-])/.test(command)) return true;
  const { runs, opaque } = startedPrograms(command);
  if (opaque.length > 0) return true;
  const movesElsewhere = runs.some(({ name }) => ["cd", "pushd"].includes(name.value));
  const holdsRepository = ({ value, dynamic, glob }: ShellWord) => {
    if (dynamic) return true;
    if (glob) return /(^|\/)\.[^/]*[*?[]|\{/.test(value) || value.startsWith("..");
    const path = resolve(cwd, value);
    return (movesElsewhere && /^\.{1,2}(\/|$)/.test(value)) || roots.some((root) => isInside(root, path));
  };
  return runs.some((run) => isCleaner(run) || removedPaths(run).some(holdsRepository));
}

function isCleaner({ name, args }: ProgramStart): boolean {
  return name.dynamic || (name.value.endsWith("git") && args.some(({ value }) => cleaners.has(value)));
}
