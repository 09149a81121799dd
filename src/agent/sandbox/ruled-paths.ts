// Finds the existing files that deny rules and ignore files name: hidden if reading is denied, read-only if writing is.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { entriesIn } from "../../policy/hard-links.ts";
import { ignoreFiles, loadHidden } from "../../policy/hidden.ts";
import { isInside, realOrSame } from "../../policy/paths.ts";
import { absolutePattern, coversPath } from "../../policy/rules.ts";
import type { Rule } from "../../protocol/permission-rule.ts";
import { hasWildcard } from "../../text/glob.ts";
import { statOf } from "../folder-handle.ts";
import type { Layout, Mount } from "./layout.ts";
import type { SandboxPlan } from "./plan.ts";

export type HiddenFiles = {
  /** Returns whether deny rules or ignore files hide the path. */
  isHidden(path: string): boolean;
  hasIgnoreFile: boolean;
};

export async function loadHiding(plan: SandboxPlan): Promise<HiddenFiles> {
  const hasIgnoreFile = ignoreFiles(plan).some(({ file }) => existsSync(file));
  return { isHidden: await loadHidden(plan), hasIgnoreFile };
}

const maxMounts = 2000;
const maxFiles = { inside: 100_000, outside: 5_000 };

/** A folder to search for paths that match a rule; `depth` is how many levels below it the pattern can match. */
type PatternWalk = { from: string; depth: number };

/** `named`: paths that rules name, links not followed. `absent`: missing paths that a rule without wildcards closes. */
export type RuledPaths = { mounts: Mount[]; named: string[]; absent: string[]; notes: string[] };

export function ruledPaths(plan: SandboxPlan, hiding: HiddenFiles): RuledPaths {
  const ruled = ruledNow(plan, hiding);
  if (ruled.mounts.length > maxMounts) throw tooMany();
  return ruled;
}

/** The maximum number of mounts, since bubblewrap limits its arguments. */
const maxOfAll = 2700;

export function checkLength(layout: Layout): Layout {
  if (layout.length > maxOfAll) throw tooMany();
  return layout;
}

function tooMany(): Error {
  return new Error(
    `Deny rules and ignore files name more than ${maxMounts} files, or files in too many folders, which is more than the sandbox can hide: name their directory instead.`,
  );
}

/**
 * Finds what was created since the layout was made although a Write rule denies it: a pattern cannot protect what does not exist yet.
 * Returns a folder without its contents.
 */
export function newRuledPaths(plan: SandboxPlan, layout: Layout): string[] {
  const rules = closingRules(plan);
  if (rules.length === 0) return [];
  const closed = layout.filter(({ as }) => as === "readOnly" || as === "hidden").map(({ at }) => at);
  const isNew = (path: string) =>
    plan.writable.some((root) => path !== root && isInside(path, root)) && !closed.some((at) => isInside(path, at));
  const found = ruledNow({ ...plan, rules }, { isHidden: () => false, hasIgnoreFile: false }).named.filter(isNew);
  return found.filter((path) => !found.some((other) => other !== path && isInside(path, other)));
}

function closingRules({ rules }: SandboxPlan): Rule[] {
  return rules.filter((rule) => rule.verdict === "deny" && rule.kind === "Write");
}

function ruledNow(plan: SandboxPlan, { isHidden, hasIgnoreFile }: HiddenFiles): RuledPaths {
  const mounts: Mount[] = [];
  const named: string[] = [];
  const absent: string[] = [];
  const notes: string[] = [];
  const denying = plan.rules.filter((rule) => rule.verdict === "deny");
  const closing = closingRules(plan);
  const roots = [plan.workspace, ...plan.roots];
  const holders = [...roots, plan.home];
  const walks: PatternWalk[] = hasIgnoreFile ? roots.map((from) => ({ from, depth: Number.POSITIVE_INFINITY })) : [];
  for (const { pattern, kind } of denying) {
    const { from, depth } = walkOf(absolutePattern(pattern, plan));
    const path = realOrSame(from);
    if (depth > 0) walks.push({ from: path, depth });
    else if (kind === "Write" && !statOf(path)) absent.push(path);
    else judge(path);
  }
  for (const walk of dropCoveredWalks(walks)) look(walk);
  return { mounts, named, absent, notes };

  /** Checks one path. Returns true if nothing below it needs to be checked. */
  function judge(path: string): boolean {
    const stat = statOf(path);
    if (!stat) return true;
    const isClosed = closing.some((rule) => coversPath(rule, { given: path, real: path }, plan));
    if (isClosed) named.push(path);
    const isUnread = isHidden(path);
    if (isClosed || isUnread) {
      // A link cannot be a mount point, so the rule is applied to its target.
      const at = stat.isSymbolicLink() ? realOrSame(path) : path;
      const target = statOf(at);
      if (!target || holders.some((folder) => isInside(folder, at))) return true;
      if (isUnread) mounts.push({ at, as: "hidden", kind: target.isDirectory() ? "folder" : "file" });
      else mounts.push({ at, as: "readOnly" });
    }
    return isUnread || !stat.isDirectory();
  }

  function look({ from, depth }: PatternWalk): void {
    let left = [...roots, ...plan.writable].some((root) => isInside(from, root)) ? maxFiles.inside : maxFiles.outside;
    let folders = judge(from) ? [] : [from];
    for (let level = 0; level < depth && folders.length > 0; level++) {
      const deeper: string[] = [];
      for (const folder of folders) {
        for (const { name } of entriesIn(folder)) {
          if (left-- <= 0) {
            notes.push(
              `${from} contains too many files to check each: deny rules with wildcards may not hide all of them`,
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

/** Returns where to search for a pattern, and how deep. A rule covers a whole folder, so what follows the last wildcard is skipped. */
function walkOf(pattern: string): PatternWalk {
  const whole = pattern.replace(/(\/\*\*)+$/, "") || "/";
  let from = whole;
  let depth = 0;
  while (hasWildcard(from)) {
    from = dirname(from);
    depth++;
  }
  return { from, depth: whole.slice(from.length).includes("**") ? Number.POSITIVE_INFINITY : depth };
}

function dropCoveredWalks(walks: readonly PatternWalk[]): PatternWalk[] {
  const deepest = new Map<string, number>();
  for (const { from, depth } of walks) deepest.set(from, Math.max(deepest.get(from) ?? 0, depth));
  const all = [...deepest].map(([from, depth]) => ({ from, depth }));
  const isCovered = ({ from }: PatternWalk) =>
    all.some((other) => other.from !== from && other.depth === Number.POSITIVE_INFINITY && isInside(from, other.from));
  return all.filter((walk) => !isCovered(walk));
}
