// What a workspace is called inside the configuration directory.
import { join } from "node:path";

/** Every run of characters that are no letters or digits becomes one `-`. Two paths can share a slug. */
export function projectSlug(workspace: string): string {
  return workspace.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-|-$/g, "");
}

export function projectDir(configDir: string, workspace: string): string {
  return join(configDir, "projects", projectSlug(workspace) || "root");
}

/** The name of the folder that holds a workspace's chats. Loads node:crypto, which a start without chats need not pay for. */
export async function projectId(workspace: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("md5").update(workspace).digest("hex");
}
