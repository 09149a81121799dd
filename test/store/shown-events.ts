// Is everything kept that was shown?
import type { AgentEvent } from "../../src/protocol/event.ts";
import { decodeLine } from "../../src/protocol/stream-json.ts";
import { findChat } from "../../src/store/chats/find-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";

/** Events of the lines that are not in the store, in the order in which they were shown; of deltas, the segment counts that they ended in. */
export function missingEvents(
  chat: { config: string; work: string; id: string },
  lines: readonly Record<string, any>[],
): AgentEvent[] {
  const stored = readChat(findChat(chat.config, chat.id, chat.work), { events: true }).events.map(({ event }) => event);
  const shown = lines.map((line) => decodeLine(line, chat.id));
  const missing: AgentEvent[] = [];
  let at = 0;
  for (const event of shown.filter((each) => each.type !== "text" && each.type !== "thinking")) {
    const found = stored.findIndex((each, index) => index >= at && isSame(each, event));
    if (found < 0) missing.push(event);
    else at = found + 1;
  }
  return missing;
}

function isSame(stored: AgentEvent, shown: AgentEvent): boolean {
  if (stored.type !== shown.type) return false;
  const key = {
    init: "sessionId",
    user: "text",
    text_end: "text",
    tool_start: "callId",
    tool_end: "callId",
    done: "text",
  };
  const name = key[shown.type as keyof typeof key] as keyof AgentEvent | undefined;
  return name === undefined || stored[name] === shown[name];
}
