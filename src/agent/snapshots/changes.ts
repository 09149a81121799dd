// Compares consecutive tree snapshots, and the last one with the present
// files: the only record of what commands did to files. Writes nothing.
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { holdsSecrets } from "../../redact/secret-files.ts";
import { tryOr } from "../../text/try-or.ts";
import { FolderTrail, inFolder, namesFrom, readOnly } from "../folder-handle.ts";
import { ownFolders } from "./chat-snapshots.ts";
import { decodeFolder, decodeSnapshot, type Snapshot, type SnapshotEntry } from "./manifest.ts";
import { planRestore } from "./plan.ts";
import { readRecords } from "./records.ts";
import type { RewindContext } from "./rewind.ts";
import { Pauses } from "./scan.ts";
import { SnapshotStore } from "./store.ts";
import { composeTarget, isKnownPath, type RestoreTarget } from "./target.ts";

/** The state of a file: null if it did not exist; without `text` if it is too large, binary, or perhaps secret. */
export type FileState = { text?: string } | null;

/** A change to a file since the snapshot of `turn`. With `now`, `after` is the present state, last changed at that time. */
export type TreeChange = { turn: number; path: string; before: FileState; after: FileState; now?: number };

const maxText = 500_000;
const maxTogether = 8_000_000;

type Reading = Pick<RewindContext, "configDir" | "workspace"> & { chat: Pick<RewindContext["chat"], "state" | "turn"> };

export async function treeChanges({ configDir, workspace, chat }: Reading): Promise<TreeChange[]> {
  const store = new SnapshotStore({ configDir, workspace });
  if (!store.exists) return [];
  const reader: Reader = { store, left: maxTogether };
  const trees = treesOf(store, chat);
  const changes: TreeChange[] = [];
  for (const [index, { turn, entries }] of trees.entries()) {
    const next = trees[index + 1];
    if (next)
      compare(reader, entries, next.entries, (path, before, after) => changes.push({ turn, path, before, after }));
  }
  const last = trees.at(-1);
  return last ? [...changes, ...(await changesSince(reader, last, configDir))] : changes;
}

/** Returns a function that tells whether the snapshots from a turn on hold a file as it was before that turn. */
export function heldFiles({ configDir, workspace, chat }: Reading): (path: string, turn: number) => boolean {
  const store = new SnapshotStore({ configDir, workspace });
  const targets = new Map<number, RestoreTarget>();
  const stateBeforeTurn = (turn: number) => {
    const existing = targets.get(turn) ?? composeTarget(snapshotsOf(store, chat, turn), store.objects);
    targets.set(turn, existing);
    return existing;
  };
  return (path, turn) => {
    // The stored list of the folder is missing.
    return tryOr(() => store.exists && isKnownPath(stateBeforeTurn(turn), path), false);
  };
}

/** Reads file contents from snapshots; `left` is how many more bytes may be read. */
type Reader = { store: SnapshotStore; left: number };

type Tree = Snapshot & { turn: number };

/** Returns the tree snapshots of a chat, at most one per turn. */
function treesOf(store: SnapshotStore, chat: Reading["chat"]): Tree[] {
  return snapshotsOf(store, chat, 1).filter(({ kind }) => kind === "tree");
}

/** Returns the snapshots from a turn on, in the order they were taken. Skips those that are gone. */
function snapshotsOf(store: SnapshotStore, chat: Reading["chat"], from: number): Tree[] {
  const state = { ...chat, saveState: () => {} };
  const found: Tree[] = [];
  for (let turn = from; turn <= chat.turn; turn++)
    for (const record of readRecords(state, turn)) {
      if (!("object" in record)) continue;
      const snapshot = tryOr(() => decodeSnapshot(store.objects.get(record.object)), undefined);
      if (snapshot) found.push({ ...snapshot, turn });
    }
  return found;
}

type Entries = ReadonlyMap<string, SnapshotEntry>;
type ReportChange = (path: string, before: FileState, after: FileState) => void;

/** Skips folders with equal object ids, since their whole contents are equal. */
function compare(reader: Reader, before: Entries, after: Entries, report: ReportChange, above?: string): void {
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(name), after.get(name)];
    if (was?.kind === "unsaved" || is?.kind === "unsaved" || entryObject(was) === entryObject(is)) continue;
    const path = above === undefined ? name : inFolder(above, name);
    if (was?.kind === "folder" || is?.kind === "folder")
      compare(reader, childrenOf(reader.store, was), childrenOf(reader.store, is), report, path);
    if (was?.kind === "file" || is?.kind === "file")
      report(path, fileState(reader, path, was), fileState(reader, path, is));
  }
}

function entryObject(entry: SnapshotEntry | undefined): string | undefined {
  return entry && "object" in entry ? entry.object : undefined;
}

function childrenOf(store: SnapshotStore, entry: SnapshotEntry | undefined): Entries {
  return entry?.kind === "folder" && entry.object !== undefined
    ? decodeFolder(store.objects.get(entry.object))
    : new Map();
}

function fileState(reader: Reader, path: string, entry: SnapshotEntry | undefined): FileState {
  if (entry?.kind !== "file") return null;
  return entry.size > maxText ? {} : textState(reader, path, reader.store.objects.get(entry.object));
}

function textState(reader: Reader, path: string, content: Buffer): FileState {
  if (content.length > Math.min(maxText, reader.left) || content.includes(0) || holdsSecrets(path)) return {};
  reader.left -= content.length;
  return { text: content.toString("utf8") };
}

async function changesSince(reader: Reader, tree: Tree, configDir: string): Promise<TreeChange[]> {
  const { store } = reader;
  const target = composeTarget([tree], store.objects);
  const trail = new FolderTrail();
  try {
    const { steps } = await planRestore(store, target, { closed: ownFolders(configDir), pauses: new Pauses() });
    return steps.flatMap(({ root, path, change, node, entry }): TreeChange[] => {
      if (change === "mode" || (node?.kind !== "file" && entry.kind !== "file")) return [];
      const after =
        node?.kind === "file" ? (node.size > maxText ? {} : presentState(reader, trail, { root, path })) : null;
      // In whole milliseconds, as the times of events are: the two are compared.
      const now = Math.floor(node?.kind === "file" ? Math.max(node.mtimeMs, node.ctimeMs) : removedBy(path));
      return [{ turn: tree.turn, path, before: fileState(reader, path, entry), after, now }];
    });
  } catch {
    return []; // the workspace was removed or cannot be read
  } finally {
    trail.close();
  }
}

/** Returns the latest time at which a removed path can have existed: its folder changed when it was removed. */
function removedBy(path: string): number {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (stat) return Math.max(stat.mtimeMs, stat.ctimeMs);
    if (folder === dirname(folder)) return 0;
  }
}

function presentState(reader: Reader, trail: FolderTrail, { root, path }: { root: string; path: string }): FileState {
  const names = namesFrom(root, path);
  const handle = openSync(trail.to(root, names.slice(0, -1)).at(names.at(-1)!), readOnly);
  try {
    return textState(reader, path, readFileSync(handle));
  } finally {
    closeSync(handle);
  }
}
