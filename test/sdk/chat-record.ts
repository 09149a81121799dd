// A chat record for tests, as reading one would give it.
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { Message } from "../../src/protocol/message.ts";
import type { ChatProblem, ChatRecord } from "../../src/store/chats/chat.ts";

export type RecordTurn = { messages: Message[]; events?: AgentEvent[] };

export const chatId = "11111111-2222-4333-8444-555555555555";

/** Everything that happens happens a second after the other. */
export function recordOf(
  turns: readonly RecordTurn[],
  more: { problems?: ChatProblem[]; title?: string } = {},
): ChatRecord {
  let clock = 1_760_000_000_000;
  let sequence = 0;
  const messages = turns.flatMap((turn, index) =>
    turn.messages.map((message) => ({ sequence: ++sequence, turn: index + 1, at: (clock += 1000), message })),
  );
  const events = turns.flatMap((turn, index) =>
    (turn.events ?? []).map((event) => ({ sequence: ++sequence, turn: index + 1, at: event.at ?? clock, event })),
  );
  return {
    metadata: {
      id: chatId,
      folder: "/nowhere",
      workspace: "/project/space",
      title: more.title ?? "A title",
      mode: "default",
      createdAt: 1_760_000_000_000,
      updatedAt: clock,
      model: "Some Model",
      hasConversation: true,
    },
    messages,
    events,
    turns: turns.map((turn, index) => ({
      number: index + 1,
      prompt: promptOf(turn),
      startedAt: messages.find((each) => each.turn === index + 1)?.at ?? clock,
      status: "done" as const,
    })),
    problems: more.problems ?? [],
    wholeTurns: turns.length,
  };
}

function promptOf({ messages }: RecordTurn): string {
  const part = messages[0]?.parts.find((each) => each.type === "text");
  return part?.type === "text" ? part.text : "";
}

export function user(text: string): Message {
  return { role: "user", parts: [{ type: "text", text }] };
}

export function says(text: string): Message {
  return { role: "assistant", parts: [{ type: "text", text }] };
}

export function calls(name: string, args: unknown, id = "call_1", text = ""): Message {
  const said: Message["parts"] = text === "" ? [] : [{ type: "text", text }];
  return { role: "assistant", parts: [...said, { type: "tool_call", id, name, args }] };
}

export function result(text: string, id = "call_1", isError = false): Message {
  return { role: "user", parts: [{ type: "tool_result", id, text, isError }] };
}

/** Numbers that are always the same. */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
