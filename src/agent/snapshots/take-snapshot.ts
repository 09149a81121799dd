// Takes snapshots: of whole trees before a call that may change anything, of single paths before one of them is changed.
import { closeSync, fstatSync, openSync } from "node:fs";
import { join } from "node:path";
import { type FolderHandle, FolderTrail, inFolder, namesFrom, openFolder, readOnly } from "../folder-handle.ts";
import { encodeFolder, encodeSnapshot, type Snapshot, type SnapshotEntry } from "./manifest.ts";
import type { UnsavedPath, UnsavedReason } from "./reasons.ts";
import {
  type FileNode,
  type FileStat,
  type FolderNode,
  fileStamp,
  nodeAt,
  type ScanOptions,
  scanTree,
  type TreeNode,
} from "./scan.ts";
import type { SnapshotStore } from "./store.ts";

/** `unsaved` lists what the snapshot does not contain, and why. */
export type TakenSnapshot = { object: string; unsaved: UnsavedPath[] };

type Saving = {
  store: SnapshotStore;
  options: ScanOptions;
  unsaved: UnsavedPath[];
  /** Cached stat data. It is used only for whole trees; single files are always read. */
  cache?: SnapshotStore["cache"];
  borrow: boolean;
};

/** Roots are real paths, none inside another. `borrow`: do not save what a repository of theirs holds. */
export async function takeTrees(
  store: SnapshotStore,
  roots: readonly string[],
  options: ScanOptions & { borrow?: boolean },
): Promise<TakenSnapshot> {
  const { borrow = true } = options;
  const take = async (): Promise<TakenSnapshot> => {
    const saving: Saving = { store, options, unsaved: [], cache: store.cache, borrow };
    const known = {
      file: (path: string, stat: FileStat) => store.cache.find(path, stat),
      unchanged: (path: string, children: ReadonlyMap<string, TreeNode>) => store.cache.findFolder(path, children),
      folder: (children: ReadonlyMap<string, TreeNode>) => {
        const entries = knownEntries(store, children);
        const object = entries && store.objects.put(encodeFolder(entries));
        if (object !== undefined) store.cache.noteFolder(children, object);
        return object;
      },
    };
    const nodes: [string, FolderNode][] = [];
    for (const root of roots) nodes.push([root, await scanTree(root, { ...options, known })]);
    if (store.cache.forgetDoubtful()) return take();
    const entries = new Map<string, SnapshotEntry>();
    for (const [root, node] of nodes) {
      const folder = openLazily(() => openFolder(root));
      try {
        entries.set(root, await saveFolder(saving, { node, path: root, folder: folder.get }));
      } finally {
        folder.close();
      }
    }
    return { object: store.objects.put(encodeSnapshot({ kind: "tree", roots, entries })), unsaved: saving.unsaved };
  };
  store.beginRound(roots, { borrow });
  const taken = await store.objects.together(options.limits?.loose ?? 0, take);
  await store.objects.settle();
  store.cache.save();
  return taken;
}

/** Returns the entries of a folder if all are known. Not if something is left out that must be reported. */
function knownEntries(
  store: SnapshotStore,
  children: ReadonlyMap<string, TreeNode>,
): Map<string, SnapshotEntry> | undefined {
  const entries = new Map<string, SnapshotEntry>();
  for (const [name, node] of children) {
    if (node.kind === "unsaved") {
      if (isReported(node.why)) return undefined;
      entries.set(name, { kind: "unsaved", why: node.why, stamp: node.stamp });
    } else if (node.kind === "link") entries.set(name, { kind: "link", object: store.objects.put(node.target) });
    else if (node.object === undefined) return undefined;
    else if (node.kind === "folder") entries.set(name, { kind: "folder", mode: node.mode, object: node.object });
    else entries.set(name, { kind: "file", mode: node.mode, size: node.size, object: node.object });
  }
  return entries;
}

/** `path` is real except for its last part, which is not followed. */
export type PathInRoot = { root: string; path: string };

