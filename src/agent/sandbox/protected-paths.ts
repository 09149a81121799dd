// Protected paths of a folder that commands may write: read-only where they are, guarded where they are not.
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { hasWildcard } from "../../policy/glob.ts";
import { floorOf, isInside, realOrSame } from "../../policy/paths.ts";
import {
  gitFolders,
  homeSettings,
  isGitSetting,
  openInCursor,
  protectedFiles,
  protectedFolders,
} from "../../policy/protected-names.ts";
import { absolutePattern, namesPath } from "../../policy/rules.ts";
import type { Mount } from "./layout.ts";
import type { SandboxPlan } from "./plan.ts";

export type GuardedPaths = {
  mounts: Mount[];
  /** What no mount can hold, as it is now: where a link leads, or undefined where nothing is. A change is undone. */
  watched: Map<string, string | undefined>;
};

/** Names in the folder itself. The floor of the policy knows them at any depth; these alone are kept from appearing. */
const names = [".cursor", ".git", ...protectedFolders, ...protectedFiles];
/** Git reads these wherever they are. */
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

/** Those there are, in whatever spelling. */
function protectedAtTop(root: string, plan: SandboxPlan): string[] {
  const paths = entriesOf(root).flatMap(({ name }) => (mayBeProtected(name) ? [join(root, name)] : []));
  return paths.filter((path) => isGuarded(path, plan));
}

function isGuarded(path: string, plan: SandboxPlan): boolean {
  return floorOf({ given: path, real: path }, plan) !== undefined && !isLifted(path, plan);
}

/** Cheaper than to ask the policy about each of thousands of files: only such names can be on its list. */
function mayBeProtected(name: string): boolean {
  return /^\.|[^ -~]|~|\.code-workspace/i.test(name);
}

/** Parts of protected folders that may be written: those made for it, and those that a rule of the user names. */
function openPaths(root: string, plan: SandboxPlan): string[] {
  const cursor = join(root, ".cursor");
  const isOwn = cursor === plan.configDir || cursor === join(plan.home, ".cursor");
  const made = isOwn ? [] : openInCursor.map((name) => join(cursor, name)).filter((at) => statOf(at)?.isDirectory());
  const named = plan.rules
    .filter((rule) => rule.verdict === "allow" && !hasWildcard(rule.pattern))
    .map((rule) => absolutePattern(rule.pattern, plan))
    .filter((at) => isInside(at, root) && isLifted(at, plan) && statOf(at)?.isFile());
  return [...made, ...named].filter((at) => !plan.readOnly.some((closed) => isInside(at, closed)));
}

/** One that was found below the folder. */
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

/** A link cannot be a mount point: what it leads to is read-only or must not come to be, and links that were changed are put back. */
function guardLink(path: string, plan: SandboxPlan, guarded: GuardedPaths): void {
  for (const [link, value] of linksOnTheWay(path))
    if (plan.writable.some((folder) => isInside(link, folder))) guarded.watched.set(link, value);
  const target = realOrSame(path);
  const root = plan.writable.find((folder) => isInside(target, folder));
  if (target === path || root === undefined || target === root) return;
  if (statOf(target)) guarded.mounts.push({ at: target, as: "readOnly" });
  else guarded.watched.set(target, undefined);
}

const mostLinks = 40;

/** The links that a path leads through: where each is, by its real folder, and what it says. */
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
    if (++followed > mostLinks) return links; // round in circles
    links.set(next, value);
    names.unshift(...resolve(at, value).split(sep).filter(Boolean));
    at = sep;
  }
  return links;
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // no link, or a folder that may not be searched
  }
}

/** A file in the place of `.git` names the folder that stands for it, and that another one; either may be one that commands can write. */
function guardPointer(pointer: string, plan: SandboxPlan, guarded: GuardedPaths): void {
  const own = pointedTo(pointer);
  if (own === undefined) return;
  const up = textOf(join(own, "commondir")).trim();
  for (const git of new Set([own, up === "" ? own : realOrSame(resolve(own, up))])) {
    const root = plan.writable.find((folder) => git !== folder && isInside(git, folder));
    if (root === undefined) continue;
    // What git keeps for worktrees is closed otherwise.
    if (git === own && worktreeOf(pointer)) guarded.mounts.push({ at: own, as: "writable" });
    if (statOf(git)?.isDirectory()) guardGit(git, plan, guarded);
    else if (!statOf(git)) guarded.watched.set(git, undefined);
  }
}

function pointedTo(pointer: string): string | undefined {
  const [, target] = /^gitdir: (.+?)\s*$/.exec(statOf(pointer)?.isFile() ? textOf(pointer) : "") ?? [];
  return target === undefined ? undefined : realOrSame(resolve(dirname(pointer), target));
}

