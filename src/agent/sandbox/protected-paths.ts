// Protects paths in a folder that commands may write: existing ones are read-only, missing ones are guarded.
import { readlinkSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { entriesIn } from "../../policy/hard-links.ts";
import { floorOf, isInside, longestText, readTextUpTo, realOrSame } from "../../policy/paths.ts";
import {
  gitFolders,
  homeSettings,
  isGitSetting,
  openInCursor,
  protectedFiles,
  protectedFolders,
} from "../../policy/protected-names.ts";
import { absolutePattern, namesPath } from "../../policy/rules.ts";
import { hasWildcard } from "../../text/glob.ts";
import { tryOr } from "../../text/try-or.ts";
import { statOf } from "../folder-handle.ts";
import type { Mount } from "./layout.ts";
import type { SandboxPlan } from "./plan.ts";

export type GuardedPaths = {
  mounts: Mount[];
  /**
   * Paths that no mount can protect, with their current state: the target of a link, or undefined where nothing exists.
   * Changes to them are undone.
   */
  watched: Map<string, string | undefined>;
};

/** Names at the top of the folder. The policy protects them at any depth, but only these are kept from being created. */
const names = [".cursor", ".git", ...protectedFolders, ...protectedFiles];
/** Names of files that git reads in any folder. */
const readByGit = ["config", "commondir", "config.worktree"];

export function guardFolder(root: string, plan: SandboxPlan): GuardedPaths {
  const guarded: GuardedPaths = { mounts: [], watched: new Map() };
  const wanted = names.map((name) => join(root, name));
  const { home, configDir } = plan;
  if (isInside(home, root)) wanted.push(...homeSettings.map((name) => join(home, name)));
  if (isInside(configDir, root)) wanted.push(configDir);
  for (const path of new Set([...wanted, ...protectedAtTop(root, plan)])) guardPath(path, plan, guarded);
  if (isRepository(root)) guardGit(root, plan, guarded);
  for (const at of openPaths(root, plan)) guarded.mounts.push({ at, as: "writable" });
  return guarded;
}

/** Returns the existing protected names at the top of the folder, in any spelling. */
function protectedAtTop(root: string, plan: SandboxPlan): string[] {
  const paths = entriesIn(root).flatMap(({ name }) => (mayBeProtected(name) ? [join(root, name)] : []));
  return paths.filter((path) => isGuarded(path, plan));
}

function isGuarded(path: string, plan: SandboxPlan): boolean {
  return floorOf({ given: path, real: path }, plan) !== undefined && !isLifted(path, plan);
}

/** Returns false for names that cannot be protected. This cheap filter saves thousands of questions to the policy. */
function mayBeProtected(name: string): boolean {
  return /^\.|[^ -~]|~|\.code-workspace/i.test(name);
}

/** Returns writable parts of protected folders: those meant for agents, and those that a rule of the user names. */
function openPaths(root: string, plan: SandboxPlan): string[] {
  const cursor = join(root, ".cursor");
  const isOwn = cursor === plan.configDir || cursor === join(plan.home, ".cursor");
  const openFolders = isOwn
    ? []
    : openInCursor.map((name) => join(cursor, name)).filter((at) => statOf(at)?.isDirectory());
  const named = plan.rules
    .filter((rule) => rule.verdict === "allow" && !hasWildcard(rule.pattern))
    .map((rule) => absolutePattern(rule.pattern, plan))
    .filter((at) => isInside(at, root) && isLifted(at, plan) && statOf(at)?.isFile());
  return [...openFolders, ...named].filter((at) => !plan.readOnly.some((closed) => isInside(at, closed)));
}

/** Guards a protected path that was found below the top of the folder. */
export function guardNested(path: string, plan: SandboxPlan): GuardedPaths {
  const guarded: GuardedPaths = { mounts: [], watched: new Map() };
  guardPath(path, plan, guarded);
  return guarded;
}

function guardPath(path: string, plan: SandboxPlan, guarded: GuardedPaths): void {
  if (isLifted(path, plan)) return;
  const stat = statOf(path);
  if (!stat) guarded.watched.set(path, undefined);
  else if (stat.isSymbolicLink()) guardLink(path, plan, guarded);
  else if (basename(path) === ".git" && stat.isDirectory()) guardGit(path, plan, guarded);
  else {
    guarded.mounts.push({ at: path, as: "readOnly" });
    if (basename(path) === ".git") guardPointer(path, plan, guarded);
  }
}

/** Guards a link, which cannot be a mount point: its target is read-only or must not be created, and changed links are restored. */
function guardLink(path: string, plan: SandboxPlan, guarded: GuardedPaths): void {
  for (const [link, value] of linksOnTheWay(path))
    if (plan.writable.some((folder) => isInside(link, folder))) guarded.watched.set(link, value);
  const target = realOrSame(path);
  const root = plan.writable.find((folder) => isInside(target, folder));
  if (target === path || root === undefined || target === root) return;
  if (statOf(target)) guarded.mounts.push({ at: target, as: "readOnly" });
  else guarded.watched.set(target, undefined);
}

const maxLinks = 40;

/** Returns the links that a path leads through: the real path of each, and its target. */
function linksOnTheWay(path: string): Map<string, string> {
  const links = new Map<string, string>();
  let at: string = sep;
  let followed = 0;
  const names = path.split(sep).filter(Boolean);
  while (names.length > 0) {
    const name = names.shift()!;
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const next = join(at, name);
    const value = linkAt(next);
    if (value === undefined) {
      at = next;
      continue;
    }
    if (++followed > maxLinks) return links; // the links form a loop
    links.set(next, value);
    names.unshift(...resolve(at, value).split(sep).filter(Boolean));
    at = sep;
  }
  return links;
}

function linkAt(path: string): string | undefined {
  return tryOr(() => readlinkSync(path), undefined); // the path is not a link, or its folder may not be searched
}

/** A `.git` file names the folder that replaces it, and that may name another; commands may be able to write either. */
function guardPointer(pointer: string, plan: SandboxPlan, guarded: GuardedPaths): void {
  const gitFolder = pointedTo(pointer);
  if (gitFolder === undefined) return;
  const up = readTextUpTo(join(gitFolder, "commondir"), longestText).trim();
  for (const git of new Set([gitFolder, up === "" ? gitFolder : realOrSame(resolve(gitFolder, up))])) {
    const root = plan.writable.find((folder) => git !== folder && isInside(git, folder));
    if (root === undefined) continue;
    // Git's folder for worktrees is otherwise read-only.
    if (git === gitFolder && worktreeOf(pointer)) guarded.mounts.push({ at: gitFolder, as: "writable" });
    if (statOf(git)?.isDirectory()) guardGit(git, plan, guarded);
    else if (!statOf(git)) guarded.watched.set(git, undefined);
  }
}

function pointedTo(pointer: string): string | undefined {
  const [, target] =
    /^gitdir: (.+?)\s*$/.exec(statOf(pointer)?.isFile() ? readTextUpTo(pointer, longestText) : "") ?? [];
  return target === undefined ? undefined : realOrSame(resolve(dirname(pointer), target));
}

/**
 * Protects a `.git` folder. Commits must keep working, so everything in it may be written except hooks, configuration,
 * and files that point to these.
 */
function guardGit(git: string, plan: SandboxPlan, guarded: GuardedPaths): void {
  guarded.mounts.push({ at: git, as: "pinned" });
  const there = entriesIn(git).map((entry) => entry.name);
  for (const name of new Set([...there, ...gitFolders]))
    if (isGitSetting(name)) guardPath(join(git, name), plan, guarded);
  guardPath(join(git, "objects/info/alternates"), plan, guarded);
  watchAbsent(git, guarded);
  // Commits in submodules are written there. New submodules cannot be created.
  for (const module of repositoriesIn(join(git, "modules"))) {
    guarded.mounts.push({ at: module, as: "writable" });
    guardGit(module, plan, guarded);
  }
}

/** Returns the folders in which git keeps repositories of submodules; their names may contain slashes. */
function repositoriesIn(folder: string, depth = 4): string[] {
  const folders = entriesIn(folder).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => {
    const path = join(folder, name);
    if (statOf(join(path, "HEAD"))) return [path];
    return depth > 0 ? repositoriesIn(path, depth - 1) : [];
  });
}

