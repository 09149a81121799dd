// Combines several snapshots into the state to restore. For each path the earliest snapshot that covers it counts.
import { dirname } from "node:path";
import { isInside } from "../../policy/paths.ts";
import { foldersAbove, inFolder } from "../folder-handle.ts";
import { decodeFolder, type Snapshot, type SnapshotEntry } from "./manifest.ts";
import type { ObjectStore } from "./objects.ts";

export type RestoreTarget = {
  /** Roots that are completely known: a path below them without an entry did not exist. */
  trees: string[];
  /** All snapshot roots that contain one of the paths. */
  roots: string[];
  entries: Map<string, SnapshotEntry>;
};

/** Combines several snapshots into the state to restore. `snapshots` must be in the order in which they were taken. */
export function composeTarget(snapshots: readonly Snapshot[], objects: ObjectStore): RestoreTarget {
  const target: RestoreTarget = { trees: [], roots: [], entries: new Map() };
  const folders = new Map<string, SnapshotEntry>();
  for (const { kind, roots, entries } of snapshots) {
    target.roots.push(...roots.filter((root) => !target.roots.includes(root)));
    if (kind === "tree") addTrees(target, entries, { objects, folders });
    else
      for (const [path, entry] of entries)
        if (!isKnownPath(target, path)) target.entries.set(path, entry);
        else if (entry.kind === "folder") folders.set(path, entry);
  }
  settleUnmade(target, folders);
  return target;
}

/** Reports whether it is known what was at a path. What a tree left out is not known. */
export function isKnownPath({ trees, entries }: RestoreTarget, path: string): boolean {
  const ownEntry = entries.get(path);
  if (ownEntry) return ownEntry.kind !== "unsaved";
  if (!trees.some((root) => isInside(path, root))) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (entries.get(folder)?.kind === "unsaved") return false;
    if (trees.includes(folder)) return true;
  }
}

type KnownFolders = { objects: ObjectStore; folders: Map<string, SnapshotEntry> };

function addTrees(target: RestoreTarget, roots: ReadonlyMap<string, SnapshotEntry>, known: KnownFolders): void {
  for (const [root, entry] of roots) {
    if (target.trees.some((tree) => isInside(root, tree))) continue;
    addTree(target, root, entry, known);
    target.trees.push(root);
  }
}

function addTree(target: RestoreTarget, path: string, entry: SnapshotEntry, known: KnownFolders): void {
  const earlier = target.entries.get(path);
  if (earlier && earlier.kind !== "unmade" && earlier.kind !== "folder") return;
  if (earlier?.kind === "unmade") known.folders.set(path, entry);
  if (!earlier) target.entries.set(path, entry);
  if (entry.kind !== "folder" || entry.object === undefined) return;
  for (const [name, child] of decodeFolder(known.objects.get(entry.object)))
    addTree(target, inFolder(path, name), child, known);
}

/** A folder that did not exist is not created, unless something in it did exist. */
function settleUnmade({ entries }: RestoreTarget, folders: ReadonlyMap<string, SnapshotEntry>): void {
  const there = [...entries].filter(([, { kind }]) => kind !== "absent" && kind !== "unmade");
  const needed = foldersAbove(there.map(([path]) => path));
  for (const [path, entry] of entries) {
    if (entry.kind !== "unmade" || !needed.has(path)) continue;
    const folder = folders.get(path);
    if (folder) entries.set(path, folder);
    else entries.delete(path);
  }
}
