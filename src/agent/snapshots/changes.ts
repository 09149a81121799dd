// What is different from one snapshot of the whole tree to the next, and from the last one to now: what commands did to files
// stands nowhere else. Nothing is written.
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { holdsSecrets } from "../../policy/secret-files.ts";
import { FolderTrail, inFolder, namesFrom, readOnly } from "../folder-handle.ts";
import { ownFolders } from "./chat-snapshots.ts";
import { decodeFolder, decodeSnapshot, type Snapshot, type SnapshotEntry } from "./manifest.ts";
import { planRestore } from "./plan.ts";
import { readRecords } from "./records.ts";
import type { RewindContext } from "./rewind.ts";
import { Pauses } from "./scan.ts";
import { SnapshotStore } from "./store.ts";
import { composeTarget } from "./target.ts";

/** Null: nothing was there. Without text: it is too large, no text, or its name suggests a secret. */
export type FileState = { text?: string } | null;

/** Of a file, from the turn of the one snapshot on. `now`: `after` is what is there today, changed last at that time. */
export type TreeChange = { turn: number; path: string; before: FileState; after: FileState; now?: number };

const mostText = 500_000;
const mostTogether = 8_000_000;

type Reading = Pick<RewindContext, "configDir" | "workspace"> & { chat: Pick<RewindContext["chat"], "state" | "turn"> };

export async function treeChanges({ configDir, workspace, chat }: Reading): Promise<TreeChange[]> {
  const store = new SnapshotStore({ configDir, workspace });
  if (!store.exists) return [];
  const reader: Reader = { store, left: mostTogether };
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

/** `left`: how much text may still be read. */
type Reader = { store: SnapshotStore; left: number };

type Tree = Snapshot & { turn: number };

/** At most one for each turn. One that is gone tells nothing. */
function treesOf(store: SnapshotStore, chat: Reading["chat"]): Tree[] {
  const state = { ...chat, saveState: () => {} };
  const trees: Tree[] = [];
  for (let turn = 1; turn <= chat.turn; turn++)
    for (const record of readRecords(state, turn)) {
      if (!("object" in record)) continue;
      try {
        const snapshot = decodeSnapshot(store.objects.get(record.object));
        if (snapshot.kind === "tree") trees.push({ ...snapshot, turn });
      } catch {}
    }
  return trees;
}

type Entries = ReadonlyMap<string, SnapshotEntry>;
type Tell = (path: string, before: FileState, after: FileState) => void;

/** A folder with the same object is the same all the way down. */
function compare(reader: Reader, before: Entries, after: Entries, tell: Tell, above?: string): void {
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(name), after.get(name)];
    if (was?.kind === "unsaved" || is?.kind === "unsaved" || objectOf(was) === objectOf(is)) continue;
    const path = above === undefined ? name : inFolder(above, name);
    if (was?.kind === "folder" || is?.kind === "folder")
      compare(reader, childrenOf(reader.store, was), childrenOf(reader.store, is), tell, path);
    if (was?.kind === "file" || is?.kind === "file") tell(path, stateOf(reader, path, was), stateOf(reader, path, is));
  }
}

function objectOf(entry: SnapshotEntry | undefined): string | undefined {
  return entry && "object" in entry ? entry.object : undefined;
}

function childrenOf(store: SnapshotStore, entry: SnapshotEntry | undefined): Entries {
  return entry?.kind === "folder" && entry.object !== undefined
    ? decodeFolder(store.objects.get(entry.object))
    : new Map();
}

function stateOf(reader: Reader, path: string, entry: SnapshotEntry | undefined): FileState {
  if (entry?.kind !== "file") return null;
  return entry.size > mostText ? {} : textState(reader, path, reader.store.objects.get(entry.object));
}

function textState(reader: Reader, path: string, content: Buffer): FileState {
  if (content.length > Math.min(mostText, reader.left) || content.includes(0) || holdsSecrets(path)) return {};
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
        node?.kind === "file" ? (node.size > mostText ? {} : presentState(reader, trail, { root, path })) : null;
      const now = node?.kind === "file" ? Math.max(node.mtimeMs, node.ctimeMs) : removedBy(path);
      return [{ turn: tree.turn, path, before: stateOf(reader, path, entry), after, now }];
    });
  } catch {
    return []; // the workspace is gone, or cannot be read
  } finally {
    trail.close();
  }
}

/** When something that is gone was there at the latest: its folder has changed with it. */
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
