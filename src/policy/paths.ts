// Resolves paths, tests which folder they are in, and finds the protected ones that no wildcard covers.
import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { foldText } from "../text/glob.ts";
import { systemErrorText } from "../text/system-error.ts";
import { tryOr } from "../text/try-or.ts";
import { entriesIn, protectedLink } from "./hard-links.ts";
import {
  homeFiles,
  homeFolders,
  isProtectedInGit,
  openInCursor,
  protectedFiles,
  protectedFolders,
  systemFiles,
} from "./protected-names.ts";

/** The directories that decide how paths are judged. */
export type WorkspacePaths = {
  /** The real path of the workspace; the other paths are real too. */
  workspace: string;
  roots: readonly string[];
  home: string;
  configDir: string;
  /** The folder that the workspace is a copy of. What its ignore files hide is hidden in the copy too. */
  standsFor?: string;
};

/** `given`: absolute, as named. `real`: with every link followed, even if the end does not exist. `isNew`: nothing exists there yet. */
export type ResolvedPath = { given: string; real: string; isNew?: true };

/** Resolves a path as the system would, through links. */
export function resolvePath(
  target: string,
  paths: Pick<WorkspacePaths, "workspace" | "home">,
  cwd?: string,
): ResolvedPath | { problem: string } {
  if (target.includes("\0")) return { problem: "a path cannot contain a NUL character" };
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(target)) return { problem: `${target} is an address, not a path` };
  const walked = walkedPath(target, paths, cwd);
  const resolvedPath = resolve(walked);
  try {
    const isKnown = walked === paths.workspace || isThere(walked);
    const real = realTarget(walked, { real: paths.workspace, isKnown });
    // `new/../file` exists as soon as `new` does.
    return !isKnown && real === walked ? { given: resolvedPath, real, isNew: true } : { given: resolvedPath, real };
  } catch (error) {
    return { problem: `${resolvedPath} cannot be resolved (${systemErrorText(error)})` };
  }
}

/** Expands `~` and `~name` to home folders; relative paths start at `cwd`, which defaults to the workspace. */
export function absolutePath(target: string, paths: Pick<WorkspacePaths, "workspace" | "home">, cwd?: string): string {
  return resolve(walkedPath(target, paths, cwd));
}

/** Keeps `..`, because the kernel follows links before it: `link/../x` is not `x`. */
function walkedPath(
  target: string,
  { workspace, home }: Pick<WorkspacePaths, "workspace" | "home">,
  cwd = workspace,
): string {
  const path = withHome(target, home);
  return isAbsolute(path) ? path : `${cwd}/${path}`;
}

/** Expands `~/x` and `~name/x` as shells do. If no user has that name, it is an ordinary file name. */
export function withHome(path: string, home: string): string {
  const [tilde, name] = /^~([^/]*)/.exec(path) ?? [];
  const folder = name === "" ? home : name && homeOf(name, home);
  return folder ? folder + path.slice(tilde!.length) : path;
}

/** The maximum size of a text that is read, more than any handwritten file of code or names. */
export const longestText = 512 * 1024;

let homes: ReadonlyMap<string, string> | undefined;

/** Returns a user's home. Users of a directory service are not in /etc/passwd: try beside the current home. */
function homeOf(name: string, home: string): string | undefined {
  homes ??= new Map(
    readTextUpTo("/etc/passwd", longestText)
      .split("\n")
      .map((line) => line.split(":"))
      .map((fields) => [fields[0]!, fields[5] ?? ""]),
  );
  const beside = join(dirname(home), name);
  return homes.get(name) || (isDirectory(beside) ? beside : undefined);
}

/** Reads a regular file; returns an empty string if it is unreadable or longer than `longest`. */
export function readTextUpTo(file: string, longest: number): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat?.isFile() && stat.size <= longest ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}

/** Twice the kernel's limit for paths: a folder, and a path in it. */
const longestPath = 8192;

/** `real` is a folder known to be resolved. `isKnown` tells whether anything exists at the path. */
type ResolveOptions = { maxLinks?: number; maxMissing?: number; real?: string; isKnown?: boolean };

