// Operations on a run besides prompts: compact, rewind, show context use, ask a side question. Loaded when used.
import type { Agent } from "../agent/agent.ts";
import { estimateTokens } from "../agent/compact/estimate.ts";
import { shorten } from "../agent/compact/shorten.ts";
import { openRewind } from "../agent/snapshots/rewind.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { type Message, messageText } from "../protocol/message.ts";
import type { ContextUse } from "../protocol/run.ts";
import { firstOf } from "../text/first-of.ts";
import type { Assembled } from "./assemble.ts";
import type { RunSession } from "./session.ts";
import type { Setup } from "./setup.ts";

const never = new AbortController().signal;

/** Compacts the conversation between two turns. */
export async function compactConversation({ agent }: Assembled, emit: (event: AgentEvent) => void): Promise<void> {
  const { spending, model, session } = agent;
  const room = Math.floor(estimateTokens(session.messages) / 2);
  const work = { agent, signal: never, spending: spending!, modelInfo: model, apiMs: 0, shortest: 0 };
  for await (const event of shorten(work, room, { trigger: "manual", isIdle: true })) emit(event);
}

/** Restores files first: if one cannot be restored, the conversation stays unchanged. Returns a summary. */
export async function rewind(
  { setup, session: { chat } }: { setup: Setup; session: RunSession },
  { reload }: Assembled,
  turn: number,
): Promise<string> {
  if (!chat) throw usageError("A run that is not saved cannot be rewound. Start it without --no-persist.");
  const files = openRewind({ ...setup, chat });
  const { steps, failed } = await files.restore(turn);
  const changes = steps.length === 1 ? "one file change" : `${steps.length} file changes`;
  if (failed.length > 0) {
    const paths = steps.map(({ path }) => path);
    const undone = steps.length > 0 ? `${changes} undone (${firstOf(paths, 5)})` : "no file changed";
    const unrestored = failed.map(({ path, why }) => `${path} (${why})`);
    throw new UserError(
      "STORE_IO",
      `These files could not be restored: ${firstOf(unrestored, 5)}. ` +
        `The rewind stopped there: ${undone}, the conversation not changed. Fix that and rewind again, or take the changes back: ` +
        `${setup.host.program} sessions rewind ${chat.metadata.id} --undo`,
    );
  }
  files.takeBack(turn, { files: true }, (state) => chat.rewindTo(turn, state));
  reload();
  return `Rewound to before turn ${turn}: ${changes} undone.`;
}

export function contextUse({ system, tools, session, model, spending }: Agent): ContextUse {
  const offered = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const used = {
    system: tokensOf(system),
    tools: tokensOf(JSON.stringify(offered)),
    messages: estimateTokens(session.messages),
  };
  const cost = model.price && spending ? { costUsd: spending.whole.cost } : {};
  return { window: model.contextTokens, used: used.system + used.tools + used.messages, ...used, ...cost };
}

function tokensOf(text: string): number {
  return estimateTokens([{ role: "user", parts: [{ type: "text", text }] }]);
}

/** Sends the conversation and the question to the model; neither the question nor the answer is added to the conversation. */
export async function askAside(agent: Agent, question: string, signal = never): Promise<string> {
  const { provider, model, system, session, spending } = agent;
  const asked: Message = { role: "user", parts: [{ type: "text", text: question }] };
  const note = "This is a side question. Answer it briefly, from what you already know; you have no tools for it.";
  let text = "";
  for await (const chunk of provider.stream({
    model: model.id,
    system: `${system}\n\n${note}`,
    messages: [...withoutOpenCalls(session.messages), asked],
    tools: [],
    signal,
    purpose: "aside",
    ...(model.effort && { effort: model.effort }),
  })) {
    if (chunk.type === "retry") text = "";
    if (chunk.type === "part") text += messageText({ role: "assistant", parts: [chunk.part] });
    if (chunk.type === "usage") spending?.add(chunk.usage, model.price);
  }
  return text.trim();
}

/** Drops a last reply whose calls have no results yet, since models reject such a conversation. */
function withoutOpenCalls(messages: readonly Message[]): Message[] {
  const last = messages.at(-1);
  const isOpen = last?.role === "assistant" && last.parts.some((part) => part.type === "tool_call");
  return isOpen ? messages.slice(0, -1) : [...messages];
}
