// What is hidden from the agent wherever it looks: paths that a Read deny rule or .cursorignore names.
import { readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Rule } from "../protocol/permission-rule.ts";
import { hasSecondName, SecondNames } from "./hard-links.ts";
import { isDirectory, isInside, type ResolvedPath, type WorkspacePaths } from "./paths.ts";
import { coversFile, coversPath, type LinkedFiles, rulesFor } from "./rules.ts";

type RulesAndPaths = WorkspacePaths & { rules: readonly Rule[] };

/** For searches, listings and attachments: the folder is permitted, what it holds is looked at one by one. */
export function hiddenBy(situation: RulesAndPaths, ignored: IgnoreCheck): (path: string) => boolean {
  const denying = rulesFor(situation.rules, "Read", "deny");
  const linked: LinkedFiles = new Map();
  return (path) => {
    const both = { given: path, real: path };
    return (
      denying.some((rule) => coversPath(rule, both, situation)) ||
      ignored(both) !== undefined ||
      (hasSecondName(path) && denying.some((rule) => coversFile(rule, both, situation, linked)))
    );
  };
}

export async function loadHidden(situation: RulesAndPaths): Promise<(path: string) => boolean> {
  return hiddenBy(situation, await loadIgnore(situation));
}

/** The file that hides a path; undefined when nothing does. */
export type IgnoreCheck = (path: ResolvedPath) => string | undefined;

/** The package that knows the syntax is loaded only where there is such a file. */
export async function loadIgnore(paths: WorkspacePaths): Promise<IgnoreCheck> {
  const checks: IgnoreCheck[] = [];
  for (const { root, file } of ignoreFiles(paths)) {
    const patterns = read(file);
    if (patterns === undefined) continue;
    // A list that cannot be read, or never ends, hides everything: what it was made to hide is not known.
    if (patterns === "unreadable") checks.push(({ real }) => (isInside(real, root) ? file : undefined));
    else if (/^\s*[^#\s]/m.test(patterns)) checks.push(await checkOf(root, file, patterns));
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

async function checkOf(root: string, file: string, patterns: string): Promise<IgnoreCheck> {
  const { default: ignore } = await import("ignore");
  const list = ignore().add(patterns);
  const isIgnored = (path: string): boolean => {
    if (!isInside(path, root) || path === root) return false;
    const inside = relative(root, path).split(sep).join("/");
    return list.ignores(inside) || (isDirectory(path) && list.ignores(`${inside}/`));
  };
  const linked = new SecondNames(root, isIgnored);
  return ({ given, real }) => (isIgnored(given) || isIgnored(real) || linked.include(real) ? file : undefined);
}

const longestList = 2 ** 20;

function read(file: string): string | "unreadable" | undefined {
  try {
    if (statSync(file).size > longestList) return "unreadable";
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : "unreadable";
  }
}
