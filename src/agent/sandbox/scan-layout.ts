// Scans the disk for what a plan names, and builds the layout for one command.
import { dirname, join } from "node:path";
import { entriesIn } from "../../policy/hard-links.ts";
import { floorOf, isInside } from "../../policy/paths.ts";
import { statOf } from "../folder-handle.ts";
import { arrangeMounts, type Layout, type Mount } from "./layout.ts";
import { readMountNames } from "./mount-names.ts";
import type { SandboxPlan } from "./plan.ts";
import {
  type GuardedPaths,
  guardFolder,
  guardNested,
  linkedGit,
  nestedIn,
  type TopLevelNames,
  topLevelNames,
} from "./protected-paths.ts";
import { checkLength, type HiddenFiles, ruledPaths } from "./ruled-paths.ts";
import type { SpecialFiles } from "./special-files.ts";

export type ScanLayoutRequest = {
  plan: SandboxPlan;
  hiding: HiddenFiles;
  special: SpecialFiles;
  /** Maps each temporary folder of the system to the run's own folder that replaces it. */
  temporary: ReadonlyMap<string, string>;
  /** Folders and files that the command needs, such as programs and the outputs of the session. */
  needed: readonly string[];
  /** The agent's own folders, which commands must not see. */
  kept: readonly string[];
  /** The agent's own socket, which commands can still reach. */
  socket?: string;
};

/** `watched`: paths that no mount can protect, and their present state. `topLevel`: protected names at the top of writable folders. */
export type ScannedLayout = {
  layout: Layout;
  watched: GuardedPaths["watched"];
  topLevel: TopLevelNames;
  notes: string[];
};

export function scanLayout(request: ScanLayoutRequest): ScannedLayout {
  const { plan, hiding, special, temporary, needed, kept, socket } = request;
  const mounts: Mount[] = [];
  const watched: GuardedPaths["watched"] = new Map();
  const add = (guarded: GuardedPaths) => {
    mounts.push(...guarded.mounts);
    for (const [path, state] of guarded.watched) watched.set(path, state);
  };

  const hiddenFolders = [...coveredFolders(plan), ...temporary.keys()];
  for (const at of coveredFolders(plan)) mounts.push({ at, as: "covered" });
  for (const [at, from] of temporary) mounts.push({ at, as: "private", from });
  const closed = kept.filter((path) => statOf(path)?.isDirectory());
  for (const at of closed) mounts.push({ at, as: "closed" });
  const roots = [plan.workspace, ...plan.roots];
  // Settings cannot make the agent's own folders readable.
  const readable = plan.readable.filter((path) => roots.includes(path) || !kept.some((each) => isInside(path, each)));
  // Never a covered folder itself, nor a parent of one: a PATH that names /tmp does not open it.
  const visiblePaths = [...needed, ...readable, ...homeInSight(plan)].filter(
    (path) => statOf(path) && !hiddenFolders.some((folder) => isInside(folder, path)),
  );
  for (const at of visiblePaths) mounts.push({ at, as: "visible" });

  const writable = plan.writable.filter((path) => statOf(path) && (roots.includes(path) || !isProtected(path, plan)));
  const inside: string[] = [];
  for (const root of writable) {
    mounts.push({ at: root, as: "writable" });
    add(guardFolder(root, plan));
    const nested = nestedIn(root, plan);
    for (const path of nested.guarded) add(guardNested(path, plan));
    inside.push(...nested.special);
  }
  for (const root of roots) if (writable.includes(root)) add(linkedGit(root));
  for (const at of plan.readOnly) if (statOf(at)) mounts.push({ at, as: "readOnly" });
  const ruled = ruledPaths(plan, hiding);
  mounts.push(...ruled.mounts);
  for (const path of ruled.absent) if (writable.some((root) => isInside(path, root))) watched.set(path, undefined);

  const isInSight = (path: string) =>
    !hiddenFolders.some((folder) => isInside(path, folder)) || visiblePaths.some((at) => isInside(path, at));
  const around = [...roots.map(dirname), plan.home, ...sharedFolders].filter(isInSight);
  const found = special.find({ around, except: [...writable, ...hiddenFolders, ...closed], isInSight });
  const others = [...found, ...special.foreign(inside)].filter((path) => path !== socket);
  mounts.push(...special.hidden(others, { needed: [...visiblePaths, ...writable, plan.home], own: writable }));
  mounts.push(...hardLinksTo(mounts, writable), ...otherNamesOf(mounts));
  mounts.push(...waysTo([...mounts.filter(isFixed).map(({ at }) => at), ...watched.keys()], writable));
  return { layout: checkLength(arrangeMounts(mounts)), watched, topLevel: topLevelNames(plan), notes: ruled.notes };
}

