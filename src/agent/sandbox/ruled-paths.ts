// What deny rules and ignore files name, for what exists: hidden where reading is denied, read-only where writing is.
import { dirname, join } from "node:path";
import { hasWildcard } from "../../policy/glob.ts";
import { isInside, realOrSame } from "../../policy/paths.ts";
import { absolutePattern, coversPath } from "../../policy/rules.ts";
import type { Mount } from "./layout.ts";
import type { SandboxPlan } from "./plan.ts";
import { entriesOf, factsOf } from "./protected-paths.ts";

export type Hiding = {
  /** By deny rules and ignore files together. */
  isHidden(path: string): boolean;
  hasIgnoreFile: boolean;
};

const mostMounts = 2000;
const mostFiles = { inside: 100_000, outside: 5_000 };

/** How far below a folder a pattern can reach. */
type Walk = { from: string; depth: number };

export function ruledPaths(
  plan: SandboxPlan,
  { isHidden, hasIgnoreFile }: Hiding,
): { mounts: Mount[]; notes: string[] } {
  const mounts: Mount[] = [];
  const notes: string[] = [];
  const denying = plan.rules.filter((rule) => rule.verdict === "deny");
  const closing = denying.filter((rule) => rule.kind === "Write");
  const roots = [plan.workspace, ...plan.roots];
  const walks: Walk[] = hasIgnoreFile ? roots.map((from) => ({ from, depth: Number.POSITIVE_INFINITY })) : [];
  for (const { pattern } of denying) {
    const { from, depth } = walkOf(absolutePattern(pattern, plan));
    if (depth === 0) judge(realOrSame(from));
    else walks.push({ from: realOrSame(from), depth });
  }
  for (const walk of widest(walks)) look(walk);
  if (mounts.length > mostMounts)
    throw new Error(
      `Deny rules and ignore files name more than ${mostMounts} files, which is more than the sandbox can hide: name their folder instead.`,
    );
  return { mounts, notes };

  /** True: there is nothing more to be found below it. */
  function judge(path: string): boolean {
    const facts = factsOf(path);
    if (!facts) return true;
    if (isHidden(path)) {
      mounts.push({ at: path, as: "hidden", kind: facts.isDirectory() ? "folder" : "file" });
      return true;
    }
    if (closing.some((rule) => coversPath(rule, { given: path, real: path }, plan)))
      mounts.push({ at: path, as: "readOnly" });
    return !facts.isDirectory();
  }

  function look({ from, depth }: Walk): void {
    let left = [...roots, ...plan.writable].some((root) => isInside(from, root)) ? mostFiles.inside : mostFiles.outside;
    let folders = judge(from) ? [] : [from];
    for (let level = 0; level < depth && folders.length > 0; level++) {
      const deeper: string[] = [];
      for (const folder of folders) {
        for (const { name } of entriesOf(folder)) {
          if (left-- <= 0) {
            notes.push(
              `${from} holds too many files to look at each: deny rules with wildcards may not hide all of them`,
            );
            return;
          }
          const path = join(folder, name);
          if (!judge(path)) deeper.push(path);
        }
      }
      folders = deeper;
    }
  }
}

/** A rule covers a folder and all below it, so that what follows the last wildcard need not be walked. */
function walkOf(pattern: string): Walk {
  const whole = pattern.replace(/(\/\*\*)+$/, "") || "/";
  let from = whole;
  let depth = 0;
  while (hasWildcard(from)) {
    from = dirname(from);
    depth++;
  }
  return { from, depth: whole.slice(from.length).includes("**") ? Number.POSITIVE_INFINITY : depth };
}

/** Without those that another one covers. */
function widest(walks: readonly Walk[]): Walk[] {
  const deepest = new Map<string, number>();
  for (const { from, depth } of walks) deepest.set(from, Math.max(deepest.get(from) ?? 0, depth));
  const all = [...deepest].map(([from, depth]) => ({ from, depth }));
  const isCovered = ({ from }: Walk) =>
    all.some((other) => other.from !== from && other.depth === Number.POSITIVE_INFINITY && isInside(from, other.from));
  return all.filter((walk) => !isCovered(walk));
}
