// Syncs files and folders to disk, so that what other files refer to survives a power cut.
import { closeSync, fsync, fsyncSync, open, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Syncs the names in a folder. Systems that do not support this do not need it. */
export function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, "r");
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (!cannotSync(error)) throw error;
  }
}

/** A folder of this age is on disk: file systems write new data at least every half minute. */
const settledAfterMs = 60_000;

/** Syncs the folders from `folder` up to the parent of `top`. Stops at a folder that is surely on disk. */
export function syncFoldersUpTo(folder: string, top: string): void {
  for (let path = folder; ; path = dirname(path)) {
    syncFolder(path);
    if (path.length < top.length || isSettled(path)) return;
  }
}

/** Returns whether a folder existed for a while. Without a creation time it counts as new. */
function isSettled(folder: string): boolean {
  const { birthtimeMs } = statSync(folder);
  return birthtimeMs > 0 && birthtimeMs < Date.now() - settledAfterMs;
}

/** Syncs files or folders concurrently, so that the disk writes them together. */
export async function syncAll(paths: Iterable<string>): Promise<void> {
  await Promise.all([...paths].map(syncOne));
}

async function syncOne(path: string): Promise<void> {
  let handle: number | undefined;
  try {
    handle = await new Promise<number>((resolve, reject) => {
      open(path, "r", (error, opened) => (error ? reject(error) : resolve(opened)));
    });
    await new Promise<void>((resolve, reject) => fsync(handle!, (error) => (error ? reject(error) : resolve())));
  } catch (error) {
    if (!cannotSync(error)) throw error;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function cannotSync(error: unknown): boolean {
  return ["EISDIR", "EPERM", "EACCES", "EINVAL", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code ?? "");
}
