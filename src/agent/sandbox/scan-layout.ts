// Scans what of a plan is on disk at the moment, as a layout for one command.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { floorOf, isInside, realOrSame } from "../../policy/paths.ts";
import { arrange, type Layout, type Mount } from "./layout.ts";
import type { SandboxPlan } from "./plan.ts";
import {
  entriesOf,
  type GuardedPaths,
  guardFolder,
  guardNested,
  linkedGit,
  nestedIn,
  statOf,
  type TopLevelNames,
  topLevelNames,
} from "./protected-paths.ts";
import { type HiddenFiles, ruledPaths } from "./ruled-paths.ts";

export type ScanLayoutRequest = {
  plan: SandboxPlan;
  hiding: HiddenFiles;
  /** Folders of the run's own, by the temporary folder of the system that each stands in for. */
  temporary: ReadonlyMap<string, string>;
  /** Folders and files that the command cannot do without: programs, the outputs of the session. */
  needed: readonly string[];
  /**
   * Does no other command run in these folders? One that does could put a link in the place of a folder between this look
   * and the mount, so that what lies deep in the workspace is then left as it is.
   */
  alone: boolean;
  /** Our own, which stays in reach. */
  socket?: string;
};

/** `watched`: what no mount can hold, and how it is now. `topLevel`: the folders that can be written, as they are now. */
export type ScannedLayout = {
  layout: Layout;
  blanks: string[];
  watched: GuardedPaths["watched"];
  topLevel: TopLevelNames;
  notes: string[];
};

export function scanLayout({ plan, hiding, temporary, needed, alone, socket }: ScanLayoutRequest): ScannedLayout {
  const mounts: Mount[] = [];
  const blanks: string[] = [];
  const watched: GuardedPaths["watched"] = new Map();
  const add = (guarded: GuardedPaths) => {
    mounts.push(...guarded.mounts);
    blanks.push(...guarded.blanks);
    for (const [path, state] of guarded.watched) watched.set(path, state);
  };

  const veils = [...covers(plan), ...temporary.keys()];
  for (const at of covers(plan)) mounts.push({ at, as: "covered" });
  for (const [at, from] of temporary) mounts.push({ at, as: "private", from });
  // Never a veil itself, or what holds one: a PATH that names /tmp does not open it.
  const shown = [...needed, ...plan.readable, ...homeInSight(plan)].filter(
    (path) => statOf(path) && !veils.some((veil) => isInside(veil, path)),
  );
  for (const at of shown) mounts.push({ at, as: "visible" });

  const roots = [plan.workspace, ...plan.roots];
  const writable = plan.writable.filter((path) => statOf(path) && (roots.includes(path) || !isProtected(path, plan)));
  for (const root of writable) {
    mounts.push({ at: root, as: "writable" });
    add(guardFolder(root, plan));
    if (alone) for (const path of nestedIn(root, plan)) add(guardNested(path, root, plan));
  }
  for (const root of roots) if (writable.includes(root)) add(linkedGit(root));
  if (alone) mounts.push(...hardLinksTo(mounts, writable));
  for (const at of plan.readOnly) if (statOf(at)) mounts.push({ at, as: "readOnly" });

  const ruled = ruledPaths(plan, hiding);
  mounts.push(...ruled.mounts, ...socketsInSight().filter(({ at }) => at !== socket));
  blanks.push(...ruled.absent.filter((path) => canBeMade(path, plan, mounts)));
  for (const at of blanks) mounts.push({ at, as: "readOnly" });
  return { layout: arrange(mounts), blanks, watched, topLevel: topLevelNames(plan), notes: ruled.notes };
}

const mostEntries = 20_000;

/**
 * Other names of protected files: a file with two names is one file, and writing it by either changes both. `mounts`: what is protected so far. Nearly always nothing in there has a second name, and nothing is
 * searched.
 */
function hardLinksTo(mounts: readonly Mount[], writable: readonly string[]): Mount[] {
  const closed = mounts.filter(({ as }) => as === "readOnly").map(({ at }) => at);
  const wanted = new Set(closed.flatMap(filesOf).flatMap((path) => linkedFile(path) ?? []));
  if (wanted.size === 0) return [];
  const found: Mount[] = [];
  const open = [...writable];
  let left = mostEntries;
  for (let next = 0; next < open.length; next++) {
    for (const entry of entriesOf(open[next]!)) {
      if (left-- <= 0) return found;
      const path = join(open[next]!, entry.name);
      if (closed.some((at) => isInside(path, at))) continue;
      if (entry.isDirectory()) open.push(path);
      else if (wanted.has(linkedFile(path) ?? "")) found.push({ at: path, as: "readOnly" });
    }
  }
  return found;
}

/** A file, or those right in a folder. */
function filesOf(path: string): string[] {
  return statOf(path)?.isDirectory() ? entriesOf(path).map(({ name }) => join(path, name)) : [path];
}

/** What tells a file that has several names from all others. */
function linkedFile(path: string): string | undefined {
  const stat = statOf(path);
  return stat?.isFile() && stat.nlink > 1 ? `${stat.dev}:${stat.ino}` : undefined;
}

/** Is there a folder for it that a command may write? */
function canBeMade(path: string, plan: SandboxPlan, mounts: readonly Mount[]): boolean {
  const folder = dirname(path);
  const isClosed = ({ at, as }: Mount) => (as === "readOnly" || as === "hidden") && isInside(path, at);
  return (
    plan.writable.some((root) => isInside(folder, root)) &&
    statOf(folder)?.isDirectory() === true &&
    !isProtected(path, plan) &&
    !mounts.some(isClosed)
  );
}

/** Sockets and secrets of running programs. */
const runFolders = ["/run", "/var/run"];
/** Where people keep their own things. */
const homeFolders = ["/home", "/root", "/mnt", "/media", "/srv"];

function covers({ readBoundary, home, temporary }: SandboxPlan): string[] {
  const wanted = [...runFolders, ...(readBoundary === "workspace" ? [...homeFolders, home] : [])];
  if (!temporary) wanted.push("/tmp", "/var/tmp");
  return wanted.filter((path) => statOf(path)?.isDirectory());
}

function homeInSight({ readBoundary, home }: SandboxPlan): string[] {
  return readBoundary === "workspace" ? [join(home, ".ssh", "known_hosts")] : [home];
}

/** A folder on the user's list that is itself protected stays closed. */
function isProtected(path: string, plan: SandboxPlan): boolean {
  return floorOf({ given: path, real: path }, plan) !== undefined;
}

/** A socket can be spoken to through a read-only mount: those that have a name are hidden, the others have no way in. */
function socketsInSight(): Mount[] {
  let table: string;
  try {
    table = readFileSync("/proc/net/unix", "utf8");
  } catch {
    return [];
  }
  const paths = new Set<string>();
  for (const line of table.split("\n")) {
    const [, path] = /^[0-9a-f]+: (?:\S+ +){6}(\/.*)$/i.exec(line) ?? [];
    if (path !== undefined && statOf(path)?.isSocket()) paths.add(realOrSame(path));
  }
  return [...paths].map((at) => ({ at, as: "hidden", kind: "file" }));
}