function watchAbsent(git: string, guarded: GuardedPaths): void {
  for (const path of readByGit.map((name) => join(git, name))) if (!statOf(path)) guarded.watched.set(path, undefined);
}

/**
 * Returns whether the user has a rule that names exactly this path. Such a rule removes its protection, except in the
 * agent's own configuration.
 */
function isLifted(path: string, plan: SandboxPlan): boolean {
  const { level } = floorOf({ given: path, real: path }, plan) ?? {};
  return (
    level === "protected" &&
    plan.rules.some((rule) => rule.verdict === "allow" && namesPath(rule, { given: path, real: path }, plan))
  );
}

/**
 * Opens what a commit in a linked worktree writes in its main repository, but only if that repository lists this worktree: the file in
 * the workspace alone could name any repository.
 */
export function linkedGit(workspace: string): GuardedPaths {
  const guarded: GuardedPaths = { mounts: [], watched: new Map() };
  const { own, common } = worktreeOf(join(workspace, ".git")) ?? {};
  if (own === undefined || common === undefined) return guarded;
  guarded.mounts.push({ at: common, as: "visible" });
  for (const at of [own, ...["objects", "refs", "logs"].map((name) => join(common, name))])
    if (statOf(at)?.isDirectory()) guarded.mounts.push({ at, as: "writable" });
  for (const at of ["gitdir", ...readByGit].map((name) => join(own, name)))
    if (statOf(at)) guarded.mounts.push({ at, as: "readOnly" });
  watchAbsent(own, guarded);
  return guarded;
}

