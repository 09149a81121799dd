// Rebuilds the events of a chat turn by turn: as stored or, if only messages are left, inferred from them.
import type { AgentEvent, Usage } from "../protocol/event.ts";
import { isPrompt, type Message, messageText, type ToolCallPart, type ToolResultPart } from "../protocol/message.ts";
import type { ChatRecord, ChatTurn, StoredMessage } from "../store/chats/chat.ts";
import { outcomeOfResult, wireCallOf } from "./wire-calls.ts";

export type RebuiltTurn = { number: number; events: AgentEvent[] };

/** Rebuilds the events of a chat, turn by turn. Each turn begins with `init` and ends with exactly one `done` or `fail`. */
export function rebuildEvents(record: ChatRecord): RebuiltTurn[] {
  const events = groupByTurn(record.events);
  const messages = groupByTurn(record.messages);
  const turns = new Map(record.turns.map((turn) => [turn.number, turn]));
  return [...new Set([...turns.keys(), ...events.keys(), ...messages.keys()])]
    .sort((a, b) => a - b)
    .map((number) => ({
      number,
      events: eventsOfTurn(record, number, {
        turn: turns.get(number),
        events: (events.get(number) ?? []).flatMap((stored) => withDelta(stored.event)),
        messages: messages.get(number) ?? [],
      }),
    }))
    .filter((turn) => turn.events.length > 0);
}

/** Adds the streamed piece that precedes a stored `thinking_end`, which contains the whole thought. */
function withDelta(event: AgentEvent): AgentEvent[] {
  if (event.type !== "thinking_end" || event.text === undefined) return [event];
  const { text, cut, ...end } = event;
  const delta: AgentEvent = { type: "thinking", text, ...timeField(event.at) };
  return cut ? [delta] : [delta, end];
}

function groupByTurn<Item extends { turn: number }>(items: readonly Item[]): Map<number, Item[]> {
  const groups = new Map<number, Item[]>();
  for (const item of items) {
    const group = groups.get(item.turn);
    if (group) group.push(item);
    else groups.set(item.turn, [item]);
  }
  return groups;
}

function eventsOfTurn(
  record: ChatRecord,
  number: number,
  kept: { turn: ChatTurn | undefined; events: AgentEvent[]; messages: StoredMessage[] },
): AgentEvent[] {
  const hasWork = kept.events.some((event) => event.type !== "init" && event.type !== "notice");
  if (!hasWork && kept.messages.length === 0) return [];
  const work = hasWork
    ? withThoughts(kept.events, kept.messages)
    : stepsOfTurn(kept.messages, {
        id: `${record.metadata.id}-${number}`,
        ...(kept.turn && { prompt: kept.turn.prompt, startedAt: kept.turn.startedAt }),
      }).filter((step) => step.type !== "message");
  const init = work.some((event) => event.type === "init") ? [] : [initEvent(record)];
  const isEnded = work.some((event) => event.type === "done" || event.type === "fail");
  return [...init, ...work, ...(isEnded ? [] : [cutOff(work)])];
}

function initEvent({ metadata }: ChatRecord): AgentEvent {
  return {
    type: "init",
    sessionId: metadata.id,
    cwd: metadata.workspace ?? "",
    ...(metadata.model !== undefined && { model: metadata.model }),
    permissionMode: metadata.mode === "auto-run" ? "force" : "default",
    apiKeySource: "login",
  };
}

function cutOff(events: readonly AgentEvent[]): AgentEvent {
  return { type: "fail", message: "The run was cut off before it ended.", code: "INTERRUPTED", ...durations(events) };
}

function durations(events: readonly AgentEvent[]): { durationMs: number; apiDurationMs: number } {
  let first: number | undefined;
  let last = 0;
  for (const { at } of events) {
    if (at === undefined) continue;
    first ??= at;
    last = Math.max(last, at);
  }
  const durationMs = first === undefined ? 0 : Math.max(0, last - first);
  return { durationMs, apiDurationMs: durationMs };
}

/**
 * Thoughts are stored as parts of messages; if the events lack them, they are inserted where they occurred. An answer that
 * was stored, but not yet reported when the run was cut off, is added at the end.
 */
function withThoughts(events: readonly AgentEvent[], messages: readonly StoredMessage[]): AgentEvent[] {
  const answers = messages.flatMap(({ message }) => (message.role === "assistant" ? [message] : []));
  const rebuilt: AgentEvent[] = [];
  /** The index of the next answer, and where in `rebuilt` its events may begin. */
  let next = 0;
  let from = 0;
  for (const event of events) {
    if (event.type === "retry") from = rebuilt.length;
    const index = answerBegunBy(event);
    if (index !== undefined) {
      addThoughts(answers[index]!, event.at);
      next = index + 1;
    }
    rebuilt.push(event);
    if (event.type === "text_end" || event.type === "tool_start" || event.type === "tool_end") from = rebuilt.length;
  }
  const isEnded = rebuilt.some((event) => event.type === "done" || event.type === "fail");
  const remaining = isEnded ? [] : answers.slice(next);
  if (remaining.length === 0) return rebuilt;
  const rest = messages.slice(messages.findIndex(({ message }) => message === remaining[0]));
  return [...rebuilt, ...stepsOfAnswers(rest, "untold").filter((step) => step.type !== "message")];

  function answerBegunBy(event: AgentEvent): number | undefined {
    if (event.type !== "text_end" && event.type !== "tool_start") return undefined;
    const index = answers.findIndex(
      (answer, at) =>
        at >= next && (event.type === "text_end" ? messageText(answer) === event.text : hasCall(answer, event.callId)),
    );
    return index === -1 ? undefined : index;
  }

  function addThoughts(answer: Message, at: number | undefined): void {
    const thoughts = thoughtsOf(answer);
    if (thoughts === "" || rebuilt.slice(from).some((event) => event.type === "thinking")) return;
    const end = rebuilt.findLastIndex((event, index) => index >= from && event.type === "thinking_end");
    const thinking: AgentEvent = { type: "thinking", text: thoughts, ...timeField(rebuilt[end]?.at ?? at) };
    if (end === -1) rebuilt.push(thinking, { type: "thinking_end", ...timeField(at) });
    else rebuilt.splice(end, 0, thinking);
  }
}

