// The folders of a worker's runs: each belongs to a process while that lives. What one that was killed left is removed by the next.
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { chatsDir, projectId } from "../../store/chats/layout.ts";
import { isAlive } from "../../store/file-lock.ts";
import { forgetWorkspace } from "../../store/forget-workspace.ts";
import type { RunRecord } from "../fleet.ts";

const ownerFile = "owner";

/** Where the repositories that runs came from are kept. */
export function cacheIn(dataDir: string): string {
  return join(dataDir, "repositories");
}

/** An empty folder for this attempt at the run. */
export function claimFolder(dataDir: string, { id, attempts }: Pick<RunRecord, "id" | "attempts">): string {
  const folder = join(dataDir, "runs", `${id}-${attempts}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, ownerFile), `${process.pid} ${hostname()}`, { mode: 0o600 });
  return folder;
}

/** From now on it is for people to look at. */
export function leaveFolder(folder: string): void {
  rmSync(join(folder, ownerFile), { force: true });
}

/** Removes the folders of workers that are gone, and what was kept of their workspaces. How many comes back. */
export function sweepFolders(dataDir: string, configDir: string): number {
  const folders = namesIn(join(dataDir, "runs")).map((name) => join(dataDir, "runs", name));
  const left = folders.filter((folder) => {
    const owner = ownerOf(folder);
    return owner !== undefined && !isAlive(owner);
  });
  for (const folder of left) {
    const workspace = join(realpathSync(folder), "work");
    rmSync(join(chatsDir(configDir), projectId(workspace)), { recursive: true, force: true });
    forgetWorkspace(configDir, workspace);
    rmSync(folder, { recursive: true, force: true });
  }
  return left.length;
}

function ownerOf(folder: string): number | undefined {
  try {
    const [pid, ...host] = readFileSync(join(folder, ownerFile), "utf8").split(" ");
    return host.join(" ") === hostname() ? Number(pid) : undefined; // of another machine, it cannot be asked
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
