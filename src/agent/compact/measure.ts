// Measures a conversation: the vendor's token count for the last reply plus an estimate of what was added since.
import type { ModelRequest } from "../../model/provider.ts";
import type { Message } from "../../protocol/message.ts";
import { estimateTokens } from "./estimate.ts";

type Conversation = { readonly messages: readonly Message[] };

/** `last` is the counted reply, `scale` the real tokens per estimated token, `beside` the estimate for system prompt and tools. */
type Measured = { last: Message; tokens: number; scale: number; beside: number };

const measured = new WeakMap<Conversation, Measured>();

/** A count below this share of the estimate is not trusted: the server truncated the request or does not count. */
const leastShare = 0.4;

/** Records the token count for the conversation up to its last message. */
export function noteTokens(conversation: Conversation, tokens: number, asked: ModelRequest): void {
  const { messages } = conversation;
  const tools = asked.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const beside = (asked.system.length + JSON.stringify(tools).length) / 4;
  const scale = tokens / (estimateTokens(messages) + beside);
  if (scale < leastShare) measured.delete(conversation);
  else measured.set(conversation, { last: messages.at(-1)!, tokens, scale, beside });
}

/** `estimate` covers the messages alone. `roomIn` returns how much of a token budget is left for them, as an estimate. */
type Size = { tokens: number; estimate: number; roomIn(tokens: number): number };

export function sizeOf(conversation: Conversation): Size {
  const { messages } = conversation;
  const known = measured.get(conversation);
  const estimate = estimateTokens(messages);
  if (!known) return { tokens: estimate, estimate, roomIn: Math.floor };
  const { last, tokens, scale, beside } = known;
  const roomIn = (all: number) => Math.floor(Math.max(all / scale - beside, all / scale / 10));
  const at = messages.lastIndexOf(last);
  // After compaction there is no count until the next reply.
  if (at < 0) return { tokens: Math.ceil((estimate + beside) * scale), estimate, roomIn };
  return { tokens: tokens + Math.ceil(estimateTokens(messages.slice(at + 1)) * scale), estimate, roomIn };
}
