// Names the folder of a workspace inside the configuration directory.
import { join } from "node:path";

/** Returns a folder name for a workspace, where all but letters and digits become `-`. It may not be unique. */
export function projectSlug(workspace: string): string {
  return workspace.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-|-$/g, "");
}

export function projectDir(configDir: string, workspace: string): string {
  return join(configDir, "projects", projectSlug(workspace) || "root");
}
