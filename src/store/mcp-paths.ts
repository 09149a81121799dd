// Where MCP servers may be configured, the nearest first. Asked at every start, so it loads nothing.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** `flag`: given for one run by --mcp-config. */
export type McpScope = "flag" | "project" | "user";

/** `folder`: what relative paths in it are relative to. */
export type McpFile = { scope: McpScope; file: string; folder: string };

export type McpPaths = { configDir: string; workspace: string; home: string };

/** All that may be, whether or not they are there: the project's own, those of the folders around it, the user's. */
export function mcpFiles({ configDir, workspace, home }: McpPaths): McpFile[] {
  const own = userMcpFile(configDir);
  const files = foldersUp(workspace, home)
    .map((folder): McpFile => ({ scope: "project", file: projectMcpFile(folder), folder }))
    // Working in the home directory: that file is the user's own.
    .filter(({ file }) => file !== own);
  return [...files, { scope: "user", file: own, folder: workspace }];
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

/** Tokens of servers that one logs in to. */
export function mcpLoginFile(configDir: string): string {
  return join(configDir, "mcp-auth.json");
}

/** Up to the root of the repository; where there is none, up to the home directory or the root of all. */
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
