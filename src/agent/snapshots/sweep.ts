// Removes contents that no chat refers to any more. Never runs while a snapshot is being taken, which could need them.
import { closeSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryOr } from "../../text/try-or.ts";
import { decodeFolder, decodeSnapshot, objectsIn } from "./manifest.ts";
import { PackWriter } from "./packs.ts";
import { ageOf, oldSweepMs, type SnapshotPaths, SnapshotStore } from "./store.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** The folder of a chat is created before its first snapshot, but recent records are kept to be safe. */
const newChatMs = 60 * 60 * 1000;

/** `daily`: at most once a day. `deleted` are the ids of chats that were just deleted. */
type SweepOptions = { daily?: boolean; deleted?: readonly string[] };

/** Returns how many contents were removed; undefined if there was nothing to do or another process is busy. */
export async function sweepSnapshots(paths: SnapshotPaths, options: SweepOptions = {}): Promise<number | undefined> {
  const { daily = false, deleted = [] } = options;
  const store = new SnapshotStore(paths);
  if (!store.exists) return undefined;
  for (const id of deleted) store.release(id);
  const stamp = join(store.folder, "swept");
  if (daily && isFresh(stamp)) return undefined;
  if (!takeMark(store)) return undefined;
  try {
    if (store.isBusy()) return undefined;
    const until = Date.now() + oldSweepMs / 2;
    store.objects.packs.refresh();
    const needed = neededObjects(store, until);
    if (!needed) return undefined;
    const removed = new Set([...removeOthers(store, needed, until), ...thinPacks(store, needed, until)]);
    store.cache.begin();
    store.cache.drop(removed);
    const halves = readdirSync(store.folder).filter((name) => name.startsWith("cache."));
    for (const name of halves) rmSync(join(store.folder, name), { force: true });
    writeFileSync(stamp, "", { mode: 0o600 });
    return removed.size;
  } finally {
    rmSync(store.sweepMark, { force: true });
  }
}

/** Returns whether the last sweep was less than a day ago. The first time, only records the start of the day. */
function isFresh(stamp: string): boolean {
  const age = ageOf(stamp);
  if (age === -1) writeFileSync(stamp, "", { mode: 0o600 });
  return age < dayMs;
}

function takeMark(store: SnapshotStore): boolean {
  if (ageOf(store.sweepMark) > oldSweepMs) rmSync(store.sweepMark, { force: true });
  try {
    closeSync(openSync(store.sweepMark, "wx", 0o600));
    return true;
  } catch {
    return false;
  }
}

/** Collects the ids of all objects that snapshots refer to; undefined if it takes too long. An unreadable manifest refers to none. */
function neededObjects(store: SnapshotStore, until: number): Set<string> | undefined {
  const needed = new Set<string>();
  const folders: string[] = [];
  for (const name of readdirSync(join(store.folder, "chats"))) {
    const file = join(store.folder, "chats", name);
    if (!statSync(join(store.chats, name), { throwIfNoEntry: false }) && ageOf(file) > newChatMs) {
      rmSync(file, { force: true });
      continue;
    }
    for (const object of store.keptBy(name)) {
      if (needed.has(object)) continue;
      needed.add(object);
      const entries = tryOr(() => decodeSnapshot(store.objects.get(object)).entries, new Map());
      for (const below of objectsIn(entries)) follow(below);
    }
  }
  function follow({ object, isFolder }: { object: string; isFolder: boolean }): void {
    if (!needed.has(object) && isFolder) folders.push(object);
    needed.add(object);
  }
  for (let object = folders.pop(); object !== undefined; object = folders.pop()) {
    if (Date.now() > until) return undefined;
    const entries = tryOr(() => decodeFolder(store.objects.get(object!)), new Map());
    for (const below of objectsIn(entries)) follow(below);
  }
  return needed;
}

function removeOthers(store: SnapshotStore, needed: ReadonlySet<string>, until: number): Set<string> {
  const removed = new Set<string>();
  const objects = join(store.folder, "objects");
  for (const prefix of readdirSync(objects)) {
    if (Date.now() > until) break;
    if (prefix.startsWith("new-")) rmSync(join(objects, prefix), { force: true });
    if (prefix === "pack") removeHalves(join(objects, prefix));
    if (prefix.length !== 2) continue;
    for (const rest of readdirSync(join(objects, prefix))) {
      if (needed.has(prefix + rest)) continue;
      rmSync(join(objects, prefix, rest), { force: true });
      removed.add(prefix + rest);
    }
  }
  return removed;
}

/** Removes incomplete packs that a killed process left behind. */
function removeHalves(folder: string): void {
  const names = new Set(readdirSync(folder));
  for (const name of names) {
    const isWhole = /^pack-\w+\.(idx|pack)$/.test(name) && names.has(name.replace(/\w+$/, "idx"));
    if (!isWhole) rmSync(join(folder, name), { force: true });
  }
}

/** Removes packs with no needed contents; rewrites those of which at most half is needed. */
function thinPacks({ folder, objects }: SnapshotStore, needed: ReadonlySet<string>, until: number): string[] {
  const removed: string[] = [];
  for (const pack of objects.packs.list) {
    const { ids } = pack;
    const neededIds = ids.filter((id) => needed.has(id));
    if (neededIds.length * 2 > ids.length || Date.now() > until) continue;
    if (neededIds.length > 0) {
      const writer = new PackWriter(join(folder, "objects", "pack"));
      try {
        for (const id of neededIds) writer.add(id, pack.read(pack.find(id)!));
        writer.finish();
      } catch {
        writer.abandon();
        continue;
      }
    }
    pack.remove();
    removed.push(...ids.filter((id) => !needed.has(id)));
  }
  return removed;
}
