// Converts events back into the stream-json lines of the CLI from which they were decoded; nothing is lost on the way.
import type { AgentEvent } from "../protocol/event.ts";
import { encodeEvent, isDerived } from "../protocol/stream-json.ts";
import { foreignLines } from "./drivers/carry.ts";
import type { UnifiedTool } from "./unified.ts";

/** Returns the stream of a CLI as parsed lines. Serialized as JSON, they equal the original byte for byte if the CLI wrote compact JSON. */
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
