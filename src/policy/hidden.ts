// Hides paths from the agent that a Read deny rule or .cursorignore names.
import { readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Rule } from "../protocol/permission-rule.ts";
import { compileIgnoreList, type IgnoreList } from "../text/ignore-patterns.ts";
import { SecondNames } from "./hard-links.ts";
import { isDirectory, isInside, type ResolvedPath, type WorkspacePaths } from "./paths.ts";
import { coversPath, reachesInto, rulesFor, secondNamesOf } from "./rules.ts";

type RulesAndPaths = WorkspacePaths & { rules: readonly Rule[] };

/** Returns a check of each file for searches, listings and attachments, whose folder as a whole is allowed. */
export function hiddenBy(situation: RulesAndPaths, ignored: IgnoreCheck): (path: string) => boolean {
  const denying = rulesFor(situation.rules, "Read", "deny");
  let linked: SecondNames | undefined;
  // Cache the rules for a folder, since most rules cannot match any file in it.
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
    // An ignore file that is unreadable, too long or too slow hides everything, because its patterns are unknown.
    if (patterns === "unreadable") checks.push(({ real }) => (isInside(real, root) ? file : undefined));
    else if (/^\s*[^#\s]/m.test(patterns)) checks.push(checkOf(root, file, patterns));
  }
  return (path) => checks.reduce<string | undefined>((file, check) => file ?? check(path), undefined);
}

type IgnoreFile = { root: string; file: string };
type Places = Pick<WorkspacePaths, "workspace" | "roots" | "standsFor">;

/** Lists the ignore files that may exist, each with the folder it applies to. */
export function ignoreFiles({ workspace, roots, standsFor = workspace }: Places): IgnoreFile[] {
  const folders = [workspace, ...roots].map((root) => ({ root, folder: root }));
  if (standsFor !== workspace) folders.push({ root: workspace, folder: standsFor });
  return folders.map(({ root, folder }) => ({ root, file: join(folder, ".cursorignore") }));
}

/** Compiled ignore files, cached for the whole run because every call needs them. */
const compiled = new Map<string, { patterns: string; list: IgnoreList }>();

function checkOf(root: string, file: string, patterns: string): IgnoreCheck {
  const existing = compiled.get(file);
  const list = existing?.patterns === patterns ? existing.list : compileIgnoreList(patterns, { fold: true });
  compiled.set(file, { patterns, list });
  const isIgnored = (path: string): boolean => {
    if (!isInside(path, root) || path === root) return false;
    const ignored = list(relative(root, path).split(sep).join("/"), () => isDirectory(path));
    return ignored === true || ignored === "unknown";
  };
  const linked = new SecondNames([root], isIgnored);
  return ({ given, real }) => (isIgnored(given) || isIgnored(real) || linked.include(real) ? file : undefined);
}

const longestList = 2 ** 18;

function read(file: string): string | "unreadable" | undefined {
  try {
    const stat = statSync(file);
    if (!stat.isFile() || stat.size > longestList) return "unreadable";
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : "unreadable";
  }
}