/** Commits must go on: all of it may be written but hooks, configuration, and what points to such elsewhere. */
function guardGit(git: string, plan: SandboxPlan, guarded: GuardedPaths): void {
  guarded.mounts.push({ at: git, as: "pinned" });
  const there = entriesOf(git).map((entry) => entry.name);
  for (const name of new Set([...there, ...gitFolders]))
    if (isGitSetting(name)) guardPath(join(git, name), plan, guarded);
  guardPath(join(git, "objects/info/alternates"), plan, guarded);
  watchAbsent(git, guarded);
  // Commits in submodules go there. Others than those that there are cannot be made.
  for (const module of repositoriesIn(join(git, "modules"))) {
    guarded.mounts.push({ at: module, as: "writable" });
    guardGit(module, plan, guarded);
  }
}

/** Folders that git keeps as repositories; their names may hold slashes. */
function repositoriesIn(folder: string, depth = 4): string[] {
  const folders = entriesOf(folder).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => {
    const path = join(folder, name);
    if (statOf(join(path, "HEAD"))) return [path];
    return depth > 0 ? repositoriesIn(path, depth - 1) : [];
  });
}

function watchAbsent(git: string, guarded: GuardedPaths): void {
  for (const path of readByGit.map((name) => join(git, name))) if (!statOf(path)) guarded.watched.set(path, undefined);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** A literal rule of the user lifts one path of the project, but nothing of the agent's own configuration. */
function isLifted(path: string, plan: SandboxPlan): boolean {
  const { level } = floorOf({ given: path, real: path }, plan) ?? {};
  return (
    level === "protected" &&
    plan.rules.some((rule) => rule.verdict === "allow" && namesPath(rule, { given: path, real: path }, plan))
  );
}

/**
 * A linked worktree commits into the repository that it belongs to. The parts of that which a commit writes are opened,
 * if the repository knows this worktree: the file in the workspace alone could name any.
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

/** `own`: what git keeps for this worktree. `common`: the repository. Undefined where that does not know of it. */
function worktreeOf(pointer: string): { own: string; common: string } | undefined {
  const own = pointedTo(pointer);
  if (own === undefined) return undefined;
  const [back, up] = [textOf(join(own, "gitdir")).trim(), textOf(join(own, "commondir")).trim()];
  const common = realOrSame(resolve(own, up));
  const isKnown = back !== "" && realOrSame(resolve(own, back)) === realOrSame(pointer);
  return isKnown && up !== "" && dirname(own) === join(common, "worktrees") ? { own, common } : undefined;
}

/**
 * Where there is no `.git`, git looks for its own files in the folder itself, and obeys a configuration that lies beside
 * them, with the programs it names.
 */
function isRepository(folder: string): boolean {
  const has = (name: string) => statOf(join(folder, name)) !== undefined;
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/** By folder: the protected names that there are, and whether git takes the folder itself for a repository. */
export type TopLevelNames = ReadonlyMap<string, { names: ReadonlySet<string>; isRepository: boolean }>;

export function topLevelNames(plan: SandboxPlan): TopLevelNames {
  return new Map(
    plan.writable.map((root) => [
      root,
      { names: new Set(protectedAtTop(root, plan)), isRepository: isRepository(root) },
    ]),
  );
}

/** Of a path that has just come to be, in whatever spelling. */
export function isNewProtectedPath(path: string, plan: SandboxPlan, before: TopLevelNames): boolean {
  const atTop = before.get(dirname(path));
  return !(atTop && (atTop.names.has(path) || !mayBeProtected(basename(path)))) && isGuarded(path, plan);
}

/** Names that cannot be known before, such as `x.code-workspace`, or other spellings of those that are held. */
export function newTopLevelPaths(plan: SandboxPlan, before: TopLevelNames): string[] {
  return [...before].flatMap(([root, { names, isRepository: was }]) => {
    const fresh = protectedAtTop(root, plan).filter((path) => !names.has(path));
    return was || !isRepository(root) ? fresh : [...fresh, join(root, "HEAD")];
  });
}

/** So many folders are looked into. */
const mostFolders = 2000;
/** Large, made by machines, and full of other people's settings that nobody reads. */
const skipped = new Set(["node_modules", "__pycache__", ".venv", "venv", ".git"]);

/** Protected paths below the top of a folder, from the top down; and sockets and pipes in it. */
export function nestedIn(root: string, plan: SandboxPlan): { guarded: string[]; special: string[] } {
  const guarded: string[] = [];
  const special: string[] = [];
  const open = [root];
  for (let next = 0; next < Math.min(open.length, mostFolders); next++) {
    const folder = open[next]!;
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (folder !== root && mayBeProtected(entry.name) && floorOf({ given: path, real: path }, plan))
        guarded.push(path);
      else if (entry.isDirectory() && !skipped.has(entry.name)) open.push(path);
      else if (entry.isSocket() || entry.isFIFO()) special.push(path);
    }
  }
  return { guarded, special };
}

export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a file on the way, or a folder that may not be searched: nothing can be made there either
  }
}

export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
