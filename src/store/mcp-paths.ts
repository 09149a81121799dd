// Lists the possible paths of MCP configuration, nearest first. It runs at every start, so it imports nothing heavy.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where a server is configured; `flag` is for one run, by --mcp-config. */
export type McpScope = "flag" | "project" | "user";

/** A file with MCP servers. Relative paths in it are relative to `folder`. */
export type McpFile = { scope: McpScope; file: string; folder: string };

export type McpPaths = { configDir: string; workspace: string; home: string };

/** Returns all possible files, whether or not they exist: the project's own, those of the folders around it, the user's. */
export function mcpFiles({ configDir, workspace, home }: McpPaths): McpFile[] {
  const userFile = userMcpFile(configDir);
  const files = foldersUp(workspace, home)
    .map((folder): McpFile => ({ scope: "project", file: projectMcpFile(folder), folder }))
    // If the workspace is the home folder, this file is the user's own.
    .filter(({ file }) => file !== userFile);
  return [...files, { scope: "user", file: userFile, folder: workspace }];
}

export function hasMcpFiles(paths: McpPaths): boolean {
  return mcpFiles(paths).some(({ file }) => existsSync(file));
}

export function projectMcpFile(workspace: string): string {
  return join(workspace, ".cursor", "mcp.json");
}

export function userMcpFile(configDir: string): string {
  return join(configDir, "mcp.json");
}

/** Returns the path of the file with login tokens for servers. */
export function mcpLoginFile(configDir: string): string {
  return join(configDir, "mcp-auth.json");
}

/** Returns the folders up to the root of the repository; without one, up to the home directory or the file system's root. */
function foldersUp(workspace: string, home: string): string[] {
  const folders = [workspace];
  for (let folder = workspace; folder !== home && !existsSync(join(folder, ".git")); ) {
    const parent = dirname(folder);
    if (parent === folder || parent === home) break;
    folders.push(parent);
    folder = parent;
  }
  return folders;
}
