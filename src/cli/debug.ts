// --debug: logs progress on stderr, with the time since the start.
import type { AgentEvent } from "../protocol/event.ts";
import { writeStderr } from "./stdout.ts";

export function createDebug(isOn: boolean) {
  const say = (message: string) => {
    if (isOn) writeStderr(`debug ${Math.round(performance.now())}ms ${message}\n`);
  };
  return {
    say,
    event(event: AgentEvent) {
      if (isOn && event.type !== "text" && event.type !== "thinking" && event.type !== "tool_output")
        say(describe(event));
    },
  };
}

function describe(event: AgentEvent): string {
  switch (event.type) {
    case "tool_start":
      return `${event.tool} starts (${event.callId})`;
    case "tool_end":
      return `${event.tool} ends: ${event.outcome?.kind ?? "without a result"} (${event.callId})`;
    case "retry":
      return `asking again, attempt ${event.attempt} in ${event.delayMs ?? 0} ms: ${event.reason ?? ""}`;
    case "notice":
      return `${event.kind}: ${event.message}`;
    case "text_end":
      return `text, ${event.text.length} characters`;
    case "done":
    case "fail":
      return `${event.type} after ${event.durationMs} ms (model ${event.apiDurationMs} ms), usage ${JSON.stringify(event.usage ?? {})}`;
    default:
      return event.type;
  }
}