/** Saves files of any size, and folders with all their contents. A missing path is recorded as absent, with its missing parents. */
export async function takePaths(
  store: SnapshotStore,
  paths: readonly PathInRoot[],
  options: ScanOptions,
): Promise<TakenSnapshot> {
  const saving: Saving = { store, options, unsaved: [], borrow: false };
  const entries = new Map<string, SnapshotEntry>();
  for (const pathInRoot of paths) await savePath(saving, pathInRoot, entries);
  return finish(saving, { kind: "paths", roots: rootsOf(paths), entries });
}

async function finish({ store, unsaved }: Saving, snapshot: Snapshot): Promise<TakenSnapshot> {
  const object = store.objects.put(encodeSnapshot(snapshot));
  await store.objects.settle();
  return { object, unsaved };
}

/** A path that is about to be restored: `node` is what is there now, and its parent folder is not removed. */
export type PresentPath = PathInRoot & { node: TreeNode | undefined; becomes: SnapshotEntry["kind"] };

/** Saves exactly these entries, whatever their size; of folders only their existence. */
export async function takePresentPaths(
  store: SnapshotStore,
  list: readonly PresentPath[],
  options: ScanOptions,
): Promise<TakenSnapshot> {
  const saving: Saving = { store, options, unsaved: [], borrow: false };
  const entries = new Map<string, SnapshotEntry>();
  const trail = new FolderTrail();
  try {
    for (const { root, path, node, becomes } of list) {
      if (options.pauses.due) await options.pauses.take();
      if (!node) entries.set(path, { kind: becomes === "folder" ? "unmade" : "absent" });
      else if (node.kind === "folder") entries.set(path, { kind: "folder", mode: node.mode });
      else {
        const names = namesFrom(root, path);
        const folder = () => trail.to(root, names.slice(0, -1));
        entries.set(path, (await saveChild(saving, names.at(-1)!, { node, path, folder })) ?? { kind: "absent" });
      }
    }
  } finally {
    trail.close();
  }
  return finish(saving, { kind: "paths", roots: rootsOf(list), entries });
}

function rootsOf(paths: readonly PathInRoot[]): string[] {
  return [...new Set(paths.map(({ root }) => root))];
}

type NodeAt<Kind extends TreeNode = TreeNode> = { node: Kind; path: string; folder: () => FolderHandle };

/** Saves a folder: first its files and subfolders, then the list of its entries as one object. Does nothing if that is already stored. */
async function saveFolder(saving: Saving, { node, path, folder }: NodeAt<FolderNode>): Promise<SnapshotEntry> {
  if (node.object !== undefined) return { kind: "folder", mode: node.mode, object: node.object };
  const { pauses } = saving.options;
  const entries = new Map<string, SnapshotEntry>();
  for (const [name, child] of node.children) {
    if (pauses.due) await pauses.take();
    const entry = await saveChild(saving, name, { node: child, path: inFolder(path, name), folder });
    if (entry) entries.set(name, entry);
  }
  return { kind: "folder", mode: node.mode, object: saving.store.objects.put(encodeFolder(entries)) };
}

/** Saves one entry of a folder; `folder` is the folder that contains it. */
async function saveChild(
  saving: Saving,
  name: string,
  { node, path, folder }: NodeAt,
): Promise<SnapshotEntry | undefined> {
  switch (node.kind) {
    case "unsaved":
      return leaveOut(saving, path, node);
    case "link":
      return { kind: "link", object: saving.store.objects.put(node.target) };
    case "folder": {
      const inside = openLazily(() => folder().child(name));
      try {
        return await saveFolder(saving, { node, path, folder: inside.get });
      } finally {
        inside.close();
      }
    }
    case "file": {
      const { object } = node;
      if (object !== undefined) return { kind: "file", mode: node.mode, size: node.size, object };
      return saveFile(saving, name, { node, path, folder });
    }
  }
}

