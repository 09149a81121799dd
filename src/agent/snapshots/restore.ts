// Carries out a restore plan: removes, creates and writes. Files are replaced by renaming a new one, never through a link.
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type FolderHandle, FolderTrail, namesFrom, noFollow } from "../folder-handle.ts";
import type { SnapshotEntry } from "./manifest.ts";
import type { ObjectStore } from "./objects.ts";
import type { RestoreStep } from "./plan.ts";
import type { Pauses } from "./scan.ts";

type Restoring = {
  objects: ObjectStore;
  pauses: Pauses;
  trail: FolderTrail;
  failed: Map<string, string>;
  /** Folders that were not removed because they are not empty. */
  kept: Set<string>;
};

/** Restores all paths of the plan. Continues if one path fails, and returns every failure. */
export async function carryOutPlan(
  steps: readonly RestoreStep[],
  { objects, pauses }: { objects: ObjectStore; pauses: Pauses },
) {
  const restoring: Restoring = { objects, pauses, trail: new FolderTrail(), failed: new Map(), kept: new Set() };
  const attempt = async (step: RestoreStep, work: (folder: FolderHandle, name: string) => unknown): Promise<void> => {
    if (pauses.due) await pauses.take();
    try {
      const names = namesFrom(step.root, step.path);
      await work(openFolderOf(restoring, step.root, names.slice(0, -1)), names.at(-1) || ".");
    } catch (error) {
      restoring.failed.set(step.path, errorSentence(error));
    }
  };
  try {
    const locked = unlock(restoring, steps);
    for (const step of steps.toReversed()) {
      if (step.node && (step.change === "remove" || step.node.kind !== step.entry.kind))
        await attempt(step, (folder, name) => remove(restoring, step, folder.at(name)));
    }
    for (const step of steps) {
      if (restoring.failed.has(step.path)) continue;
      if (step.change === "make") await attempt(step, (folder, name) => mkdirSync(folder.at(name), 0o700));
      if (step.change === "write") await attempt(step, (folder, name) => write(restoring, step.entry, folder, name));
    }
    for (const step of steps.toReversed()) {
      if (restoring.failed.has(step.path) || (step.change !== "mode" && step.change !== "make")) continue;
      await attempt(step, (folder, name) => setMode(folder.at(name), step));
    }
    lock(restoring, locked);
  } finally {
    restoring.trail.close();
  }
  const done = steps.filter(({ path }) => !restoring.failed.has(path) && !restoring.kept.has(path));
  return { done, failed: [...restoring.failed].map(([path, why]) => ({ path, why })) };
}

function remove(restoring: Restoring, { node, entry, path: shown }: RestoreStep, path: string): void {
  if (node!.kind !== "folder") {
    unlinkSync(path);
    return;
  }
  try {
    rmdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A folder that the snapshot does not contain is removed only if it is empty. Files of others or a repository in it
    // are left.
    if (entry.kind !== "unmade" || (code !== "ENOTEMPTY" && code !== "EEXIST")) throw error;
    restoring.kept.add(shown);
  }
}

async function write(restoring: Restoring, entry: SnapshotEntry, folder: FolderHandle, name: string): Promise<void> {
  const temporary = folder.at(`.courser-${process.pid}-${Math.random().toString(36).slice(2)}.tmp`);
  try {
    if (entry.kind === "link") symlinkSync(restoring.objects.get(entry.object), temporary);
    else if (entry.kind === "file") {
      const handle = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600);
      await writeContent(restoring, entry, handle, folder.at(name));
    }
    renameSync(temporary, folder.at(name));
  } catch (error) {
    rmSync(temporary, { force: true });
    // A file that is a mount point cannot be replaced, but it can be overwritten.
    if (entry.kind !== "file" || (error as NodeJS.ErrnoException).code !== "EBUSY") throw error;
    const handle = openSync(folder.at(name), constants.O_WRONLY | constants.O_TRUNC | noFollow);
    await writeContent(restoring, entry, handle);
  }
}

type FileEntry = Extract<SnapshotEntry, { kind: "file" }>;

/** Writes a file's content from the snapshot; `old` is the path of the file that is being replaced. */
async function writeContent({ objects }: Restoring, entry: FileEntry, handle: number, old?: string): Promise<void> {
  try {
    for await (const piece of objects.pieces(entry.object)) writeFileSync(handle, piece);
    if (old !== undefined) keepOwner(handle, old);
    fchmodSync(handle, entry.mode);
  } finally {
    closeSync(handle);
  }
}

/** Gives the new file the owner of the old one. Only root may change owners; for other users, an error is ignored. */
function keepOwner(handle: number, old: string): void {
  const before = lstatSync(old, { throwIfNoEntry: false });
  if (!before?.isFile() || (before.uid === process.getuid?.() && before.gid === process.getgid?.())) return;
  try {
    fchownSync(handle, before.uid, before.gid);
  } catch {}
}

function setMode(path: string, { entry }: RestoreStep): void {
  if (entry.kind !== "file" && entry.kind !== "folder") return;
  const stat = lstatSync(path);
  const isSame = entry.kind === "file" ? stat.isFile() : stat.isDirectory();
  if (!isSame) throw new Error("it is something else now");
  chmodSync(path, entry.mode);
}

type LockedFolder = { root: string; names: string[]; mode: number };

/** Makes read-only folders writable during the restore. Those with a new mode of their own get it at the end anyway. */
function unlock(restoring: Restoring, steps: readonly RestoreStep[]): LockedFolder[] {
  const locked: LockedFolder[] = [];
  const seen = new Set<string>();
  for (const step of steps) {
    const names = namesFrom(step.root, step.path).slice(0, -1);
    const key = join(step.root, ...names);
    if (seen.has(key)) continue;
    seen.add(key);
    try {
      const path = restoring.trail.to(step.root, names).at(".");
      const mode = lstatSync(path).mode & 0o7777;
      if ((mode & 0o700) === 0o700) continue;
      chmodSync(path, mode | 0o700);
      locked.push({ root: step.root, names, mode });
    } catch {
      // The folder is missing or not accessible, which the step itself will report.
    }
  }
  const plannedPaths = new Set(steps.filter((step) => step.change !== "write").map((step) => step.path));
  return locked.filter(({ root, names }) => !plannedPaths.has(join(root, ...names)));
}

function lock(restoring: Restoring, locked: readonly LockedFolder[]): void {
  for (const { root, names, mode } of locked.toReversed()) {
    try {
      chmodSync(openFolderOf(restoring, root, names).at("."), mode);
    } catch {
      // The folder was removed in the meantime.
    }
  }
}

function openFolderOf({ trail }: Restoring, root: string, names: readonly string[]): FolderHandle {
  for (let depth = 0; depth < names.length; depth++) {
    try {
      trail.to(root, names.slice(0, depth + 1));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      // A parent folder was removed since the snapshot by something that left no record.
      mkdirSync(trail.to(root, names.slice(0, depth)).at(names[depth]!));
    }
  }
  return trail.to(root, names);
}

const sentences: Record<string, string> = {
  ENOTEMPTY: "it is not empty",
  EEXIST: "it is not empty",
  ELOOP: "its path now points elsewhere",
  ENOTDIR: "its path now points elsewhere",
  EACCES: "permission denied",
  EPERM: "the system does not permit it",
  ENOSPC: "no space left on the disk",
  EROFS: "the file system is read-only",
  ENOENT: "what was saved is missing",
};

function errorSentence(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return sentences[code ?? ""] ?? message;
}
