// The output formats of print mode: turn events into text for stdout.
import type { AgentEvent } from "../protocol/event.ts";
import { type ProfileName, profileOf } from "../protocol/profiles.ts";
import { encodeEvent } from "../protocol/stream-json.ts";

export type OutputFormat = "text" | "json" | "stream-json";

export type OutputOptions = { sessionId: string; partial: boolean; compat: ProfileName | undefined };

/** Returns an event in the shape of an older version; undefined if that version had no such event. */
export type Reshape = (event: AgentEvent) => AgentEvent | undefined;

/** Loaded only if an older version is selected. `usage` does no harm in any of them. */
export async function reshapeFor(compat: ProfileName | undefined): Promise<Reshape | undefined> {
  if (compat === undefined) return undefined;
  const { inProfile } = await import("../protocol/profile-shapes.ts");
  const profile = { ...profileOf(compat), usage: true };
  return (event) => inProfile(event, profile);
}

/** Returns the text that an event adds to stdout, or undefined. */
export interface Output {
  encode(event: AgentEvent): string | undefined;
}

export const outputs = {
  text: textOutput,
  json: jsonOutput,
  "stream-json": streamJsonOutput,
} satisfies Record<OutputFormat, (options: OutputOptions) => Output>;

/** Prints the text after the last tool call or prompt, at the end of the turn. */
function textOutput(): Output {
  let lastText = "";
  return {
    encode(event) {
      if (event.type === "tool_start" || event.type === "user") lastText = "";
      // Several texts of one answer become paragraphs, for instance when it continues after a reminder.
      if (event.type === "text_end") lastText = lastText === "" ? event.text : `${lastText.trimEnd()}\n\n${event.text}`;
      const isAnswer = event.type === "done" || (event.type === "fail" && event.answer !== undefined);
      return isAnswer ? answerText({ text: lastText, structured: event.structured }) : undefined;
    },
  };
}

export function answerText({ text, structured }: { text: string; structured?: unknown }): string {
  if (structured !== undefined) return `${JSON.stringify(structured, null, 2)}\n`;
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function jsonOutput({ sessionId, compat }: OutputOptions): Output {
  let notices: { kind: string; message: string }[] = [];
  return {
    encode(event) {
      if (event.type === "notice") notices.push({ kind: event.kind, message: event.message });
      if (event.type !== "done" && event.type !== "fail") return undefined;
      const ending = notices.length > 0 ? { ...event, notices } : event;
      notices = [];
      return toLine(encodeEvent(ending, sessionId, { compat }));
    },
  };
}

function streamJsonOutput({ sessionId, partial, compat }: OutputOptions): Output {
  return { encode: (event) => toLine(encodeEvent(event, sessionId, { partial, compat })) };
}

function toLine(value: object | undefined): string | undefined {
  return value === undefined ? undefined : `${JSON.stringify(value)}\n`;
}
