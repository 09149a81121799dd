// Temporary folders that are removed after use, at the latest when this process ends.
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
  // Retry, because a run that has just ended may still be writing.
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  folders.delete(path);
}
