// Paths: where they really lead, what is inside, and the protected ones that no wildcard covers.
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { systemErrorText } from "../text/system-error.ts";
import { fold } from "./glob.ts";
import { protectedLink } from "./hard-links.ts";
import {
  homeFiles,
  homeFolders,
  isProtectedInGit,
  openInCursor,
  protectedFiles,
  protectedFolders,
  systemFiles,
} from "./protected-names.ts";

export type WorkspacePaths = {
  /** Real paths. */
  workspace: string;
  roots: readonly string[];
  home: string;
  configDir: string;
  /** The folder that the workspace is a copy of: what is hidden there is hidden here. */
  standsFor?: string;
};

/** `given`: absolute, as named. `real`: every link followed, whether or not the end exists. `isNew`: nothing is there yet. */
export type ResolvedPath = { given: string; real: string; isNew?: true };

export function resolvePath(
  target: string,
  paths: Pick<WorkspacePaths, "workspace" | "home">,
  cwd?: string,
): ResolvedPath | { problem: string } {
  if (target.includes("\0")) return { problem: "a path cannot contain a NUL character" };
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(target)) return { problem: `${target} is an address, not a path` };
  const walked = walkedPath(target, paths, cwd);
  const given = resolve(walked);
  try {
    const isKnown = walked === paths.workspace || isThere(walked);
    const real = realTarget(walked, { real: paths.workspace, isKnown });
    // `new/../file` is there as soon as `new` is.
    return !isKnown && real === walked ? { given, real, isNew: true } : { given, real };
  } catch (error) {
    return { problem: `${given} cannot be resolved (${systemErrorText(error)})` };
  }
}

/** `~` is the home folder, `~name` that of somebody; what is relative starts at `cwd`, or else at the workspace. */
export function absolutePath(target: string, paths: Pick<WorkspacePaths, "workspace" | "home">, cwd?: string): string {
  return resolve(walkedPath(target, paths, cwd));
}

/** With its `..`, since the kernel follows the links before it: `link/../x` is not `x`. */
function walkedPath(
  target: string,
  { workspace, home }: Pick<WorkspacePaths, "workspace" | "home">,
  cwd = workspace,
): string {
  const path = withHome(target, home);
  return isAbsolute(path) ? path : `${cwd}/${path}`;
}

/** `~/x`, `~name/x`: as shells read it. Where nobody has that name, it is a name like any other. */
export function withHome(path: string, home: string): string {
  const [tilde, name] = /^~([^/]*)/.exec(path) ?? [];
  const folder = name === "" ? home : name && homeOf(name, home);
  return folder ? folder + path.slice(tilde!.length) : path;
}

/** No file of code or of names that people wrote is longer. */
export const longestText = 512 * 1024;

let homes: ReadonlyMap<string, string> | undefined;

/** Users that this machine gets from elsewhere are not in the list: their homes lie beside ours. */
function homeOf(name: string, home: string): string | undefined {
  homes ??= new Map(
    textOf("/etc/passwd", longestText)
      .split("\n")
      .map((line) => line.split(":"))
      .map((fields) => [fields[0]!, fields[5] ?? ""]),
  );
  const beside = join(dirname(home), name);
  return homes.get(name) || (isDirectory(beside) ? beside : undefined);
}

/** What a regular file holds; nothing where it cannot be read, or is longer than this. */
export function textOf(file: string, longest: number): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat?.isFile() && stat.size <= longest ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}

/** Twice what kernels take: a folder, and a path in it. */
const longestPath = 8192;

/** `real`: a folder that is known to be one. `isKnown`: whether anything is there. */
type ResolveOptions = { mostLinks?: number; mostMissing?: number; real?: string; isKnown?: boolean };

