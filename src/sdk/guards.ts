// Type guards for unified messages, their blocks, and the lines of stream-json.

import { isObject } from "../json/object.ts";
import type {
  CursorAssistantEvent,
  CursorResultEvent,
  CursorSystemEvent,
  CursorThinkingEvent,
  CursorToolCallEvent,
  CursorUserEvent,
} from "../protocol/cursor-lines.ts";
import { commonFault, frameTypes } from "../protocol/frame-shapes.ts";
import type {
  UnifiedImageBlock,
  UnifiedMessage,
  UnifiedTextBlock,
  UnifiedThinkingBlock,
  UnifiedToolResultBlock,
  UnifiedToolUseBlock,
} from "./unified.ts";

export function isUnifiedMessage(value: unknown): value is UnifiedMessage {
  return (
    isObject(value) &&
    typeof value.id === "string" &&
    ["user", "assistant", "system"].includes(value.role as string) &&
    Array.isArray(value.content) &&
    typeof value.timestamp === "number" &&
    typeof value.tool === "string"
  );
}

export function isTextBlock(block: unknown): block is UnifiedTextBlock {
  return isObject(block) && block.type === "text" && typeof block.text === "string";
}

export function isThinkingBlock(block: unknown): block is UnifiedThinkingBlock {
  return isObject(block) && block.type === "thinking" && typeof block.thinking === "string";
}

export function isToolUseBlock(block: unknown): block is UnifiedToolUseBlock {
  return isObject(block) && block.type === "tool_use" && typeof block.id === "string" && typeof block.name === "string";
}

export function isToolResultBlock(block: unknown): block is UnifiedToolResultBlock {
  return isObject(block) && block.type === "tool_result" && typeof block.tool_use_id === "string";
}

export function isImageBlock(block: unknown): block is UnifiedImageBlock {
  return isObject(block) && block.type === "image" && isObject(block.source);
}

export function isCursorSystemEvent(line: unknown): line is CursorSystemEvent {
  return isLine(line, "system") && (line as CursorSystemEvent).subtype === "init";
}

export function isCursorUserEvent(line: unknown): line is CursorUserEvent {
  return isLine(line, "user");
}

export function isCursorAssistantEvent(line: unknown): line is CursorAssistantEvent {
  return isLine(line, "assistant");
}

/** A piece of text as it comes, rather than a text that is whole. */
export function isCursorDelta(line: unknown): line is CursorAssistantEvent & { timestamp_ms: number } {
  return isCursorAssistantEvent(line) && line.timestamp_ms !== undefined && line.model_call_id === undefined;
}

export function isCursorThinkingEvent(line: unknown): line is CursorThinkingEvent {
  return isLine(line, "thinking");
}

export function isCursorToolCallEvent(line: unknown): line is CursorToolCallEvent {
  return isLine(line, "tool_call") && /^(started|completed)$/.test((line as CursorToolCallEvent).subtype);
}

export function isCursorResultEvent(line: unknown): line is CursorResultEvent {
  return isLine(line, "result");
}

function isLine(line: unknown, type: string): boolean {
  if (!isObject(line) || line.type !== type) return false;
  return (frameTypes.get(type)?.check?.(line) ?? commonFault(line)) === undefined;
}
