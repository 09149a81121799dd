// The turn contract: one turn of JSON in; assistant_delta, tool_call, usage, error and done out, each checked here.

import type { FrameErrorCode } from "../json/frame-error.ts";
import { isObject, type JsonObject } from "../json/object.ts";
import { valueFault } from "../json/schema.ts";

/** What a CLI that speaks the contract reads from stdin: one line. */
export type Turn = {
  type: "turn";
  turnId: string;
  messages: TurnMessage[];
  tools: TurnTool[];
};
/** `user`, `system`, `assistant` (with the calls it made) or `tool` (the result of one). */
export type TurnMessage = {
  role: string;
  content: string;
  tool_calls?: readonly TurnCall[];
  /** Of a tool's result: which tool, and which call. */
  name?: string;
  tool_call_id?: string;
};
export type TurnCall = { id: string; name: string; args: Record<string, unknown> };
export type TurnTool = { name: string; schema: object; description?: string };

export type AssistantDelta = { type: "assistant_delta"; data: { content: string } };
export type ContractToolCall = { type: "tool_call"; data: { name: string; args: Record<string, unknown> } };
export type ContractUsage = { type: "usage"; data: { promptTokens: number; completionTokens: number } };
export type ContractError = { type: "error"; data: { code: string; message: string } };
export type ContractDone = { type: "done"; data: { finishReason: string } };
export type TurnEvent = AssistantDelta | ContractToolCall | ContractUsage | ContractError | ContractDone;

/** May come first, to say which contract follows. */
export type ProtocolLine = { type: "protocol"; data: { version: string } };

export const supportedVersions: readonly string[] = ["1.0"];

/** A tool that may be called: with its schema, its arguments are checked as well. */
export type KnownTool = string | { name: string; schema?: unknown };

const webFetchSchema = { type: "object", properties: { url: { type: "string", minLength: 1 } }, required: ["url"] };
const webSearchSchema = {
  type: "object",
  properties: { query: { type: "string", minLength: 1 } },
  required: ["query"],
};

/** Tools that the contract itself names: their arguments are known without being told. */
export const contractSchemas: ReadonlyMap<string, object> = new Map<string, object>([
  ["web_fetch", webFetchSchema],
  ["mcp_web_fetch", webFetchSchema],
  ["web_search", webSearchSchema],
  ["mcp_web_search", webSearchSchema],
]);

/** Name -> schema (or undefined) of every tool that may be called. */
export type ToolTable = ReadonlyMap<string, unknown>;

export function toolTable(tools: readonly KnownTool[]): ToolTable {
  return new Map(
    tools.map((tool) => {
      if (typeof tool === "string") return [tool, contractSchemas.get(tool)];
      return [tool.name, tool.schema ?? contractSchemas.get(tool.name)];
    }),
  );
}

export type Fault = { code: FrameErrorCode; message: string };

/** Undefined: the frame has the shape of the contract. Types that are not of the contract are not asked about. */
export function contractFault(type: string, frame: JsonObject, tools: ToolTable | undefined): Fault | undefined {
  const data = frame.data;
  if (!isObject(data)) return wrong(type, "data must be an object");
  switch (type) {
    case "assistant_delta":
      return typeof data.content === "string" ? undefined : wrong(type, "data.content must be a string");
    case "tool_call":
      return callFault(data.name, data.args, tools);
    case "usage":
      if (!isCount(data.promptTokens)) return wrong(type, "data.promptTokens must be a number, 0 or more");
      return isCount(data.completionTokens)
        ? undefined
        : wrong(type, "data.completionTokens must be a number, 0 or more");
    case "error":
      if (typeof data.code !== "string") return wrong(type, "data.code must be a string");
      return typeof data.message === "string" ? undefined : wrong(type, "data.message must be a string");
    case "done":
      if (data.finishReason === undefined) return undefined; // the end is clear without a reason
      return typeof data.finishReason === "string" ? undefined : wrong(type, "data.finishReason must be a string");
    default:
      return undefined;
  }
}

/** Unknown tools and arguments that do not fit run nothing. */
export function callFault(name: unknown, args: unknown, tools: ToolTable | undefined): Fault | undefined {
  if (typeof name !== "string") return wrong("tool_call", "data.name must be a string");
  if (tools && !tools.has(name)) {
    return { code: "TOOL_UNKNOWN", message: `There is no tool named ${JSON.stringify(name)}.` };
  }
  if (!isObject(args)) return { code: "TOOL_ARGUMENTS", message: `The arguments of ${name} must be an object.` };
  const fault = schemaFault(args, tools?.get(name));
  return fault ? { code: "TOOL_ARGUMENTS", message: `The arguments of ${name} do not fit: ${fault}.` } : undefined;
}

/** What is wrong, as a sentence with the place in it. Undefined: the value fits. Keywords unknown here do not restrict. */
export function schemaFault(value: unknown, schema: unknown, place = "arguments"): string | undefined {
  return valueFault(value, schema, { place });
}

/** A protocol line without a version says nothing; one with a version that we do not know is refused. */
export function versionFault(frame: JsonObject, supported: readonly string[]): Fault | undefined {
  const version = isObject(frame.data) ? frame.data.version : undefined;
  if (version === undefined || supported.some((known) => known === version)) return undefined;
  const message = `The CLI speaks protocol version ${JSON.stringify(version)}; supported: ${supported.join(", ")}.`;
  return { code: "FRAME_VERSION", message };
}

function wrong(type: string, what: string): Fault {
  return { code: "FRAME_SCHEMA", message: `Wrong ${type} frame: ${what}.` };
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
