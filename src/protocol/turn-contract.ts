// The turn contract: one turn of JSON in; assistant_delta, tool_call, usage, error and done out, each checked here.

import { type Check, type FieldTable, text } from "../json/checks.ts";
import type { FrameErrorCode } from "../json/frame-error.ts";
import { isObject, type JsonObject } from "../json/object.ts";
import { valueFault } from "../json/schema.ts";

/** The turn that a CLI with this contract reads from stdin as one line. */
export type Turn = {
  type: "turn";
  turnId: string;
  messages: TurnMessage[];
  tools: TurnTool[];
};
/** The role is `user`, `system`, `assistant` (with the calls it made) or `tool` (the result of a call). */
export type TurnMessage = {
  role: string;
  content: string;
  tool_calls?: readonly TurnCall[];
  /** The name of the tool that a result belongs to; `id` is that of the call. */
  name?: string;
  tool_call_id?: string;
};
/** A tool call in a turn's messages. */
export type TurnCall = { id: string; name: string; args: Record<string, unknown> };
/** A tool that a turn offers to the model. */
export type TurnTool = { name: string; schema: object; description?: string };

/** The next piece of the answer, to be appended to those before it. */
export type AssistantDelta = { type: "assistant_delta"; data: { content: string } };
/** A tool call that the caller should run. */
export type ContractToolCall = { type: "tool_call"; data: { name: string; args: Record<string, unknown> } };
/** The tokens that a turn has used. */
export type ContractUsage = { type: "usage"; data: { promptTokens: number; completionTokens: number } };
/** Ends a turn that failed, with the reason. */
export type ContractError = { type: "error"; data: { code: string; message: string } };
/** Ends a turn that succeeded. */
export type ContractDone = { type: "done"; data: { finishReason: string } };
/** A frame of the turn contract. */
export type TurnEvent = AssistantDelta | ContractToolCall | ContractUsage | ContractError | ContractDone;

/** An optional first line with the version of the contract. */
export type ProtocolLine = { type: "protocol"; data: { version: string } };

/** The supported versions of the contract. */
export const supportedVersions: readonly string[] = ["1.0"];

/** A tool that may be called; with a schema, its arguments are checked as well. */
export type KnownTool = string | { name: string; schema?: unknown };

const webFetchSchema = { type: "object", properties: { url: { type: "string", minLength: 1 } }, required: ["url"] };
const webSearchSchema = {
  type: "object",
  properties: { query: { type: "string", minLength: 1 } },
  required: ["query"],
};

/** Schemas of the tools that the contract itself names. */
export const contractSchemas: ReadonlyMap<string, object> = new Map<string, object>([
  ["web_fetch", webFetchSchema],
  ["mcp_web_fetch", webFetchSchema],
  ["web_search", webSearchSchema],
  ["mcp_web_search", webSearchSchema],
]);

/** Maps every tool that may be called to its schema, if any. */
export type ToolTable = ReadonlyMap<string, unknown>;

/** Creates a function that finds a tool by its name or an alias. */
export function toolTable(tools: readonly KnownTool[]): ToolTable {
  return new Map(
    tools.map((tool) => {
      if (typeof tool === "string") return [tool, contractSchemas.get(tool)];
      return [tool.name, tool.schema ?? contractSchemas.get(tool.name)];
    }),
  );
}

/** A fault in a frame. */
export type Fault = { code: FrameErrorCode; message: string };

/** Checks a frame against the contract. Returns undefined if it matches, or if its type is not part of the contract. */
export function contractFault(type: string, frame: JsonObject, tools: ToolTable | undefined): Fault | undefined {
  const data = frame.data;
  if (!isObject(data)) return frameFault(type, "data must be an object");
  if (type === "tool_call") return callFault(data.name, data.args, tools);
  for (const [name, check] of Object.entries(contractFields[type] ?? {})) {
    const fault = check(data[name]);
    if (fault !== undefined) return frameFault(type, `data.${name} ${fault}`);
  }
  return undefined;
}

const count: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? undefined : "must be a number, 0 or more";

const contractFields: Readonly<Record<string, FieldTable>> = {
  assistant_delta: { content: text },
  usage: { promptTokens: count, completionTokens: count },
  error: { code: text, message: text },
  // Here, the reason may be missing.
  done: { finishReason: (value) => (value === undefined ? undefined : text(value)) },
};

/** Returns why a call is not run, such as an unknown tool or invalid arguments; undefined if it is valid. */
export function callFault(name: unknown, args: unknown, tools: ToolTable | undefined): Fault | undefined {
  if (typeof name !== "string") return frameFault("tool_call", "data.name must be a string");
  if (tools && !tools.has(name)) {
    return { code: "TOOL_UNKNOWN", message: `There is no tool named ${JSON.stringify(name)}.` };
  }
  if (!isObject(args)) return { code: "TOOL_ARGUMENTS", message: `The arguments of ${name} must be an object.` };
  const fault = schemaFault(args, tools?.get(name));
  return fault ? { code: "TOOL_ARGUMENTS", message: `The arguments of ${name} do not fit: ${fault}.` } : undefined;
}

/** Returns what is wrong and where, as a sentence, or undefined if the value fits. Unknown keywords do not restrict. */
export function schemaFault(value: unknown, schema: unknown, place = "arguments"): string | undefined {
  return valueFault(value, schema, { place });
}

/** Accepts a protocol line without a version; refuses one with an unknown version. */
export function versionFault(frame: JsonObject, supported: readonly string[]): Fault | undefined {
  const version = isObject(frame.data) ? frame.data.version : undefined;
  if (version === undefined || supported.some((known) => known === version)) return undefined;
  const message = `The CLI speaks protocol version ${JSON.stringify(version)}; supported: ${supported.join(", ")}.`;
  return { code: "FRAME_VERSION", message };
}

function frameFault(type: string, what: string): Fault {
  return { code: "FRAME_SCHEMA", message: `Wrong ${type} frame: ${what}.` };
}