function hasCall(message: Message, id: string): boolean {
  return message.parts.some((part) => part.type === "tool_call" && part.id === id);
}

function thoughtsOf({ parts }: Message): string {
  return parts.map((part) => (part.type === "thinking" ? part.text : "")).join("");
}

function timeField(at: number | undefined): { at?: number } {
  return at === undefined ? {} : { at };
}

/** A message with the time at which it was sent. */
export type TimedMessage = { message: Message; at?: number };

/** An event to record or a message to append, in the order in which a run would have done it. */
export type TurnStep = AgentEvent | { type: "message"; message: Message };

export type TurnInfo = {
  /** The prefix of the ids of model calls. */
  id: string;
  prompt?: string;
  startedAt?: number;
  usage?: Usage;
};

/** Infers the events of a turn from its messages: from `user` to its ending. */
export function stepsOfTurn(messages: readonly TimedMessage[], info: TurnInfo): TurnStep[] {
  const [first] = messages;
  const hasPrompt = first !== undefined && isPrompt(first.message);
  const steps: TurnStep[] = [];
  if (hasPrompt) {
    const text = info.prompt ?? messageText(first.message);
    steps.push(
      { type: "user", text, ...timeField(first.at ?? info.startedAt) },
      { type: "message", message: first.message },
    );
  }
  steps.push(...stepsOfAnswers(hasPrompt ? messages.slice(1) : messages, info.id));

  const answers = messages.filter(({ message }) => message.role === "assistant");
  const last = messages.at(-1)?.message;
  const events = steps.filter((step) => step.type !== "message");
  const isDone = last?.role === "assistant" && callsIn(last).length === 0;
  const usage = info.usage ? { usage: info.usage } : {};
  const at = timeField(events.findLast((event) => event.at !== undefined)?.at);
  if (isDone) {
    const text = answers.map(({ message }) => messageText(message)).join("");
    steps.push({ type: "done", text, ...durations(events), ...usage, ...at });
  } else {
    steps.push({ ...cutOff(events), ...usage, ...at });
  }
  return steps;
}

function stepsOfAnswers(messages: readonly TimedMessage[], id: string): TurnStep[] {
  const steps: TurnStep[] = [];
  const open = new Map<string, ToolCallPart>();
  let answers = 0;
  for (const { message, at } of messages) {
    if (message.role === "assistant") {
      const modelCallId = `${id}-${answers++}`;
      steps.push(...answerEvents(message, { at, modelCallId }), { type: "message", message });
      for (const call of callsIn(message)) {
        open.set(call.id, call);
        const { tool, args } = wireCallOf(call);
        steps.push({ type: "tool_start", callId: call.id, tool, args, modelCallId, ...timeField(at) });
      }
    } else {
      for (const result of message.parts) {
        if (result.type !== "tool_result") continue;
        const call = open.get(result.id);
        if (call) steps.push(callEndEvent(call, result, at));
        open.delete(result.id);
      }
      steps.push({ type: "message", message });
    }
  }
  for (const call of open.values()) steps.push(callEndEvent(call, undefined, undefined));
  return steps;
}

function callEndEvent(call: ToolCallPart, result: ToolResultPart | undefined, at: number | undefined): AgentEvent {
  const { tool, args } = wireCallOf(call);
  const end: AgentEvent = { type: "tool_end", callId: call.id, tool, args, ...timeField(at) };
  if (result) end.outcome = outcomeOfResult(call, result);
  return end;
}

function answerEvents(message: Message, info: { at: number | undefined; modelCallId: string }): AgentEvent[] {
  const events: AgentEvent[] = [];
  const thoughts = thoughtsOf(message);
  if (thoughts !== "") {
    events.push(
      { type: "thinking", text: thoughts, ...timeField(info.at) },
      { type: "thinking_end", ...timeField(info.at) },
    );
  }
  const text = messageText(message);
  const isLast = callsIn(message).length === 0;
  if (text !== "") {
    events.push({ type: "text_end", text, ...(!isLast && { modelCallId: info.modelCallId }), ...timeField(info.at) });
  }
  return events;
}

function callsIn({ parts }: Message): ToolCallPart[] {
  return parts.filter((part) => part.type === "tool_call");
}

/** Splits the messages of one conversation into turns at each prompt of the user. */
export function splitTurns<Item extends TimedMessage>(messages: readonly Item[]): Item[][] {
  const turns: Item[][] = [];
  for (const each of messages) {
    if (isPrompt(each.message) || turns.length === 0) turns.push([each]);
    else turns.at(-1)!.push(each);
  }
  return turns;
}
