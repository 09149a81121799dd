// Builds a readable transcript of a chat, turn by turn, for the Markdown export.

import type { AgentEvent, Outcome, Usage } from "../protocol/event.ts";
import { callName, errorTextOf, type OutcomeGroup, outcomeGroupOf } from "../protocol/tool-calls.ts";
import { addUsage } from "../protocol/usage.ts";
import { rebuildEvents } from "../sdk/rebuild-events.ts";
import type { ChatRecord, StoredMessage } from "../store/chats/chat.ts";
import { shortened } from "../text/one-line.ts";
import { type CallView, viewOfCall } from "../view/call-view.ts";

export type Picture = { mime: string; base64: string };

export type Transcript = {
  id: string;
  title: string;
  workspace?: string;
  model?: string;
  createdAt: number;
  updatedAt: number;
  /** Missing if none was reported, here and in a turn. */
  usage?: Usage;
  turns: TranscriptTurn[];
  /** Problems with the store, in sentences. */
  problems: string[];
};

export type TranscriptTurn = {
  number: number;
  at?: number;
  prompt: string;
  pictures: Picture[];
  items: TranscriptItem[];
  ending: { kind: "done" | "failed" | "interrupted"; message?: string };
  durationMs: number;
  usage?: Usage;
};

export type TranscriptItem =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "notice"; text: string }
  | ({ type: "call" } & TranscriptCall);

export type TranscriptCall = CallView & {
  /** The display name: Bash, Read. */
  tool: string;
  group: OutcomeGroup;
  /** Why it failed or was refused. */
  error?: string;
  durationMs?: number;
  pictures: Picture[];
};

export function transcriptOf(record: ChatRecord): Transcript {
  const { metadata } = record;
  const pictures = picturesIn(record.messages);
  const startedAt = new Map(record.turns.map((turn) => [turn.number, turn.startedAt]));
  const { id, workspace, model } = metadata;
  const turns = rebuildEvents(record).map(({ number, events }) => {
    const at = startedAt.get(number);
    const turn = turnOf(number, events, { workspace: workspace ?? "", pictures });
    return at ? { ...turn, at } : turn;
  });
  const usages = turns.flatMap((turn) => turn.usage ?? []);
  return {
    id,
    title: chatTitle(metadata.title, turns[0]?.prompt ?? ""),
    ...(workspace !== undefined && { workspace }),
    ...(model !== undefined && { model }),
    createdAt: record.turns[0]?.startedAt || metadata.createdAt,
    updatedAt: record.events.at(-1)?.at ?? metadata.updatedAt,
    ...(usages.length > 0 && { usage: usages.reduce(addUsage) }),
    turns,
    problems: record.problems.map(({ message }) => message),
  };
}

export type Pictures = { ofTurn: Map<number, Picture[]>; ofCall: Map<string, Picture[]> };

/** An unnamed chat is titled by its first prompt. */
export function chatTitle(title: string, prompt: string): string {
  return (title === "New Agent" && firstLine(prompt)) || firstLine(title, 200);
}

/** Collects pictures from the messages, because events have none. */
export function picturesIn(messages: readonly StoredMessage[]): Pictures {
  const ofTurn = new Map<number, Picture[]>();
  const ofCall = new Map<string, Picture[]>();
  for (const { turn, message } of messages) {
    for (const part of message.parts) {
      if (part.type === "image")
        ofTurn.set(turn, [...(ofTurn.get(turn) ?? []), { mime: part.mime, base64: part.base64 }]);
      if (part.type === "tool_result" && part.images) ofCall.set(part.id, part.images);
    }
  }
  return { ofTurn, ofCall };
}

