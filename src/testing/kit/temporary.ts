// Temporary folders that are removed when they are no longer used, and with this process at the latest.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders = new Set<string>();
let isWatching = false;

export function temporaryFolder(prefix: string): { path: string; remove(): void } {
  if (!isWatching) process.once("exit", () => folders.forEach(removeFolder));
  isWatching = true;
  const path = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  folders.add(path);
  return { path, remove: () => removeFolder(path) };
}

function removeFolder(path: string): void {
  // Retried: what a run has just left may still be written.
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  folders.delete(path);
}
