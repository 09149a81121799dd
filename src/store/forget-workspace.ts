// Removes what is kept of a workspace that is gone for good: trust, indexes, snapshots, empty lists of chats.
import { rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { chatsDir, projectId } from "./chats/layout.ts";
import { projectDir } from "./project.ts";

/** `workspace`: its real path. Chats stay. */
export function forgetWorkspace(configDir: string, workspace: string): void {
  const id = projectId(workspace);
  for (const path of [projectDir(configDir, workspace), join(configDir, "courser", "snapshots", id)])
    rmSync(path, { recursive: true, force: true });
  try {
    rmdirSync(join(chatsDir(configDir), id));
  } catch {
    // It holds chats, or never did.
  }
}