/** Reads a worktree's `.git` file. `own` is git's folder for the worktree, `common` the repository; undefined if that does not list it. */
function worktreeOf(pointer: string): { own: string; common: string } | undefined {
  const gitFolder = pointedTo(pointer);
  if (gitFolder === undefined) return undefined;
  const [back, up] = [
    readTextUpTo(join(gitFolder, "gitdir"), longestText).trim(),
    readTextUpTo(join(gitFolder, "commondir"), longestText).trim(),
  ];
  const common = realOrSame(resolve(gitFolder, up));
  const isKnown = back !== "" && realOrSame(resolve(gitFolder, back)) === realOrSame(pointer);
  return isKnown && up !== "" && dirname(gitFolder) === join(common, "worktrees")
    ? { own: gitFolder, common }
    : undefined;
}

/**
 * Reports whether git takes the folder itself for a repository: without a `.git`, git looks for its files there, and obeys a
 * configuration beside them, including the programs it names.
 */
function isRepository(folder: string): boolean {
  const has = (name: string) => statOf(join(folder, name)) !== undefined;
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/** Maps each folder to its existing protected names, and to whether git takes the folder itself for a repository. */
export type TopLevelNames = ReadonlyMap<string, { names: ReadonlySet<string>; isRepository: boolean }>;

export function topLevelNames(plan: SandboxPlan): TopLevelNames {
  return new Map(
    plan.writable.map((root) => [
      root,
      { names: new Set(protectedAtTop(root, plan)), isRepository: isRepository(root) },
    ]),
  );
}

/** Reports whether a path that was just created is protected, in any spelling. */
export function isNewProtectedPath(path: string, plan: SandboxPlan, before: TopLevelNames): boolean {
  const atTop = before.get(dirname(path));
  return !(atTop && (atTop.names.has(path) || !mayBeProtected(basename(path)))) && isGuarded(path, plan);
}

/** Finds new names that cannot be listed in advance, such as `x.code-workspace` or other spellings of protected names. */
export function newTopLevelPaths(plan: SandboxPlan, before: TopLevelNames): string[] {
  return [...before].flatMap(([root, { names, isRepository: was }]) => {
    const fresh = protectedAtTop(root, plan).filter((path) => !names.has(path));
    return was || !isRepository(root) ? fresh : [...fresh, join(root, "HEAD")];
  });
}

const maxFolders = 2000;
/** Large generated folders, which are not searched for protected files. */
const skipped = new Set(["node_modules", "__pycache__", ".venv", "venv", ".git"]);

/** Finds protected paths below the top of a folder, from the top down, and its sockets and pipes. */
export function nestedIn(root: string, plan: SandboxPlan): { guarded: string[]; special: string[] } {
  const guarded: string[] = [];
  const special: string[] = [];
  const open = [root];
  for (let next = 0; next < Math.min(open.length, maxFolders); next++) {
    const folder = open[next]!;
    for (const entry of entriesIn(folder)) {
      const path = join(folder, entry.name);
      if (folder !== root && mayBeProtected(entry.name) && floorOf({ given: path, real: path }, plan))
        guarded.push(path);
      else if (entry.isDirectory() && !skipped.has(entry.name)) open.push(path);
      else if (entry.isSocket() || entry.isFIFO()) special.push(path);
    }
  }
  return { guarded, special };
}