function turnOf(
  number: number,
  events: readonly AgentEvent[],
  context: { workspace: string; pictures: Pictures },
): TranscriptTurn {
  const turn: TranscriptTurn = {
    number,
    prompt: "",
    pictures: context.pictures.ofTurn.get(number) ?? [],
    items: [],
    ending: { kind: "interrupted" },
    durationMs: 0,
  };
  const notice = (text: string) => turn.items.push({ type: "notice", text });
  let thoughts = "";
  let said = "";
  for (const event of events) {
    if (event.type !== "thinking" && thoughts !== "") {
      turn.items.push({ type: "thinking", text: thoughts });
      thoughts = "";
    }
    take(event);
  }
  // Text that was incomplete when the run was cut off.
  if (said !== "") turn.items.push({ type: "text", text: said });
  return turn;

  function take(event: AgentEvent): void {
    switch (event.type) {
      case "init":
      // The answer to a question shows in the outcome of the call.
      case "ask":
      case "answer":
      case "tool_output":
      case "thinking_end":
      case "other":
        return;
      case "user":
        turn.prompt = event.text;
        return;
      case "thinking":
        thoughts += event.text;
        return;
      case "text":
        said += event.text;
        return;
      case "text_end":
        said = "";
        if (event.text.trim() !== "") turn.items.push({ type: "text", text: event.text });
        return;
      case "retry":
        if (event.discards) said = "";
        notice(`The request was retried${event.reason ? `: ${event.reason}` : "."}`);
        return;
      case "notice":
        notice(event.message);
        return;
      case "tool_start":
        turn.items.push({ type: "call", ...callOf(event, undefined) });
        return;
      case "tool_end": {
        const begun = turn.items.findLastIndex((item) => item.type === "call" && item.id === event.callId);
        const item: TranscriptItem = { type: "call", ...callOf(event, event.outcome) };
        if (begun === -1) turn.items.push(item);
        else turn.items[begun] = item;
        return;
      }
      case "done":
      case "fail":
        turn.durationMs = event.durationMs;
        if (event.usage && countOf(event.usage) > 0) turn.usage = event.usage;
        turn.ending =
          event.type === "done"
            ? { kind: "done" }
            : { kind: event.code === "INTERRUPTED" ? "interrupted" : "failed", message: event.message };
        return;
    }
  }

  function callOf(
    event: Extract<AgentEvent, { type: "tool_start" | "tool_end" }>,
    outcome: Outcome | undefined,
  ): TranscriptCall {
    // A failed command's output already says why.
    const error = outcome?.kind === "failure" ? undefined : errorTextOf(outcome);
    const completedAt = event.type === "tool_end" ? event.completedAt : undefined;
    return toldOnce({
      ...viewOfCall(event, outcome, context.workspace),
      tool: callName(event.tool, event.args, outcome?.value),
      group: outcomeGroupOf(outcome),
      ...(error !== undefined && { error }),
      ...(event.startedAt !== undefined && completedAt !== undefined && { durationMs: completedAt - event.startedAt }),
      pictures: context.pictures.ofCall.get(event.callId) ?? [],
    });
  }
}

/** Drops what the call's line or its output already shows. */
function toldOnce({ input, error, ...call }: TranscriptCall): TranscriptCall {
  return {
    ...call,
    ...(input && (input.text !== call.what || input.text.includes("\n")) && { input }),
    ...(error !== undefined && error !== call.output?.text && { error }),
  };
}

/** Returns how long it took, and what it used. */
export function aboutTurn({ durationMs, usage }: TranscriptTurn): string[] {
  return [...(durationMs > 0 ? [durationText(durationMs)] : []), ...(usage ? [tokensText(usage)] : [])];
}

function countOf(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

export function firstLine(text: string, most = 80): string {
  const line =
    text
      .split("\n")
      .find((each) => each.trim() !== "")
      ?.trim() ?? "";
  return shortened(line, most);
}

/** Formats as 950 ms, 12.3 s, 4 min 5 s. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.max(60, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Formats in UTC, so that an export is the same wherever it is made. */
export function timeText(at: number): string {
  if (!Number.isFinite(at) || Math.abs(at) > 8.64e15) return "";
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

export function tokensText(usage: Usage): string {
  const read = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const cached = usage.cacheReadTokens > 0 ? ` (${grouped(usage.cacheReadTokens)} from the cache)` : "";
  return `${grouped(read)} in${cached}, ${grouped(usage.outputTokens)} out`;
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
