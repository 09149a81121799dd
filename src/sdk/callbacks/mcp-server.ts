// Serves the tools of this process over MCP: line-based JSON-RPC, limited to what tools need.
import { fieldsOf, isObject, type JsonObject } from "../../json/object.ts";
import { checkValue, jsonSchemaOf } from "../structured.ts";
import type { InProcessTool, ToolContent } from "./tool.ts";

const latestVersion = "2025-06-18";
const knownVersions = [latestVersion, "2025-03-26", "2024-11-05"];

type McpReply = { result: unknown } | { error: { code: number; message: string } };

/** A session with one client. `send` is called with the answers, in the order in which they are ready. */
export class McpSession {
  readonly #tools: ReadonlyMap<string, InProcessTool>;
  readonly #send: (message: object) => void;
  readonly #calls = new Map<string | number, AbortController>();

  constructor(tools: readonly InProcessTool[], send: (message: object) => void) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#send = send;
  }

  /** Whether a tool call is being answered. */
  get isBusy(): boolean {
    return this.#calls.size > 0;
  }

  take(message: unknown): void {
    // ignore responses, since this server sends no requests
    if (!isObject(message) || typeof message.method !== "string") return;
    const { id, method } = message;
    const params = fieldsOf(message.params);
    if (typeof id !== "string" && typeof id !== "number") {
      if (method === "notifications/cancelled") this.#calls.get(params.requestId as string | number)?.abort();
      return;
    }
    const answer = (reply: McpReply) => this.#send({ jsonrpc: "2.0", id, ...reply });
    if (method === "tools/call") void this.#call(id, params).then(answer);
    else answer(this.#reply(method, params));
  }

  close(): void {
    for (const call of this.#calls.values()) call.abort();
  }

  #reply(method: string, params: JsonObject): McpReply {
    switch (method) {
      case "initialize":
        return { result: initialized(params) };
      case "ping":
        return { result: {} };
      case "tools/list":
        return { result: { tools: [...this.#tools.values()].map(describeTool) } };
      default:
        return { error: { code: -32601, message: `Unknown method ${method}.` } };
    }
  }

  /** Errors in a tool are reported to the model; only an unknown tool name is a protocol error. */
  async #call(id: string | number, { name, arguments: input = {} }: JsonObject): Promise<McpReply> {
    const tool = this.#tools.get(String(name));
    if (!tool) return { error: { code: -32602, message: `Unknown tool ${String(name)}.` } };
    const abort = new AbortController();
    this.#calls.set(id, abort);
    try {
      const checked = await checkValue(input, tool.schema);
      if (checked.fault !== undefined) return failedReply(`The input does not fit: ${checked.fault}.`);
      return { result: toolResult(await tool.run(checked.data, { signal: abort.signal })) };
    } catch (error) {
      return failedReply(error instanceof Error ? error.message : String(error));
    } finally {
      this.#calls.delete(id);
    }
  }
}

function initialized({ protocolVersion }: JsonObject): object {
  return {
    protocolVersion: knownVersions.includes(protocolVersion as string) ? protocolVersion : latestVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "courser-sdk", version: "1.0.0" },
  };
}

function describeTool({ name, description, schema, jsonSchema }: InProcessTool): object {
  return { name, description, inputSchema: { type: "object", ...jsonSchemaOf(schema, jsonSchema) } };
}

function failedReply(text: string): McpReply {
  return { result: { content: [{ type: "text", text }], isError: true } };
}

function toolResult(value: unknown): { content: ToolContent[]; structuredContent?: object } {
  if (Array.isArray(value) && value.length > 0 && value.every(isContent)) return { content: value };
  if (value === undefined || value === null) return { content: [{ type: "text", text: "Done." }] };
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  // Gemini parses text that is JSON as structured content, which must be an object, so provide one.
  const structuredContent = isObject(value) ? value : { result: value };
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent };
}

function isContent(value: unknown): value is ToolContent {
  if (!isObject(value)) return false;
  if (value.type === "text") return typeof value.text === "string";
  return value.type === "image" && typeof value.data === "string" && typeof value.mimeType === "string";
}
