// The table of frames: every known type, and the check of its shape.
import { isObject, type JsonObject } from "../json/object.ts";

export type FrameType = {
  /** Returns what is wrong with a stream-json line of this type. Absent for types of the turn contract. */
  check?: (line: JsonObject) => string | undefined;
  /** Whether this frame ends the turn; the first such frame is final. */
  isTerminal?: true;
  /** Whether this frame has no effect, so that its fields are not checked. */
  isIgnored?: true;
  /** Whether this frame contains the model's answer. Without one, exit code 0 alone is not a success. */
  isForwardable?: true;
};

export const frameTypes: ReadonlyMap<string, FrameType> = new Map<string, FrameType>([
  ["system", { check: systemFault }],
  ["user", { check: messageFault }],
  ["assistant", { check: messageFault, isForwardable: true }],
  ["thinking", { check: thinkingFault }],
  ["tool_call", { check: toolCallFault }],
  ["interaction_query", { check: queryFault }],
  ["connection", { check: subtypeFault }],
  ["retry", { check: subtypeFault }],
  ["result", { check: resultFault, isTerminal: true }],
  ["assistant_delta", { isForwardable: true }],
  ["usage", { isForwardable: true }],
  ["error", { isTerminal: true }],
  ["done", { isTerminal: true }],
]);

/** Checks the fields that lines of every type may have. */
export function commonFault(line: JsonObject): string | undefined {
  if (line.session_id !== undefined && typeof line.session_id !== "string") return "session_id must be a string";
  if (line.timestamp_ms !== undefined && typeof line.timestamp_ms !== "number") return "timestamp_ms must be a number";
  return undefined;
}

function systemFault(line: JsonObject): string | undefined {
  if (typeof line.subtype !== "string") return "subtype must be a string";
  if (line.subtype !== "init") return undefined;
  if (typeof line.session_id !== "string") return "session_id must be a string";
  for (const key of ["cwd", "model", "permissionMode", "apiKeySource"]) {
    if (line[key] !== undefined && typeof line[key] !== "string") return `${key} must be a string`;
  }
  return undefined;
}

function messageFault(line: JsonObject): string | undefined {
  const { message } = line;
  if (!isObject(message)) return "message must be an object";
  if (message.role !== line.type) return `message.role must be ${JSON.stringify(line.type)}`;
  if (!Array.isArray(message.content)) return "message.content must be a list";
  for (const block of message.content) {
    if (!isObject(block) || typeof block.type !== "string") return "each block of message.content must have a type";
    if (block.type === "text" && typeof block.text !== "string") return "the text of a text block must be a string";
  }
  if (line.model_call_id !== undefined && typeof line.model_call_id !== "string") {
    return "model_call_id must be a string";
  }
  return undefined;
}

function thinkingFault(line: JsonObject): string | undefined {
  if (line.subtype === "delta" && typeof line.text !== "string") return "text must be a string";
  return subtypeFault(line);
}

/**
 * Checks a call of the nested form that some CLIs use for their host's tools: `tool_call{name, …}`, also below
 * `function`. Only the name is required.
 */
function toolCallFault(line: JsonObject): string | undefined {
  if (!isObject(line.tool_call)) return "tool_call must be an object";
  const { name, function: inner } = line.tool_call;
  const isNamed = typeof (isObject(inner) ? inner.name : name) === "string";
  if (line.subtype === undefined) return isNamed ? undefined : "tool_call without subtype must have a name";
  if (typeof line.subtype !== "string") return "subtype must be a string";
  if (line.call_id === undefined && isNamed) return undefined;
  return typeof line.call_id === "string" ? undefined : "call_id must be a string";
}

function queryFault(line: JsonObject): string | undefined {
  if (typeof line.query_type !== "string") return "query_type must be a string";
  if (line.subtype === "request" && !isObject(line.query)) return "query must be an object";
  if (line.subtype === "response" && !isObject(line.response)) return "response must be an object";
  return subtypeFault(line);
}

function subtypeFault(line: JsonObject): string | undefined {
  return typeof line.subtype === "string" ? undefined : "subtype must be a string";
}

function resultFault(line: JsonObject): string | undefined {
  if (typeof line.subtype !== "string") return "subtype must be a string";
  if (typeof line.duration_ms !== "number") return "duration_ms must be a number";
  if (line.duration_api_ms !== undefined && typeof line.duration_api_ms !== "number") {
    return "duration_api_ms must be a number";
  }
  if (typeof line.is_error !== "boolean") return "is_error must be true or false";
  if (typeof line.result !== "string") return "result must be a string";
  if (line.request_id !== undefined && typeof line.request_id !== "string") return "request_id must be a string";
  if (line.usage === undefined) return undefined;
  if (!isObject(line.usage)) return "usage must be an object";
  for (const key of ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"]) {
    const count = line.usage[key];
    if (count !== undefined && typeof count !== "number") return `usage.${key} must be a number`;
  }
  return undefined;
}

/** 1e999 is valid JSON and parses to infinity, which cannot be serialised again. Depth is limited by the line reader. */
export function isFiniteThroughout(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isFiniteThroughout(value[index])) return false;
    return true;
  }
  for (const key in value) if (!isFiniteThroughout((value as JsonObject)[key])) return false;
  return true;
}
