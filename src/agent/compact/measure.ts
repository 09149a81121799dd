// Measures a conversation: the vendor's token count for the last reply plus an estimate of what was added since.
import { perObject } from "../../json/per-object.ts";
import type { ModelRequest, ToolSpec } from "../../model/provider.ts";
import type { Message } from "../../protocol/message.ts";
import type { Session } from "../agent.ts";
import { estimateTokens } from "./estimate.ts";

/**
 * A token count from the vendor. `last` is the last reply it covers, `scale` the ratio of real to estimated tokens, and
 * `beside` the estimate for the system prompt and the tools.
 */
type Measured = { last: Message; tokens: number; scale: number; beside: number };

const measured = new WeakMap<Pick<Session, "messages">, Measured>();

/** A count below this share of the estimate is not trusted: the server truncated the request or does not count. */
const leastShare = 0.4;

const lengthOf = perObject(
  ({ name, description, parameters }: ToolSpec) => JSON.stringify({ name, description, parameters }).length,
);

/** Records the token count for the conversation up to its last message. */
export function noteTokens(conversation: Pick<Session, "messages">, tokens: number, request: ModelRequest): void {
  const { messages } = conversation;
  const tools = request.tools.reduce((sum, tool) => sum + lengthOf(tool) + 1, 1);
  const beside = (request.system.length + tools) / 4;
  const scale = tokens / (estimateTokens(messages) + beside);
  if (scale < leastShare) measured.delete(conversation);
  else measured.set(conversation, { last: messages.at(-1)!, tokens, scale, beside });
}

/** `estimate` covers the messages alone. `roomIn` returns how much of a token budget is left for them, as an estimate. */
type Size = { tokens: number; estimate: number; roomIn(tokens: number): number };

export function measureConversation(conversation: Pick<Session, "messages">): Size {
  const { messages } = conversation;
  const existing = measured.get(conversation);
  const estimate = estimateTokens(messages);
  if (!existing) return { tokens: estimate, estimate, roomIn: Math.floor };
  const { last, tokens, scale, beside } = existing;
  const roomIn = (all: number) => Math.floor(Math.max(all / scale - beside, all / scale / 10));
  const at = messages.lastIndexOf(last);
  // After compaction the vendor's token count is outdated until the next reply.
  if (at < 0) return { tokens: Math.ceil((estimate + beside) * scale), estimate, roomIn };
  return { tokens: tokens + Math.ceil(estimateTokens(messages.slice(at + 1)) * scale), estimate, roomIn };
}
