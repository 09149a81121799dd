// Converts messages to the format of the conventions for generative AI. Used only if content is captured.
import type { Message, Part } from "../../protocol/message.ts";

export function inputMessages(messages: readonly Message[]): string {
  return JSON.stringify(
    messages.map(({ role, parts }) => ({ role: roleOf(role, parts), parts: parts.flatMap(contentPart) })),
  );
}

export function outputMessages(parts: readonly Part[], finishReason: string): string {
  return JSON.stringify([{ role: "assistant", parts: parts.flatMap(contentPart), finish_reason: finishReason }]);
}

export function systemParts(system: string): string {
  return JSON.stringify([{ type: "text", content: system }]);
}

function roleOf(role: Message["role"], parts: readonly Part[]): string {
  return parts.some(({ type }) => type === "tool_result") ? "tool" : role;
}

function contentPart(part: Part): object[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", content: part.text }];
    case "thinking":
      return [{ type: "reasoning", content: part.text }];
    case "tool_call":
      return [{ type: "tool_call", id: part.id, name: part.name, arguments: part.args }];
    case "tool_result":
      return [{ type: "tool_call_response", id: part.id, response: part.text }];
    case "image":
      return [{ type: "blob", modality: "image", mime_type: part.mime }];
  }
}
