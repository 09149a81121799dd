// Builds the blocks that the studio shows for a chat, turn by turn, with pictures, which only the messages have. The Markdown and
// HTML exports are made of them.
import type { Usage } from "../protocol/event.ts";
import { addUsage } from "../protocol/usage.ts";
import { rebuildEvents } from "../sdk/rebuild-events.ts";
import type { ChatRecord, StoredMessage } from "../store/chats/chat.ts";
import type { Block, Picture, ToolCall, TurnNumbers } from "../studio/components/timeline/blocks.ts";
import { TimelineLog } from "../studio/components/timeline/log.ts";
import { firstLine } from "./format.ts";

export type SessionPage = {
  id: string;
  title: string;
  workspace?: string | undefined;
  model?: string | undefined;
  createdAt: number;
  updatedAt: number;
  usage?: Usage;
  turns: SessionTurn[];
  /** Problems with the chat's store, as sentences. */
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

/** Used in place of a turn whose prompt is lost. */
const noTurn = {
  ...{ prompt: "", durationMs: 0, modelMs: 0, toolMs: 0, calls: 0, changed: [] },
  state: "interrupted" as const,
};

/** Returns the title of a chat, which is its first prompt if it has no name. */
export function chatTitle(title: string, prompt: string): string {
  return (title === "New Agent" && firstLine(prompt)) || firstLine(title, 200);
}

type Pictures = { ofTurn: Map<number, Picture[]>; ofCall: Map<string, Picture[]> };

function picturesIn(messages: readonly StoredMessage[]): Pictures {
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

export function isUsed(usage: Usage): boolean {
  return Object.values(usage).some((count) => count > 0);
}

function withPictures(block: Block, turn: number, { ofTurn, ofCall }: Pictures): Block {
  if (block.type === "user" && !block.isAside) {
    const pictures = ofTurn.get(turn);
    return pictures ? { ...block, pictures } : block;
  }
  const toShownCall = (call: ToolCall): ToolCall => {
    const pictures = ofCall.get(call.callId);
    return pictures ? { ...call, pictures } : call;
  };
  if (block.type === "call") return { ...block, call: toShownCall(block.call) };
  if (block.type !== "calls") return block;
  return { ...block, calls: block.calls.map(({ id, call }) => ({ id, call: toShownCall(call) })) };
}
