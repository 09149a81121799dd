// What is hidden from the agent wherever it looks: paths that a Read deny rule or .cursorignore names.
import { readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Rule } from "../protocol/permission-rule.ts";
import { SecondNames } from "./hard-links.ts";
import { compileIgnoreList } from "./ignore-patterns.ts";
import { isDirectory, isInside, type ResolvedPath, type WorkspacePaths } from "./paths.ts";
import { coversPath, reachesInto, rulesFor, secondNamesOf } from "./rules.ts";

type RulesAndPaths = WorkspacePaths & { rules: readonly Rule[] };

/** For searches, listings and attachments: the folder is permitted, what it holds is looked at one by one. */
export function hiddenBy(situation: RulesAndPaths, ignored: IgnoreCheck): (path: string) => boolean {
  const denying = rulesFor(situation.rules, "Read", "deny");
  let linked: SecondNames | undefined;
  // Most rules can name nothing in most folders: that is found out once for all files of a folder.
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

/** The file that hides a path; undefined when nothing does. */
export type IgnoreCheck = (path: ResolvedPath) => string | undefined;

export async function loadIgnore(paths: WorkspacePaths): Promise<IgnoreCheck> {
  const checks: IgnoreCheck[] = [];
  for (const { root, file } of ignoreFiles(paths)) {
    const patterns = read(file);
    if (patterns === undefined) continue;
    // A list that cannot be read, or never ends, hides everything: what it was made to hide is not known.
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

/** What may hide something, whether or not it is there, and the folder that it speaks of. */
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
