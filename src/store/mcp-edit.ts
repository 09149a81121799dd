// Adds a server to a file that people edit, and takes one out: everything else in it stays as it is.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { withFileLock } from "./file-lock.ts";
import { editJson, type JsonEdit } from "./json-edit.ts";
import { readJson, replaceFile } from "./json-file.ts";
import type { McpFile } from "./mcp-paths.ts";
import type { McpDefinition } from "./mcp-servers.ts";

type McpEditTarget = Pick<McpFile, "file" | "scope">;

/** False: there is one of this name, and the file was left alone. */
export function addServer(target: McpEditTarget, name: string, definition: McpDefinition): boolean {
  return edit(target, (names) =>
    names.includes(name) ? undefined : [{ type: "set", path: ["mcpServers", name], value: definition }],
  );
}

/** False: there is none of this name. */
export function removeServer(target: McpEditTarget, name: string): boolean {
  return edit(target, (names) => (names.includes(name) ? [{ type: "remove", path: ["mcpServers", name] }] : undefined));
}

function edit({ file, scope }: McpEditTarget, changes: (names: readonly string[]) => JsonEdit[] | undefined): boolean {
  // A project's folder is everybody's; the user's own is private.
  mkdirSync(dirname(file), { recursive: true, mode: scope === "project" ? 0o777 : 0o700 });
  return withFileLock(`${file}.lock`, (stillOurs) => {
    const current = readJson(file);
    const servers = current?.["mcpServers"] ?? {};
    if (!isObject(servers))
      throw new UserError(
        "CONFIG_INVALID",
        `${file}: "mcpServers" is no object. Correct it first; it was left as it is.`,
      );
    const edits = changes(Object.keys(servers));
    if (!edits) return false;
    if (current === undefined && scope === "project") writeFileSync(file, "{}\n", { flag: "wx", mode: 0o666 });
    replaceFile(file, editJson(current === undefined ? undefined : readFileSync(file, "utf8"), edits), stillOurs);
    return true;
  });
}
