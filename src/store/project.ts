// What a workspace is called inside the configuration directory.
import { join } from "node:path";

/** Every run of characters that are not letters or digits becomes one `-`. Two paths can share a slug. */
export function projectSlug(workspace: string): string {
  return workspace.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-|-$/g, "");
}

export function projectDir(configDir: string, workspace: string): string {
  return join(configDir, "projects", projectSlug(workspace) || "root");
}