/** Folders in which system services keep their sockets and pipes. */
const sharedFolders = ["/var/lib", "/var/spool", "/srv", "/opt"];

/** Reports whether the path must keep its contents under its name. */
function isFixed({ as }: Mount): boolean {
  return as === "readOnly" || as === "hidden" || as === "closed" || as === "pinned";
}

/** Makes every folder on the path to a protected one a mount point, which can be neither renamed nor replaced. */
function waysTo(paths: readonly string[], writable: readonly string[]): Mount[] {
  const folders = new Set<string>();
  for (const path of paths) {
    const root = writable.find((each) => path !== each && isInside(path, each));
    if (root === undefined) continue;
    for (let folder = dirname(path); folder !== root && !folders.has(folder); folder = dirname(folder))
      if (statOf(folder)?.isDirectory()) folders.add(folder);
  }
  return [...folders].map((at) => ({ at, as: "pinned" }));
}

/** Adds the other paths under which the system has mounted a ruled file, so that the rule applies to them too. */
function otherNamesOf(mounts: readonly Mount[]): Mount[] {
  const namesOf = readMountNames();
  return mounts.filter(isFixed).flatMap((mount) => namesOf(mount.at).map((at) => ({ ...mount, at })));
}

const maxEntries = 20_000;
const maxHeld = 5000;

/**
 * Finds other hard links of closed files, which would give access to the same file. `mounts` is what is closed so far. Nearly always
 * nothing there has a second name, and nothing is searched.
 */
function hardLinksTo(mounts: readonly Mount[], writable: readonly string[]): Mount[] {
  const closed = mounts.filter(({ as }) => as === "readOnly" || as === "hidden");
  const wanted = new Map<string, Mount>();
  for (const mount of closed)
    for (const path of pathsBelow(mount.at)) {
      const file = linkedFile(path);
      if (file !== undefined && wanted.get(file)?.as !== "hidden") wanted.set(file, mount);
    }
  if (wanted.size === 0) return [];
  const isClosed = new Set(closed.map(({ at }) => at));
  const found: Mount[] = [];
  const open = [...writable];
  let left = maxEntries;
  for (let next = 0; next < open.length; next++) {
    for (const entry of entriesIn(open[next]!)) {
      if (left-- <= 0) return found;
      const at = join(open[next]!, entry.name);
      if (isClosed.has(at)) continue;
      if (entry.isDirectory()) open.push(at);
      else {
        const mount = wanted.get(linkedFile(at) ?? "");
        if (mount) found.push(mount.as === "hidden" ? { at, as: "hidden", kind: "file" } : { at, as: "readOnly" });
      }
    }
  }
  return found;
}

/** Returns the path itself and everything below it, nearest first. */
function pathsBelow(path: string): string[] {
  const found = [path];
  for (let next = 0; next < Math.min(found.length, maxHeld); next++)
    if (statOf(found[next]!)?.isDirectory())
      for (const { name } of entriesIn(found[next]!)) found.push(join(found[next]!, name));
  return found;
}

/** Returns an id for a file that has several hard links; undefined for all others. */
function linkedFile(path: string): string | undefined {
  const stat = statOf(path);
  return stat?.isFile() && stat.nlink > 1 ? `${stat.dev}:${stat.ino}` : undefined;
}

/** Folders in which running programs keep sockets and secrets. */
const runFolders = ["/run", "/var/run"];
const homeFolders = ["/home", "/root", "/mnt", "/media", "/srv"];

function coveredFolders({ readBoundary, home, temporary }: SandboxPlan): string[] {
  const wanted = [...runFolders, ...(readBoundary === "workspace" ? [...homeFolders, home] : [])];
  if (!temporary) wanted.push("/tmp", "/var/tmp");
  return wanted.filter((path) => statOf(path)?.isDirectory());
}

function homeInSight({ readBoundary, home }: SandboxPlan): string[] {
  return readBoundary === "workspace" ? [join(home, ".ssh", "known_hosts")] : [home];
}

/** Returns whether a path is protected. A protected folder stays closed even if the user made it writable. */
function isProtected(path: string, plan: SandboxPlan): boolean {
  return floorOf({ given: path, real: path }, plan) !== undefined;
}
