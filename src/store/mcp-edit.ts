// Adds or removes a server in a file that people edit; everything else in it is preserved.
import { isObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { type ConfigFile, editConfig } from "./config-edit.ts";
import { editJson, type JsonEdit } from "./json-edit.ts";
import type { McpDefinition } from "./mcp-servers.ts";

/** Adds an MCP server to a configuration file. Returns false, and changes nothing, if the name exists. */
export function addServer(target: ConfigFile, name: string, definition: McpDefinition): boolean {
  return edit(target, (names) =>
    names.includes(name) ? undefined : [{ type: "set", path: ["mcpServers", name], value: definition }],
  );
}

/** Removes an MCP server from a configuration file. Returns false if there is none of this name. */
export function removeServer(target: ConfigFile, name: string): boolean {
  return edit(target, (names) => (names.includes(name) ? [{ type: "remove", path: ["mcpServers", name] }] : undefined));
}

function edit(target: ConfigFile, changes: (names: readonly string[]) => JsonEdit[] | undefined): boolean {
  return editConfig(target, (current) => {
    const servers = current?.content["mcpServers"] ?? {};
    if (!isObject(servers))
      throw new UserError(
        "CONFIG_INVALID",
        `${target.file}: "mcpServers" is not an object. Fix it first; the file was not changed.`,
      );
    const edits = changes(Object.keys(servers));
    return edits && editJson(current?.text, edits);
  });
}
