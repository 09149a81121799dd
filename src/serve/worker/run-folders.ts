// Manages the folders of a worker's runs. Each belongs to a live process; those of a killed worker are removed by the next one.
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { chatsDir, projectId } from "../../store/chats/layout.ts";
import { isAlive } from "../../store/file-lock.ts";
import { namesIn } from "../../store/folder-names.ts";
import { forgetWorkspace } from "../../store/forget-workspace.ts";
import type { RunRecord } from "../fleet.ts";

const ownerFile = "owner";

/** Returns the folder that caches the repositories of runs. */
export function cacheIn(dataDir: string): string {
  return join(dataDir, "repositories");
}

/** Creates an empty folder for this attempt at the run. Throws if the id, which a sender chose, is not a plain name. */
export function claimFolder(dataDir: string, { id, attempts }: Pick<RunRecord, "id" | "attempts">): string {
  if (!/^\w[\w-]*$/.test(id))
    throw new UserError("USAGE", `The run has an id that is not a name: ${JSON.stringify(id)}.`);
  const folder = join(dataDir, "runs", `${id}-${attempts}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, ownerFile), `${process.pid} ${hostname()}`, { mode: 0o600 });
  return folder;
}

/** Gives up the folder, so that it stays for people to inspect. */
export function leaveFolder(folder: string): void {
  rmSync(join(folder, ownerFile), { force: true });
}

/** Removes the folders of workers that are gone, and what was stored for their workspaces. Returns how many. */
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
    return host.join(" ") === hostname() ? Number(pid) : undefined; // a process of another machine cannot be checked
  } catch {
    return undefined;
  }
}
