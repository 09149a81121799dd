// Plans a restore: compares the present files with the target state, and lists what must change.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "../../policy/paths.ts";
import { FolderTrail, foldersAbove, inFolder, namesFrom, readOnly } from "../folder-handle.ts";
import { attributesName, gitIndexOf, gitRepositoryOf } from "./git-index.ts";
import type { SnapshotEntry } from "./manifest.ts";
import { hashFile, idOf } from "./objects.ts";
import { reasons } from "./reasons.ts";
import { type FileNode, fileStamp, nodeAt, type ScanOptions, scanTree, type TreeNode } from "./scan.ts";
import type { SnapshotStore } from "./store.ts";
import type { RestoreTarget } from "./target.ts";

/** `make` creates a folder, `write` writes a file or a link, `mode` changes only the mode bits. */
export type RestoreChange = "write" | "remove" | "make" | "mode";

export type RestoreStep = {
  root: string;
  path: string;
  change: RestoreChange;
  /** The file or folder that is at the path now. */
  node: TreeNode | undefined;
  /** The state that the path should have after the restore. */
  entry: SnapshotEntry;
};

/** A path that the restore does not change, and the reason. */
export type LeftPath = { path: string; why: string };

export type RestorePlan = { steps: RestoreStep[]; left: LeftPath[] };

type Planning = {
  store: SnapshotStore;
  trail: FolderTrail;
  plan: RestorePlan;
  /** Existing paths that are not removed, though they may be new. */
  kept: string[];
};

export async function planRestore(
  store: SnapshotStore,
  target: RestoreTarget,
  options: ScanOptions,
): Promise<RestorePlan> {
  const planning: Planning = { store, trail: new FolderTrail(), plan: { steps: [], left: [] }, kept: [] };
  try {
    const present = await presentNodes(planning, target, options);
    store.cache.begin(
      target.trees.flatMap((tree) => gitRepositoryOf(tree) ?? []).flatMap((repository) => gitIndexOf(repository) ?? []),
    );
    for (const [path, node] of present) if (path.endsWith(attributesName)) findKnown(store, path, node);
    store.cache.forgetDoubtful();
    for (const path of [...new Set([...present.keys(), ...target.entries.keys()])].sort()) {
      if (options.pauses.due) await options.pauses.take();
      compare(planning, {
        path,
        root: containingRoot(path, target),
        node: present.get(path),
        entry: target.entries.get(path),
      });
    }
  } finally {
    planning.trail.close();
  }
  return withoutKept(planning.plan, planning.kept);
}

function findKnown(store: SnapshotStore, path: string, node: TreeNode): string | undefined {
  return node.kind === "file" ? store.cache.find(path, node) : undefined;
}

/** Removes steps that would delete a folder in which something is left. */
function withoutKept({ steps, left }: RestorePlan, keptPaths: readonly string[]): RestorePlan {
  const folders = foldersAbove(keptPaths);
  return { steps: steps.filter(({ change, path }) => change !== "remove" || !folders.has(path)), left };
}

/** Returns everything below the trees, and the single paths beside them. */
async function presentNodes(
  planning: Planning,
  target: RestoreTarget,
  options: ScanOptions,
): Promise<Map<string, TreeNode>> {
  const found = new Map<string, TreeNode>();
  const closed = new Set(options.closed);
  for (const [path, entry] of target.entries)
    if (entry.kind === "unsaved" && entry.why !== "large" && entry.why !== "special") closed.add(path);
  for (const tree of target.trees) {
    const node = await scanTree(tree, { closed, pauses: options.pauses });
    flatten(tree, node, found);
  }
  for (const path of target.entries.keys()) {
    if (found.has(path) || isSeen(path, target, found)) continue;
    const node = nodeOfPath(planning, path, target);
    if (node) found.set(path, node);
  }
  return found;
}

/** Reports whether the scan covered this path, so that it is known not to exist. */
function isSeen(path: string, { trees }: RestoreTarget, found: ReadonlyMap<string, TreeNode>): boolean {
  const tree = trees.find((root) => isInside(path, root));
  if (tree === undefined) return false;
  const names = namesFrom(tree, path);
  return !names.some((_, index) => found.get(join(tree, ...names.slice(0, index)))?.kind === "unsaved");
}