async function saveFile(saving: Saving, name: string, { node, path, folder }: NodeAt<FileNode>) {
  const readAt = Date.now();
  let handle: number | undefined;
  try {
    handle = openSync(folder().at(name), readOnly);
    const stat = fstatSync(handle);
    if (!stat.isFile()) return leaveOut(saving, path, { why: "special", stamp: fileStamp(stat) });
    const { object, size } = await saving.store.objects.putFile(handle, stat.size, saving);
    // A file that changed during reading is saved as it was read, and read again next time.
    if (fileStamp(fstatSync(handle)) === fileStamp(node)) saving.cache?.note(path, node, { object, readAt });
    const entry: SnapshotEntry = { kind: "file", mode: stat.mode & 0o7777, size, object };
    return entry;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (!["EACCES", "EPERM", "ELOOP", "ENOTDIR", "EIO", "ENXIO"].includes(code ?? "")) throw error;
    return leaveOut(saving, path, { why: "unreadable", stamp: fileStamp(node) });
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function leaveOut(saving: Saving, path: string, { why, stamp }: { why: UnsavedReason; stamp: string }): SnapshotEntry {
  if (isReported(why)) saving.unsaved.push({ path, why });
  return { kind: "unsaved", why, stamp };
}

/** Returns whether the user is told why something was not saved; the other reasons are expected. */
function isReported(why: UnsavedReason): boolean {
  return why !== "repository" && why !== "own";
}

async function savePath(
  saving: Saving,
  { root, path }: PathInRoot,
  entries: Map<string, SnapshotEntry>,
): Promise<void> {
  const { closed } = saving.options;
  const names = namesFrom(root, path);
  const git = names.findIndex((name) => name.toLowerCase() === ".git");
  const own = names.findIndex((_, index) => closed.has(join(root, ...names.slice(0, index + 1))));
  if (git !== -1 || own !== -1) {
    saving.unsaved.push({ path, why: own === -1 ? "repository" : "own" });
    return;
  }
  const trail = new FolderTrail();
  try {
    for (let depth = 1; depth < names.length; depth++) {
      try {
        trail.to(root, names.slice(0, depth));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
        for (; depth < names.length; depth++) entries.set(join(root, ...names.slice(0, depth)), { kind: "unmade" });
        entries.set(path, { kind: "absent" });
        return;
      }
    }
    const folder = trail.to(root, names.slice(0, -1));
    const node = nodeAt(folder, names.at(-1)!);
    if (node?.kind === "folder") {
      const whole = await scanTree(path, saving.options);
      await saveAll(saving, { node: whole, path, folder: () => openFolder(path) }, entries);
    } else {
      const entry = node && (await saveChild(saving, names.at(-1)!, { node, path, folder: () => folder }));
      entries.set(path, entry ?? { kind: "absent" });
    }
  } finally {
    trail.close();
  }
}

/** Saves all entries of a folder, one by one. */
async function saveAll(
  saving: Saving,
  { node, path, folder }: NodeAt<FolderNode>,
  entries: Map<string, SnapshotEntry>,
) {
  entries.set(path, { kind: "folder", mode: node.mode });
  const held = openLazily(folder);
  try {
    for (const [name, child] of node.children) {
      if (saving.options.pauses.due) await saving.options.pauses.take();
      const below = { path: inFolder(path, name), folder: held.get };
      if (child.kind === "folder")
        await saveAll(saving, { ...below, node: child, folder: () => held.get().child(name) }, entries);
      else {
        const entry = await saveChild(saving, name, { ...below, node: child });
        if (entry) entries.set(below.path, entry);
      }
    }
  } finally {
    held.close();
  }
}

/** Opens the folder when first needed: most folders contain nothing that must be read. */
function openLazily(open: () => FolderHandle): { get: () => FolderHandle; close: () => void } {
  let held: FolderHandle | undefined;
  return {
    get: () => {
      held ??= open();
      return held;
    },
    close: () => held?.close(),
  };
}
