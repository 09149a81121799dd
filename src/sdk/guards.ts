// Type guards for unified messages, their blocks, and the lines of stream-json.

import { isObject, type JsonObject } from "../json/object.ts";
import type * as lines from "../protocol/cursor-lines.ts";
import { commonFault, frameTypes } from "../protocol/frame-shapes.ts";
import type * as unified from "./unified.ts";

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

export const isTextBlock = guard<unified.UnifiedTextBlock>("text", ({ text }) => typeof text === "string");
export const isThinkingBlock = guard<unified.UnifiedThinkingBlock>(
  "thinking",
  ({ thinking }) => typeof thinking === "string",
);
export const isToolUseBlock = guard<unified.UnifiedToolUseBlock>(
  "tool_use",
  ({ id, name }) => typeof id === "string" && typeof name === "string",
);
export const isToolResultBlock = guard<unified.UnifiedToolResultBlock>(
  "tool_result",
  ({ tool_use_id: id }) => typeof id === "string",
);
export const isImageBlock = guard<unified.UnifiedImageBlock>("image", ({ source }) => isObject(source));

export const isCursorSystemEvent = guard<lines.CursorSystemEvent>(
  "system",
  (line) => isWhole(line) && line.subtype === "init",
);
export const isCursorUserEvent = guard<lines.CursorUserEvent>("user", isWhole);
export const isCursorAssistantEvent = guard<lines.CursorAssistantEvent>("assistant", isWhole);
export const isCursorThinkingEvent = guard<lines.CursorThinkingEvent>("thinking", isWhole);
export const isCursorToolCallEvent = guard<lines.CursorToolCallEvent>(
  "tool_call",
  (line) => isWhole(line) && /^(started|completed)$/.test(String(line.subtype)),
);
export const isCursorResultEvent = guard<lines.CursorResultEvent>("result", isWhole);

/** A piece of text as it comes, rather than a text that is whole. */
export function isCursorDelta(line: unknown): line is lines.CursorAssistantEvent & { timestamp_ms: number } {
  return isCursorAssistantEvent(line) && line.timestamp_ms !== undefined && line.model_call_id === undefined;
}

function guard<Value>(type: string, check: (value: JsonObject) => boolean) {
  return (value: unknown): value is Value => isObject(value) && value.type === type && check(value);
}

function isWhole(line: JsonObject): boolean {
  return (frameTypes.get(String(line.type))?.check?.(line) ?? commonFault(line)) === undefined;
}
