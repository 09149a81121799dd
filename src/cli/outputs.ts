// The output formats of print mode: from events to bytes.
import type { AgentEvent } from "../protocol/event.ts";
import { encodeEvent } from "../protocol/stream-json.ts";

export type OutputFormat = "text" | "json" | "stream-json";

export type OutputOptions = { sessionId: string; partial: boolean; compat: "2025" | undefined };

/** What an event adds to stdout; undefined: nothing. */
export interface Output {
  encode(event: AgentEvent): string | undefined;
}

export const outputs = {
  text: textOutput,
  json: jsonOutput,
  "stream-json": streamJsonOutput,
} satisfies Record<OutputFormat, (options: OutputOptions) => Output>;

/** What was said after the last tool call and the last prompt, at the end. */
function textOutput(): Output {
  let said = "";
  return {
    encode(event) {
      if (event.type === "tool_start" || event.type === "user") said = "";
      if (event.type === "text_end") said += event.text;
      if (event.type !== "done") return undefined;
      if (event.structured !== undefined) return `${JSON.stringify(event.structured, null, 2)}\n`;
      return said === "" || said.endsWith("\n") ? said : `${said}\n`;
    },
  };
}

function jsonOutput({ sessionId, compat }: OutputOptions): Output {
  return {
    encode(event) {
      if (event.type !== "done" && event.type !== "fail") return undefined;
      return line(encodeEvent(event, sessionId, { compat }));
    },
  };
}

function streamJsonOutput({ sessionId, partial, compat }: OutputOptions): Output {
  return { encode: (event) => line(encodeEvent(event, sessionId, { partial, compat })) };
}

function line(value: object | undefined): string | undefined {
  return value === undefined ? undefined : `${JSON.stringify(value)}\n`;
}
