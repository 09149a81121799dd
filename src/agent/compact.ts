// Shortening a conversation that no longer fits: old tool results go first, then old exchanges.
import type { Message, Part } from "../protocol/message.ts";

/** Characters that one token stands for, roughly; good enough to decide when to shorten. */
const charactersPerToken = 4;

export function estimateTokens(messages: readonly Message[]): number {
  let characters = 0;
  for (const message of messages) for (const part of message.parts) characters += sizeOf(part);
  return Math.ceil(characters / charactersPerToken);
}

/** Fits the conversation into `tokens`. Keeps the first request, the latest exchanges, and every call beside its result. */
export function compact(messages: readonly Message[], tokens: number): Message[] {
  const budget = tokens * charactersPerToken;
  let size = messages.reduce((sum, message) => sum + message.parts.reduce((inner, part) => inner + sizeOf(part), 0), 0);
  const shorter = messages.map((message) => ({ ...message, parts: [...message.parts] }));

  const cut = (part: Part, keep: number): Part => {
    const next = shorten(part, keep);
    size += sizeOf(next) - sizeOf(part);
    return next;
  };
  // The last exchange is what the model works on: its results are cut last and least.
  const recent = Math.max(1, shorter.length - 2);
  for (const [keepOld, keepRecent] of [
    [200, undefined],
    [200, budget / 8],
    [50, 400],
  ] as const) {
    for (const [index, message] of shorter.entries()) {
      const keep = index < recent ? keepOld : keepRecent;
      if (size <= budget || keep === undefined) continue;
      message.parts = message.parts.map((part) => (size > budget ? cut(part, keep) : part));
    }
  }
  while (size > budget && shorter.length > 3) {
    const removed = shorter.splice(1, 2); // an assistant message and the results that answer it
    size -= removed.reduce((sum, message) => sum + message.parts.reduce((inner, part) => inner + sizeOf(part), 0), 0);
  }
  return shorter;
}

function shorten(part: Part, keep: number): Part {
  if (part.type === "tool_result") {
    const text = middleCut(part.text, keep);
    return { type: "tool_result", id: part.id, text, isError: part.isError };
  }
  if (part.type === "text") return { ...part, text: middleCut(part.text, Math.max(keep, 2000)) };
  if (part.type === "image") return { type: "text", text: "[an image was here; it was removed to save space]" };
  return part;
}

function middleCut(text: string, keep: number): string {
  if (text.length <= keep + 60) return text;
  const half = Math.floor(keep / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters removed to save space …]\n${text.slice(text.length - half)}`;
}

function sizeOf(part: Part): number {
  switch (part.type) {
    case "text":
    case "thinking":
      return part.text.length;
    case "image":
      return 6000;
    case "tool_call":
      return JSON.stringify(part.args ?? null).length + part.name.length;
    case "tool_result":
      return part.text.length + (part.images?.length ?? 0) * 6000;
  }
}
