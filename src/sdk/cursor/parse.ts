// parseCursorEvent: converts one stream-json line to a unified message, without knowledge of earlier lines.

import { FrameError } from "../../json/frame-error.ts";
import { isObject, type JsonObject, tryParse } from "../../json/object.ts";
import type { CursorAssistantEvent, CursorToolCallEvent, CursorUserEvent } from "../../protocol/cursor-lines.ts";
import { commonFault, frameTypes } from "../../protocol/frame-shapes.ts";
import { redactedStart } from "../../redact/shorten.ts";
import type { UnifiedContent, UnifiedMessage } from "../unified.ts";
import { extractToolArgs, extractToolResult, hasError, normalizeToolName } from "./calls.ts";

/**
 * Parses one stream-json line. Returns null if it is not a message (a result, a thought, an unknown type, a blank line).
 * Throws a FrameError if it is not a JSON object or does not have the shape of its type.
 */
export function parseCursorEvent(line: string): UnifiedMessage | null {
  const text = line.trim(); // trim() also removes a byte order mark
  if (text === "") return null;
  const event = tryParse(text);
  if (!isObject(event)) {
    throw new FrameError("FRAME_MALFORMED", `This line is not a JSON object: ${redactedStart(text, 80)}`);
  }
  const unify = unifiers.get(event.type);
  if (!unify) return null;
  const fault = frameTypes.get(event.type as string)?.check?.(event) ?? commonFault(event);
  if (fault)
    throw new FrameError("FRAME_SCHEMA", `A line of type ${JSON.stringify(event.type)} is malformed: ${fault}.`);
  return unify(event);
}

// biome-ignore lint/suspicious/noExplicitAny: each function takes the event of its own kind
type Unify = (event: any) => UnifiedMessage | null;

const unifiers: ReadonlyMap<unknown, Unify> = new Map<unknown, Unify>([
  ["system", unifyInit],
  ["user", unifySaid],
  ["assistant", unifySaid],
  ["tool_call", unifyCall],
]);

function unifyInit(event: JsonObject): UnifiedMessage | null {
  if (event.subtype !== "init") return null;
  const text = `Session: ${event.session_id}, Model: ${event.model ?? "unknown"}`;
  return unifiedMessage(event, { role: "system", content: [{ type: "text", text }] });
}

/** Converts an assistant line: a streamed piece, a text before a call, or the final text (see `_original`). */
function unifySaid(event: CursorUserEvent | CursorAssistantEvent): UnifiedMessage {
  return unifiedMessage(event, { role: event.type, content: event.message.content });
}

function unifyCall(event: CursorToolCallEvent): UnifiedMessage {
  const { call_id: id = crypto.randomUUID(), tool_call: call } = event;
  if (event.subtype !== undefined && event.subtype !== "started") {
    const content = extractToolResult(call);
    const result = { type: "tool_result", tool_use_id: id, content, is_error: hasError(call) } as const;
    return unifiedMessage(event, { role: "system", content: [result] });
  }
  const use = { type: "tool_use", id, name: normalizeToolName(call), input: extractToolArgs(call) } as const;
  return { ...unifiedMessage(event, { role: "assistant", content: [use] }), id };
}

function unifiedMessage(
  event: object & { timestamp_ms?: unknown },
  message: { role: UnifiedMessage["role"]; content: UnifiedContent[] },
): UnifiedMessage {
  const { timestamp_ms: time } = event;
  const timestamp = typeof time === "number" ? time : Date.now();
  return { id: crypto.randomUUID(), ...message, timestamp, tool: "cursor", _original: event };
}
