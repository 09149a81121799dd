// --debug: what goes on, on stderr, with the time since the start.
import type { AgentEvent } from "../protocol/event.ts";
import type { Setup } from "../run/setup.ts";
import { writeStderr } from "./stdout.ts";

export interface Debug {
  setup(setup: Setup): void;
  event(event: AgentEvent): void;
  say(message: string): void;
}

export function createDebug(isOn: boolean): Debug {
  const say = (message: string) => {
    if (isOn) writeStderr(`debug ${Math.round(performance.now())}ms ${message}\n`);
  };
  return {
    say,
    setup({ workspace, roots, configDir, settings, model, mode, invocation }) {
      say(`courser ${invocation.version}, node ${process.version}, ${process.platform}-${process.arch}`);
      say(`workspace ${[workspace, ...roots].join(", ")}; config ${configDir}; mode ${mode}`);
      say(
        `model ${model.id} (${model.displayName}) of ${model.vendor}${model.baseUrl ? ` at ${model.baseUrl}` : ""}, key: ${model.apiKeySource}`,
      );
      say(
        `rules ${settings.rules.length === 0 ? "none" : settings.rules.map((rule) => `${rule.verdict} ${rule.text}`).join(", ")}`,
      );
    },
    event(event) {
      if (isOn && event.type !== "text" && event.type !== "thinking" && event.type !== "tool_output")
        say(describe(event));
    },
  };
}

function describe(event: AgentEvent): string {
  switch (event.type) {
    case "tool_start":
      return `${event.tool} begins (${event.callId})`;
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
