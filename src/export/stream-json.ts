// A chat as stream-json: the lines that its runs showed, one run after the other.
import type { AgentEvent } from "../protocol/event.ts";
import { encodeEvent } from "../protocol/stream-json.ts";
import { rebuildEvents } from "../sdk/rebuild-events.ts";
import type { ChatRecord } from "../store/chats/chat.ts";

export function* streamJsonExport(record: ChatRecord): Generator<string> {
  let problems: AgentEvent[] = record.problems.map(({ message }) => ({ type: "notice", kind: "damaged", message }));
  for (const { events } of rebuildEvents(record)) {
    for (const event of events) {
      // Deltas of text are repeated whole by what follows them.
      yield line(event);
      if (event.type !== "init") continue;
      for (const problem of problems) yield line(problem);
      problems = [];
    }
  }

  function line(event: AgentEvent): string {
    // A copy was begun under the id of the chat that it is a copy of.
    const own = event.type === "init" ? { ...event, sessionId: record.metadata.id } : event;
    const encoded = encodeEvent(own, record.metadata.id);
    return encoded ? `${JSON.stringify(encoded)}\n` : "";
  }
}
