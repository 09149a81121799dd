// Names the folder of a workspace inside the configuration directory.
import { join } from "node:path";

/** Replaces every run of characters other than letters and digits with one `-`. Two paths can share a slug. */
export function projectSlug(workspace: string): string {
  return workspace.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-|-$/g, "");
}

export function projectDir(configDir: string, workspace: string): string {
  return join(configDir, "projects", projectSlug(workspace) || "root");
}
