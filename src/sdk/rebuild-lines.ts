// The lines that a CLI wrote, from the events that they became: nothing of a stream is lost in reading it.
import type { AgentEvent } from "../protocol/event.ts";
import { encodeEvent, isDerived } from "../protocol/stream-json.ts";
import { foreignLines } from "./drivers/carry.ts";
import type { UnifiedTool } from "./unified.ts";

/** As values: written as JSON they are the lines, byte for byte, wherever the CLI wrote compact JSON. */
export function rebuildLines(events: Iterable<AgentEvent>, tool: UnifiedTool = "cursor"): unknown[] {
  if (tool !== "cursor") return foreignLines(events);
  let sessionId = "";
  const lines: unknown[] = [];
  for (const event of events) {
    if (event.type === "init") sessionId = event.sessionId;
    const line = isDerived(event) ? undefined : encodeEvent(event, sessionId, { partial: true });
    if (line) lines.push(line);
  }
  return lines;
}