/** Resolves all links of a path, whose end need not exist. Throws for loops and unsearchable folders: such a path is not permitted. */
export function realTarget(path: string, options: ResolveOptions = {}): string {
  const { maxLinks = 40, maxMissing = 200, real = "" } = options;
  if (path === real) return path;
  if (path.length > longestPath || maxMissing === 0) throw Object.assign(new Error(path), { code: "ENAMETOOLONG" });
  // Checked first, because most new files do not exist, and catching an error is slower than a check.
  const isKnown = options.isKnown ?? isThere(path);
  if (isKnown) {
    try {
      return realpathSync.native(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    }
  }
  // The kernel detects other loops, but not those of links through missing folders.
  if (maxLinks === 0 || dirname(path) === path) throw Object.assign(new Error(path), { code: "ELOOP" });
  const name = basename(path);
  const folder = realTarget(dirname(path), { maxLinks, maxMissing: maxMissing - 1, real });
  const target = join(folder, name);
  const link = isKnown || target !== path ? linkAt(target) : undefined;
  if (link === undefined) return target;
  return realTarget(isAbsolute(link) ? link : `${folder}/${link}`, { maxLinks: maxLinks - 1, real });
}

/** Returns whether anything exists there, including a broken link; true if that cannot be determined. */
export function isThere(path: string): boolean {
  // A file in place of a folder, or a folder that may not be searched: the next system call tells which.
  return tryOr(() => lstatSync(path, { throwIfNoEntry: false }) !== undefined, true);
}

/** Returns the real path, or the path itself if it cannot be resolved. */
export function realOrSame(path: string): string {
  return tryOr(() => realTarget(path), path);
}

/** Returns the target of a symlink, or undefined if it is not one. */
export function linkAt(path: string): string | undefined {
  return tryOr(() => (isThere(path) ? readlinkSync(path) : undefined), undefined);
}

/** Compares whole components: /work-evil is not inside /work. Both paths must be absolute and without `..`. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Formats a path for display: relative with slashes inside the workspace, unchanged elsewhere. */
export function shownPath(path: string, workspace: string): string {
  const displayPath = isInside(path, workspace) ? relative(workspace, path) || "." : path;
  return displayPath.split(sep).join("/");
}

export function rootOf(path: string, paths: WorkspacePaths): string | undefined {
  return [paths.workspace, ...paths.roots].find((root) => isInside(path, root));
}

export type Floor = { level: "never" | "protected"; why: string };

/** Returns what protects a path from writes in every mode, or undefined for an ordinary path. */
export function floorOf(path: ResolvedPath, paths: WorkspacePaths): Floor | undefined {
  const named = floorByName(path, paths);
  if (named) return named;
  if (path.isNew) return undefined;
  const isProtected = (other: string) => floorByName({ given: other, real: other }, paths) !== undefined;
  const other = protectedLink(path.real, paths, isProtected);
  return other
    ? { level: "protected", why: `${path.real} is another name of ${other}, which is protected` }
    : undefined;
}

function floorByName({ given, real }: ResolvedPath, paths: WorkspacePaths): Floor | undefined {
  for (const path of new Set([given, real])) {
    if (isOwnConfiguration(path, paths))
      return { level: "never", why: `${path} belongs to the agent's own configuration, which it never writes` };
  }
  for (const path of new Set([given, real])) {
    const name = protectedName(path, paths);
    if (name)
      return { level: "protected", why: `${name} is protected: it can run code, or change what the agent may do` };
  }
  return undefined;
}

/** Resolved once for each set of paths: a command may name a thousand files. */
const ownFolders = new WeakMap<WorkspacePaths, ReadonlySet<string>>();

function isOwnConfiguration(path: string, paths: WorkspacePaths): boolean {
  const { workspace, home, configDir } = paths;
  const userFolder = join(home, ".cursor");
  const folders =
    ownFolders.get(paths) ?? new Set([configDir, userFolder, realOrSame(configDir), realOrSame(userFolder)]);
  ownFolders.set(paths, folders);
  for (const folder of folders) {
    if (!isInside(foldText(path), foldText(folder))) continue;
    // Worktrees are inside the configuration directory, but count as workspaces.
    const worktrees = join(folder, "worktrees");
    if (workspace !== worktrees && isInside(workspace, worktrees) && isInside(path, workspace)) continue;
    return true;
  }
  return false;
}

/** Returns whether removing the folder would remove a workspace. */
export function holdsWorkspace(folder: string, { workspace, roots }: WorkspacePaths): boolean {
  return [workspace, ...roots].some((path) => isInside(path, folder));
}

const folderNames = new Set(protectedFolders);
const fileNames = new Set(protectedFiles);
const openNames = new Set(openInCursor);
const homeFileNames = new Set(homeFiles);

/** Returns the part of a path that is protected, as written. Names count at any depth, since programs find nested ones too. */
function protectedName(path: string, paths: WorkspacePaths): string | undefined {
  const home = homeName(path, paths.home);
  if (home) return home;
  // Ignore the part of the path above the workspace.
  const root = rootOf(path, paths);
  const names = (root ? path.slice(root.length) : path).split(sep).filter(Boolean);
  const folded = names.map((name) => normalizeName(name));
  for (const [index, name] of folded.entries()) {
    const rest = folded.slice(index + 1);
    const last = rest.length === 0;
    if (folderNames.has(name)) return names.slice(index).join("/");
    if (last && (fileNames.has(name) || name.endsWith(".code-workspace"))) return names[index];
    if (name === ".cursor" && !openNames.has(rest[0] ?? "")) return names.slice(index).join("/");
    if (name === ".git" && isProtectedInGit(rest)) return names.slice(index).join("/");
  }
  return undefined;
}

function homeName(path: string, home: string): string | undefined {
  const plain = foldText(path);
  if (systemFiles.some((each) => isInside(plain, each))) return path;
  const rest = relative(foldText(home), plain);
  const named = homeFileNames.has(rest) || homeFolders.some((folder) => isInside(rest, folder));
  return named ? `~/${rest}` : undefined;
}

/** Normalises a name the way the most lenient file system would. */
function normalizeName(name: string): string {
  const plain = foldText(name)
    .replace(/::?\$.*$/, "")
    .replace(/[. ]+$/, "");
  return /^git~\d$/.test(plain) ? ".git" : plain;
}

/** Devices, pipes and the kernel's own files are never read or written. */
export function specialKind(real: string): string | undefined {
  const problem = kernelPath(real);
  if (problem) return problem;
  try {
    const stat = statSync(real);
    return stat.isFile() || stat.isDirectory() ? undefined : "it is a device, pipe or socket";
  } catch {
    return undefined;
  }
}

/** Refuses /proc, /dev and /sys wherever a name there leads: it resolves differently for each process. */
export function kernelPath(path: string): string | undefined {
  const folder = ["/proc", "/dev", "/sys"].find((each) => isInside(path, each));
  return folder && `${folder} does not contain regular files`;
}

const maxLooked = 2000;
const deepestSetting = 4;

/** Finds a protected path below a folder: removing the folder removes settings, which could then be recreated. */
export function protectedBelow(folder: string, paths: WorkspacePaths): string | undefined {
  return firstBelow(folder, (path) => protectedName(path, paths) !== undefined, deepestSetting);
}

/** Finds the nearest match below a folder; skips installed packages. */
export function firstBelow(
  folder: string,
  isWanted: (path: string) => boolean,
  deepest = maxLooked,
): string | undefined {
  const open = [{ path: folder, depth: 0 }];
  let looked = 0;
  for (let next = open.shift(); next && looked < maxLooked; next = open.shift()) {
    for (const entry of entriesIn(next.path)) {
      looked++;
      const path = join(next.path, entry.name);
      // The .git folder of a repository cloned there is not a protected setting.
      if (entry.name === ".git" || entry.name === "node_modules") continue;
      if (isWanted(path)) return path;
      if (entry.isDirectory() && next.depth < deepest) open.push({ path, depth: next.depth + 1 });
    }
  }
  return undefined;
}

export function isDirectory(path: string): boolean {
  return tryOr(() => statSync(path).isDirectory(), false);
}
