// Protected paths of a folder that commands may write: read-only where they are, kept from coming to be where they are not.
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { hasWildcard } from "../../policy/glob.ts";
import { floorOf, isInside, realOrSame } from "../../policy/paths.ts";
import { absolutePattern, namesPath } from "../../policy/rules.ts";
import type { Mount } from "./layout.ts";
import type { SandboxPlan } from "./plan.ts";
import { gitSettings, homeSettings, openInCursor, protectedFiles, protectedFolders } from "./protected-names.ts";

export type Guarded = {
  mounts: Mount[];
  /** Not there yet: empty folders hold these names while a command runs. */
  blanks: string[];
  /** What no mount can hold, as it is now; undefined: not there. Looked at again when the command has ended. */
  watched: Map<string, string | undefined>;
};

/** Names in the folder itself. The floor of the policy knows them at any depth; these alone can be kept from appearing. */
const names = [".cursor", ".git", ...protectedFolders, ...protectedFiles];
/** Git reads these wherever they are, and an empty folder of that name would stop it: they are looked at afterwards. */
const readByGit = ["commondir"];
const readWithExtension = ["config.worktree"];

export function guardFolder(root: string, plan: SandboxPlan): Guarded {
  const guarded: Guarded = { mounts: [], blanks: [], watched: new Map() };
  const wanted = names.map((name) => join(root, name));
  const { home, configDir } = plan;
  if (isInside(home, root)) wanted.push(...homeSettings.map((name) => join(home, name)));
  if (isInside(configDir, root)) wanted.push(configDir);
  for (const path of wanted) guardPath(path, plan, guarded);
  for (const entry of entriesOf(root))
    if (entry.name.endsWith(".code-workspace")) guardPath(join(root, entry.name), plan, guarded);
  for (const at of openPaths(root, plan)) guarded.mounts.push({ at, as: "writable" });
  return guarded;
}

/** Parts of protected folders that may be written: those made for it, and those that a rule of the user names. */
function openPaths(root: string, plan: SandboxPlan): string[] {
  const cursor = join(root, ".cursor");
  const isOwn = cursor === plan.configDir || cursor === join(plan.home, ".cursor");
  const made = isOwn ? [] : openInCursor.map((name) => join(cursor, name)).filter((at) => factsOf(at)?.isDirectory());
  const named = plan.rules
    .filter((rule) => rule.verdict === "allow" && !hasWildcard(rule.pattern))
    .map((rule) => absolutePattern(rule.pattern, plan))
    .filter((at) => isInside(at, root) && isLifted(at, plan) && factsOf(at)?.isFile());
  return [...made, ...named].filter((at) => !plan.readOnly.some((closed) => isInside(at, closed)));
}

/** One that was found below the folder: it and the way to it stay where they are. */
export function guardNested(path: string, root: string, plan: SandboxPlan): Guarded {
  const guarded: Guarded = { mounts: [], blanks: [], watched: new Map() };
  guardPath(path, plan, guarded);
  // A folder that is a mount point can be neither renamed nor replaced.
  for (let folder = dirname(path); folder !== root && isInside(folder, root); folder = dirname(folder))
    guarded.mounts.push({ at: folder, as: "pinned" });
  return guarded;
}

function guardPath(path: string, plan: SandboxPlan, guarded: Guarded): void {
  if (isLifted(path, plan)) return;
  const facts = factsOf(path);
  if (!facts) {
    // Where its folder is missing as well, whoever makes that first must still get past the next call.
    if (factsOf(dirname(path))?.isDirectory()) guarded.blanks.push(path);
  } else if (facts.isSymbolicLink()) guardLink(path, plan, guarded);
  else if (basename(path) === ".git" && facts.isDirectory()) guardGit(path, plan, guarded);
  else guarded.mounts.push({ at: path, as: "readOnly" });
}

/** A link cannot be a mount point: what it leads to is read-only, and the link itself is put back if it was changed. */
function guardLink(path: string, plan: SandboxPlan, guarded: Guarded): void {
  guarded.watched.set(path, readlinkSync(path));
  const target = realOrSame(path);
  if (target === path || !factsOf(target)) return;
  const root = plan.writable.find((folder) => isInside(target, folder));
  if (root === undefined || target === root) return;
  guarded.mounts.push({ at: target, as: "readOnly" });
  for (let folder = dirname(target); folder !== root; folder = dirname(folder))
    guarded.mounts.push({ at: folder, as: "pinned" });
}

/** Commits must go on: all of it may be written but hooks, configuration, and what points to such elsewhere. */
function guardGit(git: string, plan: SandboxPlan, guarded: Guarded): void {
  guarded.mounts.push({ at: git, as: "pinned" });
  const there = entriesOf(git).map((entry) => entry.name);
  for (const name of new Set([...there, ...gitSettings])) {
    const path = join(git, name);
    const isSetting = gitSettings.includes(name) || floorOf({ given: path, real: path }, plan) !== undefined;
    if (isSetting) guardPath(path, plan, guarded);
  }
  guardRead(git, git, guarded);
}

/** `own`: where git looks for them. `common`: where the configuration says which of them it reads. */
function guardRead(own: string, common: string, guarded: Guarded): void {
  const extended = /worktreeconfig/i.test(textOf(join(common, "config")));
  for (const name of [...readByGit, ...readWithExtension]) {
    const path = join(own, name);
    if (factsOf(path)) continue;
    if (extended || readByGit.includes(name)) guarded.watched.set(path, undefined);
    else guarded.blanks.push(path);
  }
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
export function linkedGit(workspace: string): Guarded {
  const guarded: Guarded = { mounts: [], blanks: [], watched: new Map() };
  const pointer = join(workspace, ".git");
  const [, target] = /^gitdir: (.+?)\s*$/.exec(factsOf(pointer)?.isFile() ? textOf(pointer) : "") ?? [];
  if (target === undefined) return guarded;
  const own = realOrSame(resolve(workspace, target));
  const [back, up] = [textOf(join(own, "gitdir")).trim(), textOf(join(own, "commondir")).trim()];
  const common = realOrSame(resolve(own, up));
  const isKnown = back !== "" && realOrSame(resolve(own, back)) === realOrSame(pointer);
  if (!isKnown || up === "" || dirname(own) !== join(common, "worktrees")) return guarded;
  guarded.mounts.push({ at: common, as: "visible" });
  for (const at of [own, ...["objects", "refs", "logs"].map((name) => join(common, name))])
    if (factsOf(at)?.isDirectory()) guarded.mounts.push({ at, as: "writable" });
  for (const at of ["gitdir", ...readByGit, ...readWithExtension].map((name) => join(own, name)))
    if (factsOf(at)) guarded.mounts.push({ at, as: "readOnly" });
  guardRead(own, common, guarded);
  return guarded;
}

/** So many folders are looked into. */
const mostFolders = 2000;
/** Large, made by machines, and full of other people's settings that nobody reads. */
const skipped = new Set(["node_modules", "__pycache__", ".venv", "venv", ".git"]);

/** Protected paths below the top of a folder, from the top down. */
export function nestedIn(root: string, plan: SandboxPlan): string[] {
  const found: string[] = [];
  const open = [root];
  for (let next = 0; next < Math.min(open.length, mostFolders); next++) {
    const folder = open[next]!;
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      const mayBe = folder !== root && (entry.name.startsWith(".") || entry.name.endsWith(".code-workspace"));
      if (mayBe && floorOf({ given: path, real: path }, plan)) found.push(path);
      else if (entry.isDirectory() && !skipped.has(entry.name)) open.push(path);
    }
  }
  return found;
}

export function factsOf(path: string): Stats | undefined {
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
