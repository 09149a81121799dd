// Forces files and folders to the disk, so that what is named elsewhere is there after a power cut.
import { closeSync, fsync, fsyncSync, open, openSync } from "node:fs";
import { dirname } from "node:path";

/** The names in a folder. Some systems cannot do that, and need not. */
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

/** The names from `folder` up to `top`, which is inside a folder that was there before. */
export function syncFoldersUpTo(folder: string, top: string): void {
  for (let path = folder; path.length >= top.length; path = dirname(path)) syncFolder(path);
  syncFolder(dirname(top));
}

/** Files or folders, all at once: the disk then writes them in one go. */
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
