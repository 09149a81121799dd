// OpenRouter: chat completions, with cache marks for Claude models, and thinking that is sent back as received.
import type { Vendor } from "./vendor.ts";

export const openrouter: Partial<Vendor> = {
  thinkingDetails(event) {
    const details = (event as StreamChunk | null)?.choices?.[0]?.delta?.reasoning_details;
    return Array.isArray(details) ? details : [];
  },

  messageOptions(metadata) {
    const details = metadata.flatMap(({ thinking }) => (thinking?.["details"] as Detail[] | undefined) ?? []);
    if (details.length === 0) return undefined;
    // biome-ignore lint/suspicious/noExplicitAny: the package takes any JSON here and types it more narrowly
    return { openaiCompatible: { reasoning_details: joinFragments(details) as any } };
  },

  /** Write all messages as parts, since cache marks are set on parts: moving a mark then changes nothing else. */
  rewrite(body: { messages: ChatMessage[] }, { model }) {
    if (!/claude|^~?anthropic\//i.test(model)) return;
    for (const message of body.messages) {
      if (message.role !== "assistant" && typeof message.content === "string")
        message.content = [{ type: "text", text: message.content }];
    }
    const last = body.messages.findLast(({ role }) => role === "user" || role === "tool");
    for (const message of [body.messages.find(({ role }) => role === "system"), last]) {
      const piece = Array.isArray(message?.content)
        ? message.content.findLast(({ type }) => type === "text")
        : undefined;
      if (piece) piece.cache_control = { type: "ephemeral" };
    }
  },
};

type Detail = { type?: string; index?: number; [field: string]: unknown };
type StreamChunk = { choices?: { delta?: { reasoning_details?: Detail[] } }[] };
type ContentPiece = { type: string; text?: string; cache_control?: { type: "ephemeral" } };
type ChatMessage = { role: string; content: string | ContentPiece[] | null };

function joinFragments(details: readonly Detail[]): Detail[] {
  const whole: Detail[] = [];
  for (const detail of details) {
    const last = whole.at(-1);
    if (!last || last.type !== detail.type || last.index !== detail.index || detail.type === "reasoning.encrypted") {
      whole.push({ ...detail });
      continue;
    }
    for (const [field, value] of Object.entries(detail)) {
      if (value === null || value === undefined) continue;
      const isText = field === "text" || field === "summary";
      last[field] = isText ? `${String(last[field] ?? "")}${String(value)}` : value;
    }
  }
  return whole;
}
