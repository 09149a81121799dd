// Reads MCP servers from their files: each name with its checked definition, before variables are substituted.

import { isObject, type JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { nearestName } from "../text/nearest.ts";
import { type Checked, isPlainText, isText, listOf, namedTexts, text, truth } from "./checked-fields.ts";
import { readJson } from "./json-file.ts";
import { type McpFile, type McpPaths, mcpFiles } from "./mcp-paths.ts";

const words = listOf<string>(isPlainText, "a list of strings");

const fields = {
  type: text,
  command: text,
  args: words,
  env: namedTexts,
  envFile: text,
  cwd: text,
  url: text,
  headers: namedTexts,
  /** An OAuth client that the user registered by hand. */
  auth: { what: 'an object with a "CLIENT_ID"', is: isAuth },
  /** Tools that need no further permission. Ignored in project files: projects cannot grant themselves anything. */
  alwaysAllow: words,
  disabled: truth,
};

export type McpDefinition = Checked<typeof fields>;

/** `auto`: streamable HTTP, with a fallback to SSE for older servers. */
export type McpTransport = "stdio" | "http" | "sse" | "auto";

export type McpServer = McpFile & {
  name: string;
  definition: McpDefinition;
  transport: McpTransport;
  /** Why the server cannot be started with this definition. */
  problem?: string;
};

/** Reads all configured MCP servers. Throws for a file that is not JSON. An invalid server is listed with its problem. */
export function readMcpServers(place: McpPaths, warnings: string[]): McpServer[] {
  return mcpFiles(place).flatMap((place) => {
    const content = readJson(place.file);
    return content === undefined ? [] : serversIn(content, place, warnings);
  });
}

export function serversIn(content: JsonObject, place: McpFile, warnings: string[]): McpServer[] {
  const { file } = place;
  const servers = content["mcpServers"];
  if (servers === undefined) {
    const near = nearestName("mcpServers", Object.keys(content));
    if (Object.keys(content).length > 0)
      warnings.push(`${file}: "mcpServers" is missing${near ? `, but "${near}"` : ""}: no server is read from it.`);
    return [];
  }
  if (!isObject(servers))
    throw new UserError("CONFIG_INVALID", `${file}: "mcpServers" must be an object of named servers. Fix it.`);
  return Object.entries(servers).map(([name, entry]) => parseServer(name, entry, place, warnings));
}

function parseServer(name: string, entry: unknown, place: McpFile, warnings: string[]): McpServer {
  const base = { ...place, name };
  if (!isObject(entry)) return { ...base, definition: {}, transport: "stdio", problem: "it must be an object" };
  const problems: string[] = [];
  const definition: JsonObject = {};
  for (const [key, value] of Object.entries(entry)) {
    const wanted = Object.hasOwn(fields, key) ? fields[key as keyof McpDefinition] : undefined;
    if (!wanted) {
      const near = nearestName(key, Object.keys(fields));
      if (near) warnings.push(`${place.file}: "${name}.${key}" is unknown: did you mean "${near}"?`);
      continue;
    }
    if (wanted.is(value)) definition[key] = value;
    else problems.push(`"${key}" must be ${wanted.what}`);
  }
  problems.push(...wrongName(name));
  const { transport, problem } = transportOf(definition);
  if (problem) problems.push(problem);
  return { ...base, definition, transport, ...(problems.length > 0 && { problem: problems.join("; ") }) };
}

function wrongName(name: string): string[] {
  if (name.trim() === "" || name.length > 100) return ["its name must have 1 to 100 characters"];
  // Reject names that cannot be written in a rule: `Mcp(server:tool)`.
  return /[:\x00-\x1f\x7f]/.test(name) ? ["its name must not contain a colon or a control character"] : [];
}

const transports: Record<string, McpTransport> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamablehttp: "http",
  sse: "sse",
};

function transportOf({ type, command, url }: McpDefinition): { transport: McpTransport; problem?: string } {
  if (command !== undefined && url !== undefined)
    return { transport: "stdio", problem: 'it has both "command" and "url": which one is meant?' };
  if (command === undefined && url === undefined)
    return { transport: "stdio", problem: 'it needs a "command" to start or a "url" to connect to' };
  // Do not check a URL that contains variables, which are substituted later.
  if (url !== undefined && !url.includes("${") && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    return { transport: "http", problem: `"url" ${url} is not an http or https address` };
  const transport = command !== undefined ? "stdio" : "auto";
  if (type === undefined) return { transport };
  const named = Object.hasOwn(transports, type.toLowerCase()) ? transports[type.toLowerCase()]! : undefined;
  if (!named) return { transport, problem: `"type" must be one of stdio, http, sse` };
  if ((named === "stdio") !== (transport === "stdio"))
    return { transport, problem: `"type" ${type} does not fit ${command === undefined ? '"url"' : '"command"'}` };
  return { transport: named };
}

function isAuth(value: unknown): value is { CLIENT_ID: string; CLIENT_SECRET?: string; scopes?: string[] } {
  if (!isObject(value) || !isText(value["CLIENT_ID"])) return false;
  const { CLIENT_SECRET, scopes } = value;
  return (CLIENT_SECRET === undefined || isText(CLIENT_SECRET)) && (scopes === undefined || words.is(scopes));
}
