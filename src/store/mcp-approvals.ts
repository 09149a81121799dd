// Records which MCP servers and tools the user has approved: hashes of their definitions, stored where no agent writes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, isObject, type JsonObject } from "../json/object.ts";
import { sha256 } from "./chats/sha256.ts";
import { readJson, saveJson } from "./json-file.ts";
import type { McpServer } from "./mcp-servers.ts";
import { serverHashes, type VariableContext } from "./mcp-variables.ts";
import { projectDir } from "./project.ts";

export type ApprovalContext = VariableContext & { configDir: string };

/** Returns whether this exact definition was approved, with the workspace files that it names in their current state. */
export function isApprovedServer(server: McpServer, context: ApprovalContext): boolean {
  const saved = objectAt(recordOf(context), "servers", serverKey(server));
  if (saved["hash"] === definitionHash(server))
    return canonicalJson(saved["files"] ?? {}) === canonicalJson(serverHashes(server, context));
  return isApprovedByOriginal(server, context);
}

/** Approves a server until its definition or a file behind it changes. */
export function approveServer(server: McpServer, context: ApprovalContext): void {
  const entry = { hash: definitionHash(server), files: serverHashes(server, context) };
  update(context, (record) => ({ ...record, servers: { ...objectAt(record, "servers"), [serverKey(server)]: entry } }));
  enableServer(server, context);
}

export function disabledServers(context: ApprovalContext): string[] {
  return disabledIn(recordOf(context));
}

export function disableServer({ name }: McpServer, context: ApprovalContext): void {
  update(context, (record) => ({ ...record, disabled: [...new Set([...disabledIn(record), name])] }));
}

/** Enables a server, and approves its tools as they are next seen. */
export function enableServer(server: McpServer, context: ApprovalContext): void {
  update(context, (record) => ({ ...record, disabled: disabledIn(record).filter((name) => name !== server.name) }));
  updatePins(server, context, () => undefined);
}

/** `new`: never seen. `changed`: the description differs from when it was first seen or last approved. */
export type ToolPinStatus = "new" | "same" | "changed";

export type ToolDescription = { name: string; description?: string | undefined; schema: unknown };

/** The tools that a server has offered, each with a hash of its description. */
export class ToolPins {
  readonly #server: McpServer;
  readonly #place: ApprovalContext;
  #seen: JsonObject;

  constructor(server: McpServer, context: ApprovalContext) {
    this.#server = server;
    this.#place = context;
    this.#seen = objectAt(pinsRecord(server, context), "tools", serverKey(server));
  }

  status(tool: ToolDescription): ToolPinStatus {
    if (!Object.hasOwn(this.#seen, tool.name)) return "new";
    return this.#seen[tool.name] === toolHash(tool) ? "same" : "changed";
  }

  /** Records new tools. For a changed tool the old hash is kept until the user approves the change. */
  remember(tools: readonly ToolDescription[]): void {
    this.#save(tools.filter((tool) => this.status(tool) === "new"));
  }

  approve(tool: ToolDescription): void {
    this.#save([tool]);
  }

  #save(tools: readonly ToolDescription[]): void {
    if (tools.length === 0) return;
    const hashes = Object.fromEntries(tools.map((tool) => [tool.name, toolHash(tool)]));
    this.#seen = { ...this.#seen, ...hashes };
    updatePins(this.#server, this.#place, (seen) => ({ ...seen, ...hashes }));
  }
}

/** A user's server is the same in every workspace; a project's is approved for its workspace only. */
function pinsRecord(server: McpServer, context: ApprovalContext): JsonObject {
  return server.scope === "user" ? (readJson(userFile(context)) ?? {}) : recordOf(context);
}

function updatePins(
  server: McpServer,
  context: ApprovalContext,
  change: (seen: JsonObject) => JsonObject | undefined,
): void {
  const key = serverKey(server);
  const changed = (record: JsonObject) => {
    const { [key]: seen, ...others } = objectAt(record, "tools");
    const next = change(isObject(seen) ? seen : {});
    return { ...record, tools: next ? { ...others, [key]: next } : others };
  };
  if (server.scope === "user") saveJson(userFile(context), changed);
  else update(context, changed);
}

function userFile({ configDir }: ApprovalContext): string {
  return join(configDir, "mcp-approved.json");
}

function projectFile({ configDir, workspace }: ApprovalContext): string {
  return join(projectDir(configDir, workspace), "mcp-approved.json");
}

/** Returns the record of a workspace. Two workspaces can share the folder, so the recorded path is compared. */
function recordOf(context: ApprovalContext): JsonObject {
  return ofWorkspace(readJson(projectFile(context)) ?? {}, context);
}

function ofWorkspace(record: JsonObject, { workspace }: ApprovalContext): JsonObject {
  return record["workspacePath"] === workspace ? record : {};
}

function update(context: ApprovalContext, change: (record: JsonObject) => JsonObject): void {
  saveJson(projectFile(context), (current) => ({
    workspacePath: context.workspace,
    ...change(ofWorkspace(current, context)),
  }));
}

function objectAt(record: JsonObject, ...path: string[]): JsonObject {
  let value: unknown = record;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isObject(value) ? value : {};
}

function disabledIn({ disabled }: JsonObject): string[] {
  return Array.isArray(disabled) ? disabled.filter((name) => typeof name === "string") : [];
}

/** Returns a server's key, which includes its file: servers of the same name in different files are different. */
function serverKey({ scope, file, name }: McpServer): string {
  return scope === "user" ? name : `${file}#${name}`;
}

/** Hashes everything that decides what is started or connected to, regardless of formatting. */
function definitionHash({ definition }: McpServer): string {
  const { disabled: _disabled, alwaysAllow: _allowed, ...decisive } = definition;
  return sha256(canonicalJson(decisive));
}

function toolHash({ name, description, schema }: ToolDescription): string {
  return sha256(canonicalJson({ name, description: description ?? "", schema }));
}

/** Reads the original CLI's approvals: a list of `<server>-<first 16 digits of a hash of path and definition>`. */
function isApprovedByOriginal({ name, definition, file, scope }: McpServer, context: ApprovalContext): boolean {
  if (scope !== "project" || file !== join(context.workspace, ".cursor", "mcp.json")) return false;
  try {
    const listed = JSON.parse(
      readFileSync(join(projectDir(context.configDir, context.workspace), "mcp-approvals.json"), "utf8"),
    ) as unknown;
    const hash = sha256(JSON.stringify({ path: context.workspace, server: definition })).slice(0, 16);
    return Array.isArray(listed) && listed.includes(`${name}-${hash}`);
  } catch {
    return false; // a record that cannot be read approves nothing
  }
}
