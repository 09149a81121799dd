// Type guards for unified messages, their blocks, and the lines of stream-json.

import { isObject, type JsonObject } from "../json/object.ts";
import type * as lines from "../protocol/cursor-lines.ts";
import { commonFault, frameTypes } from "../protocol/frame-shapes.ts";
import type * as unified from "./unified.ts";

/** Checks whether a value is a unified message. */
export function isUnifiedMessage(value: unknown): value is unified.UnifiedMessage {
  return (
    isObject(value) &&
    typeof value.id === "string" &&
    ["user", "assistant", "system"].includes(value.role as string) &&
    Array.isArray(value.content) &&
    typeof value.timestamp === "number" &&
    typeof value.tool === "string"
  );
}

/** Checks whether a value is a text block of a unified message. */
export const isTextBlock = guard<unified.UnifiedTextBlock>("text", ({ text }) => typeof text === "string");
/** Checks whether a value is a thinking block of a unified message. */
export const isThinkingBlock = guard<unified.UnifiedThinkingBlock>(
  "thinking",
  ({ thinking }) => typeof thinking === "string",
);
/** Checks whether a value is a tool call of a unified message. */
export const isToolUseBlock = guard<unified.UnifiedToolUseBlock>(
  "tool_use",
  ({ id, name }) => typeof id === "string" && typeof name === "string",
);
/** Checks whether a value is a tool result of a unified message. */
export const isToolResultBlock = guard<unified.UnifiedToolResultBlock>(
  "tool_result",
  ({ tool_use_id: id }) => typeof id === "string",
);
/** Checks whether a value is an image block of a unified message. */
export const isImageBlock = guard<unified.UnifiedImageBlock>("image", ({ source }) => isObject(source));

/** Checks whether a value is the `system` line that begins a stream-json stream. */
export const isCursorSystemEvent = guard<lines.CursorSystemEvent>(
  "system",
  (line) => isWhole(line) && line.subtype === "init",
);
/** Checks whether a value is a `user` line of stream-json. */
export const isCursorUserEvent = guard<lines.CursorUserEvent>("user", isWhole);
/** Checks whether a value is an `assistant` line of stream-json. */
export const isCursorAssistantEvent = guard<lines.CursorAssistantEvent>("assistant", isWhole);
/** Checks whether a value is a `thinking` line of stream-json. */
export const isCursorThinkingEvent = guard<lines.CursorThinkingEvent>("thinking", isWhole);
/** Checks whether a value is a `tool_call` line of stream-json. */
export const isCursorToolCallEvent = guard<lines.CursorToolCallEvent>(
  "tool_call",
  (line) => isWhole(line) && /^(started|completed)$/.test(String(line.subtype)),
);
/** Checks whether a value is a `result` line of stream-json. */
export const isCursorResultEvent = guard<lines.CursorResultEvent>("result", isWhole);

/** Checks whether an `assistant` line is a streamed piece of text rather than a whole message. */
export function isCursorDelta(line: unknown): line is lines.CursorAssistantEvent & { timestamp_ms: number } {
  return isCursorAssistantEvent(line) && line.timestamp_ms !== undefined && line.model_call_id === undefined;
}

function guard<Value>(type: string, check: (value: JsonObject) => boolean) {
  return (value: unknown): value is Value => isObject(value) && value.type === type && check(value);
}

function isWhole(line: JsonObject): boolean {
  return (frameTypes.get(String(line.type))?.check?.(line) ?? commonFault(line)) === undefined;
}
