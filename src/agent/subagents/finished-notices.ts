// Subagents that have ended in the background: what the stream, the list of refusals and the model are told.
import type { AgentEvent, Denial } from "../../protocol/event.ts";
import type { Part } from "../../protocol/message.ts";
import type { EndedSubagent } from "./index.ts";

export async function* finishedNotices(
  ended: readonly EndedSubagent[],
  denied: Denial[],
): AsyncGenerator<AgentEvent, Part[]> {
  const parts: Part[] = [];
  for (const { notice, text, denials } of ended) {
    yield notice;
    denied.push(...denials);
    parts.push({ type: "text", text });
  }
  return parts;
}