function flatten(path: string, node: TreeNode, found: Map<string, TreeNode>): void {
  found.set(path, node);
  if (node.kind === "folder") for (const [name, child] of node.children) flatten(inFolder(path, name), child, found);
}

function nodeOfPath(planning: Planning, path: string, target: RestoreTarget): TreeNode | undefined {
  const root = containingRoot(path, target);
  const names = namesFrom(root, path);
  try {
    return nodeAt(planning.trail.to(root, names.slice(0, -1)), names.at(-1)!);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    // If a parent is now a file or link that the restore replaces by a folder, nothing exists at this path.
    const becomesFolder = names.some(
      (_, index) => target.entries.get(join(root, ...names.slice(0, index)))?.kind === "folder",
    );
    if ((code === "ENOTDIR" || code === "ELOOP") && becomesFolder) return undefined;
    planning.plan.left.push({ path, why: "its path now points elsewhere" });
    return { kind: "unsaved", why: "own", stamp: "" };
  }
}

type PathPair = { root: string; path: string; node: TreeNode | undefined; entry: SnapshotEntry | undefined };

function compare(planning: Planning, { root, path, node, entry = { kind: "absent" } }: PathPair): void {
  if (entry.kind === "unsaved" || node?.kind === "unsaved") {
    const why = whyLeft(node, entry);
    if (why !== undefined) planning.plan.left.push({ path, why });
    if (node) planning.kept.push(path);
    return;
  }
  const change = changeOf(planning, { root, path, node, entry });
  if (change) planning.plan.steps.push({ root, path, change, node, entry });
}

function changeOf(
  planning: Planning,
  { root, path, node, entry }: PathPair & { entry: SnapshotEntry },
): RestoreChange | undefined {
  switch (entry.kind) {
    case "absent":
    case "unmade":
      return node && "remove";
    case "folder":
      if (node?.kind !== "folder") return "make";
      return node.mode === entry.mode ? undefined : "mode";
    case "link":
      return node?.kind === "link" && idOf(node.target) === entry.object ? undefined : "write";
    case "file":
      if (node?.kind !== "file" || node.size !== entry.size) return "write";
      if (presentObject(planning, { root, path, node }) !== entry.object) return "write";
      return node.mode === entry.mode ? undefined : "mode";
    case "unsaved":
      return undefined;
  }
}

/** Returns the id of a file's present content. A file that cannot be read counts as different. */
function presentObject(planning: Planning, { root, path, node }: { root: string; path: string; node: FileNode }) {
  const existing = planning.store.cache.find(path, node);
  if (existing !== undefined) return existing;
  const names = namesFrom(root, path);
  let handle: number | undefined;
  try {
    const folder = planning.trail.to(root, names.slice(0, -1));
    handle = openSync(folder.at(names.at(-1)!), readOnly);
    return hashFile(handle, node.size);
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Explains why a restore leaves a path as it is; undefined if it is unchanged, or the user does not expect a change. */
function whyLeft(node: TreeNode | undefined, entry: SnapshotEntry): string | undefined {
  if (entry.kind !== "unsaved") {
    if (node?.kind !== "unsaved" || node.why === "own") return undefined;
    return `it was created since, and stays: ${reasons[node.why]}`;
  }
  if (entry.why === "own" || (entry.why === "repository" && node)) return undefined;
  if (entry.why === "repository") return "the repository is gone, and repositories are not saved";
  const stamp = node?.kind === "file" ? fileStamp(node) : node?.kind === "unsaved" ? node.stamp : undefined;
  if (entry.why !== "many" && stamp === entry.stamp) return undefined;
  return `it was not saved: ${reasons[entry.why]}`;
}

function containingRoot(path: string, { trees, roots }: RestoreTarget): string {
  const root = [...trees, ...roots].find((each) => isInside(path, each));
  if (root === undefined) throw new Error(`${path} lies in no root of its snapshot`);
  return root;
}
