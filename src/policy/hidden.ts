// Hides paths from the agent that a Read deny rule or .cursorignore names.
import { readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Rule } from "../protocol/permission-rule.ts";
import { compileIgnoreList } from "../text/ignore-patterns.ts";
import { SecondNames } from "./hard-links.ts";
import { isDirectory, isInside, type ResolvedPath, type WorkspacePaths } from "./paths.ts";
import { coversPath, reachesInto, rulesFor, secondNamesOf } from "./rules.ts";

type RulesAndPaths = WorkspacePaths & { rules: readonly Rule[] };

/** For searches, listings and attachments: the folder is allowed, and each file in it is checked. */
export function hiddenBy(situation: RulesAndPaths, ignored: IgnoreCheck): (path: string) => boolean {
  const denying = rulesFor(situation.rules, "Read", "deny");
  let linked: SecondNames | undefined;
  // Most rules cannot match in most folders, so the rules for a folder are cached for all its files.
  const near = new Map<string, readonly Rule[]>();
  const rulesNear = (folder: string): readonly Rule[] => {
    const rules = near.get(folder) ?? denying.filter((rule) => reachesInto(rule, folder, situation));
    near.set(folder, rules);
    return rules;
  };
  return (path) => {
    const both = { given: path, real: path };
    return (
      rulesNear(path.slice(0, path.lastIndexOf(sep))).some((rule) => coversPath(rule, both, situation)) ||
      ignored(both) !== undefined ||
      (linked ??= secondNamesOf(denying, situation)).include(path)
    );
  };
}

export async function loadHidden(situation: RulesAndPaths): Promise<(path: string) => boolean> {
  return hiddenBy(situation, await loadIgnore(situation));
}

/** Returns the ignore file that hides a path, or undefined. */
export type IgnoreCheck = (path: ResolvedPath) => string | undefined;

export async function loadIgnore(paths: WorkspacePaths): Promise<IgnoreCheck> {
  const checks: IgnoreCheck[] = [];
  for (const { root, file } of ignoreFiles(paths)) {
    const patterns = read(file);
    if (patterns === undefined) continue;
    // An ignore file that is unreadable or too long hides everything, because its patterns are unknown.
    if (patterns === "unreadable") checks.push(({ real }) => (isInside(real, root) ? file : undefined));
    else if (/^\s*[^#\s]/m.test(patterns)) checks.push(checkOf(root, file, patterns));
  }
  return (path) => {
    for (const check of checks) {
      const file = check(path);
      if (file) return file;
    }
    return undefined;
  };
}

/** Lists the ignore files that may exist, each with the folder it applies to. */
export function ignoreFiles({
  workspace,
  roots,
  standsFor,
}: Pick<WorkspacePaths, "workspace" | "roots" | "standsFor">): { root: string; file: string }[] {
  const own = [workspace, ...roots].map((root) => ({ root, file: join(root, ".cursorignore") }));
  return standsFor === undefined ? own : [...own, { root: workspace, file: join(standsFor, ".cursorignore") }];
}

function checkOf(root: string, file: string, patterns: string): IgnoreCheck {
  const list = compileIgnoreList(patterns, { fold: true });
  const isIgnored = (path: string): boolean => {
    if (!isInside(path, root) || path === root) return false;
    return list(relative(root, path).split(sep).join("/"), () => isDirectory(path)) === true;
  };
  const linked = new SecondNames([root], isIgnored);
  return ({ given, real }) => (isIgnored(given) || isIgnored(real) || linked.include(real) ? file : undefined);
}

const longestList = 2 ** 18;

function read(file: string): string | "unreadable" | undefined {
  try {
    if (statSync(file).size > longestList) return "unreadable";
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : "unreadable";
  }
}