/** Throws for loops and for folders that may not be searched: what cannot be resolved is not permitted. */
export function realTarget(path: string, options: ResolveOptions = {}): string {
  const { mostLinks = 40, mostMissing = 200, real = "" } = options;
  if (path === real) return path;
  if (path.length > longestPath || mostMissing === 0) throw Object.assign(new Error(path), { code: "ENAMETOOLONG" });
  // Asked first, because most new files are not there, and an error costs more than a question.
  const isKnown = options.isKnown ?? isThere(path);
  if (isKnown) {
    try {
      return realpathSync.native(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    }
  }
  // The kernel finds other loops, but not those of links that lead through folders that are not there.
  if (mostLinks === 0 || dirname(path) === path) throw Object.assign(new Error(path), { code: "ELOOP" });
  const name = basename(path);
  const folder = realTarget(dirname(path), { mostLinks, mostMissing: mostMissing - 1, real });
  const target = join(folder, name);
  const link = isKnown || target !== path ? linkAt(target) : undefined;
  if (link === undefined) return target;
  return realTarget(isAbsolute(link) ? link : `${folder}/${link}`, { mostLinks: mostLinks - 1, real });
}

/** Is anything there, a broken link included? Where that cannot be told, yes. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A file in the place of a folder, or a folder that may not be searched: the next question says which.
    return true;
  }
}

/** The real path, or the path itself where it cannot be resolved. */
export function realOrSame(path: string): string {
  try {
    return realTarget(path);
  } catch {
    return path;
  }
}

function linkAt(path: string): string | undefined {
  try {
    return isThere(path) ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Whole components: /work-evil is not inside /work. Both absolute and without `..`. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** As a reader in the workspace would write it: relative, with slashes; as it is where it lies elsewhere. */
export function shownPath(path: string, workspace: string): string {
  const shown = isInside(path, workspace) ? relative(workspace, path) || "." : path;
  return shown.split(sep).join("/");
}

export function rootOf(path: string, paths: WorkspacePaths): string | undefined {
  return [paths.workspace, ...paths.roots].find((root) => isInside(path, root));
}

export type Floor = { level: "never" | "protected"; why: string };

/** What stands against writing here in every mode; undefined for ordinary paths. */
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
  const own = join(home, ".cursor");
  const folders = ownFolders.get(paths) ?? new Set([configDir, own, realOrSame(configDir), realOrSame(own)]);
  ownFolders.set(paths, folders);
  for (const folder of folders) {
    if (!isInside(fold(path), fold(folder))) continue;
    // Worktrees live inside the configuration directory, and are workspaces all the same.
    const worktrees = join(folder, "worktrees");
    if (workspace !== worktrees && isInside(workspace, worktrees) && isInside(path, workspace)) continue;
    return true;
  }
  return false;
}

/** Would removing this take a workspace with it? */
export function holdsWorkspace(folder: string, { workspace, roots }: WorkspacePaths): boolean {
  return [workspace, ...roots].some((path) => isInside(path, folder));
}

const folderNames = new Set(protectedFolders);
const fileNames = new Set(protectedFiles);
const openNames = new Set(openInCursor);
const homeFileNames = new Set(homeFiles);

/** The part of a path that makes it protected, as it is written. Names count at any depth, since nested ones are found too. */
function protectedName(path: string, paths: WorkspacePaths): string | undefined {
  const home = homeName(path, paths.home);
  if (home) return home;
  // Components above the workspace say nothing about what is in it.
  const root = rootOf(path, paths);
  const names = (root ? path.slice(root.length) : path).split(sep).filter(Boolean);
  const folded = names.map((name) => component(name));
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
  const plain = fold(path);
  if (systemFiles.some((each) => isInside(plain, each))) return path;
  const rest = relative(fold(home), plain);
  const named = homeFileNames.has(rest) || homeFolders.some((folder) => isInside(rest, folder));
  return named ? `~/${rest}` : undefined;
}

/** A name as the most forgiving file system would read it. */
function component(name: string): string {
  const plain = fold(name)
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

/** Whatever a name there leads to: where our own process is says nothing about others. */
export function kernelPath(path: string): string | undefined {
  const folder = ["/proc", "/dev", "/sys"].find((each) => isInside(path, each));
  return folder && `${folder} does not contain regular files`;
}

const mostLooked = 2000;
const deepestSetting = 4;

/** Something protected below a folder: settings go with it, and could be made anew. */
export function protectedBelow(folder: string, paths: WorkspacePaths): string | undefined {
  return firstBelow(folder, (path) => protectedName(path, paths) !== undefined, deepestSetting);
}

/** Of what lies below a folder, the nearest first; what packages bring along is ignored. */
export function firstBelow(
  folder: string,
  isWanted: (path: string) => boolean,
  deepest = mostLooked,
): string | undefined {
  const open = [{ path: folder, depth: 0 }];
  let looked = 0;
  for (let next = open.shift(); next && looked < mostLooked; next = open.shift()) {
    for (const entry of entriesIn(next.path)) {
      looked++;
      const path = join(next.path, entry.name);
      // The folder of a repository that was cloned there is nobody's setting.
      if (entry.name === ".git" || entry.name === "node_modules") continue;
      if (isWanted(path)) return path;
      if (entry.isDirectory() && next.depth < deepest) open.push({ path, depth: next.depth + 1 });
    }
  }
  return undefined;
}

export function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
