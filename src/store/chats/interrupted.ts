// Finds what an interrupted run left unfinished. It is marked when the chat is opened again, and never run again.
import type { AgentEvent, EventOf } from "../../protocol/event.ts";
import type { Message, Part } from "../../protocol/message.ts";
import type { StoreConnection } from "./connection.ts";
import { EventDecoder } from "./event-bodies.ts";
import { parseStored } from "./history.ts";
import { keptSegment } from "./open-segment.ts";

type ToolStart = Extract<AgentEvent, { type: "tool_start" }>;
type ToolEnd = Extract<AgentEvent, { type: "tool_end" }>;

/** A turn that has no ending. `running` contains the calls that were started but did not end. */
export type InterruptedTurn = {
  turn: number;
  startedAt: number;
  lastAt: number;
  running: ToolStart[];
  ended: ToolEnd[];
  /** The text that was being streamed when the turn was interrupted. */
  segment: string;
};

const interruption =
  "Interrupted: an earlier run was cut off while this call was running. It may or may not have taken effect, and was not run again.";
/** The most characters that a model is given of the outcome of a call that ended just before the interruption. */
const maxOutcome = 20_000;

/** Returns the chat's last turn if it has no ending. */
export function findInterruptedTurn(store: StoreConnection): InterruptedTurn | undefined {
  const last = store
    .statement(
      "SELECT sequence, turn, at, kind FROM courser_events WHERE kind IN ('user', 'done', 'fail') ORDER BY sequence DESC LIMIT 1",
    )
    .get();
  if (last?.["kind"] !== "user") return undefined;
  const since = last["sequence"]!;
  const decoder = new EventDecoder(store);
  const events = store
    .statement(
      "SELECT sequence, body FROM courser_events WHERE sequence > ? AND kind IN ('tool_start', 'tool_end') ORDER BY sequence",
    )
    .all(since)
    .map(
      ({ sequence, body }) => parseStored(decoder.decode(Number(sequence), body)) as EventOf<"tool_start" | "tool_end">,
    );
  const ended = events.filter((event) => event.type === "tool_end");
  const endedIds = new Set(ended.map((event) => event.callId));
  const latest = store.statement("SELECT max(at) AS at FROM courser_events WHERE sequence >= ?").get(since);
  const segment = keptSegment(store);
  return {
    turn: Number(last["turn"]),
    segment: segment?.text ?? "",
    startedAt: Number(last["at"]),
    lastAt: Math.max(Number(latest?.["at"] ?? last["at"]), segment?.at ?? 0),
    running: events.filter(
      (event) => event.type === "tool_start" && !endedIds.has(event.callId),
    ) as EventOf<"tool_start">[],
    ended,
  };
}

/** Returns the missing events: an end for the open text, for each running call, and for the turn. */
export function owedEvents(cut: InterruptedTurn): AgentEvent[] {
  const ends = cut.running.map(({ callId, tool, args, modelCallId, startedAt }): AgentEvent => {
    const value = { errorMessage: interruption, error: interruption, message: interruption };
    return {
      type: "tool_end",
      callId,
      tool,
      args,
      outcome: { kind: "error", value },
      ...(modelCallId !== undefined && { modelCallId }),
      ...(startedAt !== undefined && { startedAt }),
    };
  });
  const durationMs = Math.max(0, cut.lastAt - cut.startedAt);
  const message = "The run was cut off before it ended.";
  const textEvents: AgentEvent[] = cut.segment === "" ? [] : [{ type: "text_end", text: cut.segment, cut: true }];
  return [...textEvents, ...ends, { type: "fail", message, code: "INTERRUPTED", durationMs, apiDurationMs: 0 }];
}

/** Builds results for calls of the last reply that have none, since models reject a conversation without them. */
export function owedResults(messages: readonly Message[], cut: InterruptedTurn | undefined): Message | undefined {
  const index = messages.findLastIndex((message) => message.role === "assistant");
  const parts = missingResults(messages, index, (id) => explain(id, cut));
  return parts.length > 0 ? { role: "user", parts } : undefined;
}

/** Does the same for earlier replies that another program left incomplete; sent to the model, but not stored. */
export function withEveryResult(messages: readonly Message[]): Message[] {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  return messages.flatMap((message, index) => {
    if (index >= last) return [message];
    const parts = missingResults(messages, index, () => interruption);
    return parts.length > 0 ? [message, { role: "user", parts }] : [message];
  });
}

function missingResults(messages: readonly Message[], index: number, text: (id: string) => string): Part[] {
  const calls = messages[index]?.parts.filter((part) => part.type === "tool_call") ?? [];
  if (calls.length === 0) return [];
  const answered = new Set<string>();
  for (let next = index + 1; next < messages.length && messages[next]!.role !== "assistant"; next++)
    for (const part of messages[next]!.parts) if (part.type === "tool_result") answered.add(part.id);
  return calls
    .filter((call) => !answered.has(call.id))
    .map((call) => ({ type: "tool_result", id: call.id, text: text(call.id), isError: true }));
}

function explain(id: string, cut: InterruptedTurn | undefined): string {
  const end = cut?.ended.find((event) => event.callId === id);
  if (end?.outcome) {
    const outcome = JSON.stringify(end.outcome.value) ?? "";
    const shortOutcome = outcome.length > maxOutcome ? `${outcome.slice(0, maxOutcome)} …` : outcome;
    return `The run was cut off right after this call, which had ended with "${end.outcome.kind}": ${shortOutcome}`;
  }
  const wasStarted = !cut || cut.running.some((event) => event.callId === id);
  return wasStarted ? interruption : "The run was cut off before this call was started. It was not run.";
}
