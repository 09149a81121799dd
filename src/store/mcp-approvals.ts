// Which MCP servers and tools the user has approved: hashes of what was seen, kept where no agent writes.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject } from "../json/object.ts";
import { readJson, saveJson } from "./json-file.ts";
import type { McpServer } from "./mcp-servers.ts";
import { type FillingPlace, filesBehind } from "./mcp-variables.ts";
import { projectDir } from "./project.ts";

export type ApprovalPlace = FillingPlace & { configDir: string };

/** The exact definition was approved, and so were the files in the workspace that it names, as they are now. */
export function isApprovedServer(server: McpServer, place: ApprovalPlace): boolean {
  const saved = objectAt(recordOf(place), "servers", keyOf(server));
  if (saved["hash"] === definitionHash(server))
    return canonical(saved["files"] ?? {}) === canonical(fileHashes(server, place));
  return isApprovedByOriginal(server, place);
}

/** From now on, until the definition or a file behind it changes. */
export function approveServer(server: McpServer, place: ApprovalPlace): void {
  const entry = { hash: definitionHash(server), files: fileHashes(server, place) };
  update(place, (record) => ({ ...record, servers: { ...objectAt(record, "servers"), [keyOf(server)]: entry } }));
  enableServer(server, place);
}

export function disabledServers(place: ApprovalPlace): string[] {
  return disabledIn(recordOf(place));
}

export function disableServer({ name }: McpServer, place: ApprovalPlace): void {
  update(place, (record) => ({ ...record, disabled: [...new Set([...disabledIn(record), name])] }));
}

/** Its tools are approved as they will be seen next. */
export function enableServer(server: McpServer, place: ApprovalPlace): void {
  update(place, (record) => ({ ...record, disabled: disabledIn(record).filter((name) => name !== server.name) }));
  updatePins(server, place, () => undefined);
}

/** `new`: never seen. `changed`: it is described otherwise than when it was first seen or last approved. */
export type ToolStanding = "new" | "same" | "changed";

export type ToolFacts = { name: string; description?: string | undefined; schema: unknown };

/** What tools were seen with a server, and what each looked like. */
export class ToolPins {
  readonly #server: McpServer;
  readonly #place: ApprovalPlace;
  #seen: JsonObject;

  constructor(server: McpServer, place: ApprovalPlace) {
    this.#server = server;
    this.#place = place;
    this.#seen = objectAt(pinsRecord(server, place), "tools", keyOf(server));
  }

  standing(tool: ToolFacts): ToolStanding {
    if (!Object.hasOwn(this.#seen, tool.name)) return "new";
    return this.#seen[tool.name] === toolHash(tool) ? "same" : "changed";
  }

  /** What is new is remembered as it is; what changed stays as it was, until somebody says yes to it. */
  remember(tools: readonly ToolFacts[]): void {
    this.#save(tools.filter((tool) => this.standing(tool) === "new"));
  }

  approve(tool: ToolFacts): void {
    this.#save([tool]);
  }

  #save(tools: readonly ToolFacts[]): void {
    if (tools.length === 0) return;
    const hashes = Object.fromEntries(tools.map((tool) => [tool.name, toolHash(tool)]));
    this.#seen = { ...this.#seen, ...hashes };
    updatePins(this.#server, this.#place, (seen) => ({ ...seen, ...hashes }));
  }
}

/** A user's server is the same in every workspace; a project's is approved for its workspace alone. */
function pinsRecord(server: McpServer, place: ApprovalPlace): JsonObject {
  return server.scope === "user" ? (readJson(userFile(place)) ?? {}) : recordOf(place);
}

function updatePins(
  server: McpServer,
  place: ApprovalPlace,
  change: (seen: JsonObject) => JsonObject | undefined,
): void {
  const key = keyOf(server);
  const changed = (record: JsonObject) => {
    const { [key]: seen, ...others } = objectAt(record, "tools");
    const next = change(isObject(seen) ? seen : {});
    return { ...record, tools: next ? { ...others, [key]: next } : others };
  };
  if (server.scope === "user") saveJson(userFile(place), changed);
  else update(place, changed);
}

function userFile({ configDir }: ApprovalPlace): string {
  return join(configDir, "mcp-approved.json");
}

function projectFile({ configDir, workspace }: ApprovalPlace): string {
  return join(projectDir(configDir, workspace), "mcp-approved.json");
}

/** Two workspaces can share the folder; the path inside tells them apart. */
function recordOf(place: ApprovalPlace): JsonObject {
  return ofWorkspace(readJson(projectFile(place)) ?? {}, place);
}

function ofWorkspace(record: JsonObject, { workspace }: ApprovalPlace): JsonObject {
  return record["workspacePath"] === workspace ? record : {};
}

function update(place: ApprovalPlace, change: (record: JsonObject) => JsonObject): void {
  saveJson(projectFile(place), (current) => ({
    workspacePath: place.workspace,
    ...change(ofWorkspace(current, place)),
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

/** Names are scoped by the file that they stand in. */
function keyOf({ scope, file, name }: McpServer): string {
  return scope === "user" ? name : `${file}#${name}`;
}

/** Everything that decides what is started or connected to; how it is written down does not. */
function definitionHash({ definition }: McpServer): string {
  const { disabled: _disabled, alwaysAllow: _allowed, ...decisive } = definition;
  return hashOf(canonical(decisive));
}

function toolHash({ name, description, schema }: ToolFacts): string {
  return hashOf(canonical({ name, description: description ?? "", schema }));
}

const largestHashed = 32 * 1024 * 1024;

/** A file that is not there yet counts as well: it could be made. */
function fileHashes(server: McpServer, place: FillingPlace): Record<string, string> {
  const hashes: Record<string, string> = {};
  for (const path of filesBehind(server, place)) {
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts?.isFile()) hashes[path] = facts.size > largestHashed ? `${facts.size}` : hashOf(readFileSync(path));
  }
  return hashes;
}

/** The original's own approvals: a list of `<server>-<first 16 digits of a hash of path and definition>`. */
function isApprovedByOriginal({ name, definition, file, scope }: McpServer, place: ApprovalPlace): boolean {
  if (scope !== "project" || file !== join(place.workspace, ".cursor", "mcp.json")) return false;
  try {
    const listed = JSON.parse(
      readFileSync(join(projectDir(place.configDir, place.workspace), "mcp-approvals.json"), "utf8"),
    ) as unknown;
    const hash = hashOf(JSON.stringify({ path: place.workspace, server: definition })).slice(0, 16);
    return Array.isArray(listed) && listed.includes(`${name}-${hash}`);
  } catch {
    return false; // what cannot be read approves nothing
  }
}

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
    .join(",")}}`;
}

function hashOf(bytes: string | Buffer): string {
  // Slow to load, and needed only where a project has servers.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(bytes).digest("hex");
}
