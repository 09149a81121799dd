// Removes the data of a deleted workspace: trust, indexes, snapshots, empty chat folders.
import { rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { chatsDir, projectId } from "./chats/layout.ts";
import { projectDir } from "./project.ts";

/** Removes everything that is stored about a workspace, except its chats. `workspace` is a real path. */
export function forgetWorkspace(configDir: string, workspace: string): void {
  const id = projectId(workspace);
  for (const path of [projectDir(configDir, workspace), join(configDir, "courser", "snapshots", id)])
    rmSync(path, { recursive: true, force: true });
  try {
    rmdirSync(join(chatsDir(configDir), id));
  } catch {
    // The folder contains chats, or does not exist.
  }
}
