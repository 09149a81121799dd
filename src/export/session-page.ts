// Builds the blocks that the studio shows for a chat, turn by turn, with pictures, which only the messages have.
import type { Usage } from "../protocol/event.ts";
import { addUsage } from "../protocol/usage.ts";
import { rebuildEvents } from "../sdk/rebuild-events.ts";
import type { ChatRecord } from "../store/chats/chat.ts";
import type { Block, ToolCall, TurnNumbers } from "../studio/components/timeline/blocks.ts";
import { TimelineLog } from "../studio/components/timeline/log.ts";
import { chatTitle, type Pictures, picturesIn } from "./transcript.ts";

export type SessionPage = {
  id: string;
  title: string;
  workspace?: string | undefined;
  model?: string | undefined;
  createdAt: number;
  updatedAt: number;
  usage?: Usage;
  turns: SessionTurn[];
  /** Problems with the store, in sentences. */
  problems: string[];
};

export type SessionTurn = { number: number; at: number | undefined; numbers: TurnNumbers; blocks: Block[] };

export function sessionPage(record: ChatRecord): SessionPage {
  const { metadata } = record;
  const pictures = picturesIn(record.messages);
  const startedAt = new Map(record.turns.map((turn) => [turn.number, turn.startedAt]));
  const turns = rebuildEvents(record).map(({ number, events }): SessionTurn => {
    const log = new TimelineLog({ firstTurn: number }).append(...events);
    const numbers = log.turns[0] ?? { ...noTurn, number };
    const blocks = log.blocks.map((block) => withPictures(block, number, pictures));
    return { number, at: startedAt.get(number) || undefined, numbers, blocks };
  });
  const usages = turns.flatMap(({ numbers }) => numbers.usage ?? []).filter(isUsed);
  const { id, workspace, model } = metadata;
  return {
    ...{ id, workspace, model, turns },
    title: chatTitle(metadata.title, turns[0]?.numbers.prompt ?? ""),
    createdAt: record.turns[0]?.startedAt || metadata.createdAt,
    updatedAt: record.events.at(-1)?.at ?? metadata.updatedAt,
    ...(usages.length > 0 && { usage: usages.reduce(addUsage) }),
    problems: record.problems.map(({ message }) => message),
  };
}

/** Stands in for a turn whose prompt is lost. */
const noTurn = {
  ...{ prompt: "", durationMs: 0, modelMs: 0, toolMs: 0, calls: 0, changed: [] },
  state: "interrupted" as const,
};

function isUsed(usage: Usage): boolean {
  return Object.values(usage).some((count) => count > 0);
}

function withPictures(block: Block, turn: number, { ofTurn, ofCall }: Pictures): Block {
  if (block.type === "user" && !block.isAside) {
    const pictures = ofTurn.get(turn);
    return pictures ? { ...block, pictures } : block;
  }
  const shown = (call: ToolCall): ToolCall => {
    const pictures = ofCall.get(call.callId);
    return pictures ? { ...call, pictures } : call;
  };
  if (block.type === "call") return { ...block, call: shown(block.call) };
  if (block.type !== "calls") return block;
  return { ...block, calls: block.calls.map(({ id, call }) => ({ id, call: shown(call) })) };
}
