// Shortens a conversation that no longer fits the model, and reports it. The stored conversation stays whole.
import { milliseconds } from "../../process/clock.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import type { Agent } from "../agent.ts";
import { type Turn, TurnError } from "../turn.ts";

/** The state that compaction uses and updates, of a turn or of a run between two turns. */
export type Shortening = Pick<Turn, "agent" | "signal" | "spending" | "modelInfo" | "apiMs" | "shortest">;

const messages = {
  unchanged: "The conversation may no longer fit the model, and nothing in it can be removed: it is sent unchanged.",
  shortened: "The conversation no longer fit the model: older parts were cut.",
  summarised: "The conversation no longer fit the model: a summary replaces its older parts.",
};

const wishedMessages = {
  unchanged: "There is nothing to compact.",
  shortened: "The conversation was compacted: older parts were cut.",
  summarised: "The conversation was compacted: a summary replaces its older parts.",
};

/** Why a conversation is shortened: `trigger` is who requested it, and `isIdle` means that no turn is running. */
type Why = { trigger: "auto" | "manual"; isIdle?: boolean };

/** Shortens the conversation that is sent to the model to at most `room` tokens. */
export async function* shorten(
  turn: Shortening,
  room: number,
  { trigger, isIdle }: Why = { trigger: "auto" },
): AsyncGenerator<AgentEvent> {
  const { agent, signal } = turn;
  const { hooks, seams } = agent;
  const [{ makeRoom }, { summariser }] = await Promise.all([import("./index.ts"), import("./summary.ts")]);
  const summarise = summariser(agent, signal);
  const asked = milliseconds();
  const shortened = await makeRoom(agent.session.messages, {
    room,
    trigger,
    ...(isIdle && { isIdle }),
    windowTokens: turn.modelInfo.contextTokens,
    ...(summarise && { summarise }),
    ...(hooks && { beforeCompact: (size) => hooks.beforeCompact(size, signal) }),
  });
  signal.throwIfAborted();
  if (shortened.usage) {
    turn.spending.add(shortened.usage, turn.modelInfo.price);
    turn.apiMs += milliseconds() - asked;
  }
  if (shortened.modelInfo) turn.modelInfo = shortened.modelInfo;
  yield* shortened.events ?? [];
  if (shortened.how !== "unchanged") agent.session.replace(shortened.messages);
  turn.shortest = shortened.after;
  const { contextTokens } = turn.modelInfo;
  if (shortened.after > contextTokens)
    throw tooLong(agent, `It takes about ${shortened.after} tokens, and the model has ${contextTokens}.`);
  const message = (trigger === "auto" ? messages : wishedMessages)[shortened.how];
  yield { type: "notice", kind: "compacted", message, at: seams.now() };
}

export function tooLong(agent: Agent, why: string): TurnError {
  return new TurnError(
    "MODEL_OVERFLOW",
    `The conversation does not fit ${agent.model.displayName}, even after compaction. ${why} Ask for less at a time, start a new chat, or choose a model with a larger context window with --model.`,
  );
}
