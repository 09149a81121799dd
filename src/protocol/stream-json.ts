// stream-json, one JSON object per line: converts lines to AgentEvent and back.

import { type Carried, compareObject, type Scope, writeObject } from "../json/key-table.ts";
import { isObject } from "../json/object.ts";
import type { AgentEvent } from "./event.ts";
import { kinds, lineKindOf } from "./line-kinds.ts";
import type { LineKind } from "./line-rows.ts";
import { type ProfileName, profileOf } from "./profiles.ts";

const codec = "stream-json";

/** Marks events that were inferred and have no line of their own; encoders of the same stream leave them out. */
export const derived = { codec: "derived" } as const;

/** Returns whether an event was inferred from others and has no line in the stream. */
export function isDerived({ carried }: AgentEvent): boolean {
  return isObject(carried) && carried.codec === derived.codec;
}

/** The options of the encoder. */
export type EncodeOptions = {
  /** Whether to write deltas of text. */
  partial?: boolean;
  /** Whether to write live tool output, for hosts that requested it. */
  live?: boolean;
  /** The older version of the format to write, if any. */
  compat?: ProfileName | undefined;
};

/**
 * Decodes one line to one event without loss: fields that the event cannot represent go into `carried`. With `sessionId`, a line
 * of another session keeps its own id.
 */
export function decodeLine(line: unknown, sessionId?: string): AgentEvent {
  return decodeIn(line, { sessionId });
}

function decodeIn(line: unknown, scope: Scope): AgentEvent {
  if (!isObject(line)) return { type: "other", raw: line };
  const kind = lineKindOf(line);
  const event: AgentEvent | undefined = kind?.start(line);
  if (!kind || !event) return { type: "other", raw: line };
  const carried = compareObject(line, { table: kind, event, scope });
  if (carried) event.carried = { codec, ...carried };
  return event;
}

/** Returns the line of an event, or undefined if the event is not written to the stream. */
export function encodeEvent(event: AgentEvent, sessionId: string, options: EncodeOptions = {}): object | undefined {
  switch (event.type) {
    case "tool_output":
      if (!options.live) return undefined;
      break;
    case "other":
      return isObject(event.raw) ? event.raw : undefined;
    case "text":
      if (!options.partial) return undefined;
      break;
    case "text_end":
    case "thinking_end":
      if (event.cut) return undefined;
      break;
  }
  // biome-ignore lint/suspicious/noExplicitAny: the kinds of all events stand in one table
  const table: LineKind<any> = kinds[event.type];
  const { callSiblings, segmentTimes, extensions } = profileOf(options.compat);
  const scope: Scope = { sessionId, callSiblings, segmentTimes, extensions };
  return writeObject({ table, event, scope }, carriedBy(event));
}

/** Returns what this codec stored in the event. What other codecs stored is ignored. */
function carriedBy(event: AgentEvent): Carried | undefined {
  return isObject(event.carried) && event.carried.codec === codec ? (event.carried as Carried) : undefined;
}

/**
 * Decodes the lines of one stream to events. Regardless of the stream's form, a segment of text becomes one or more `text` and
 * then one `text_end`: all `text` joined, all `text_end` joined and `done.text` are the same. Flushes that only repeat deltas add
 * no `text`; a flush without deltas, or with more than they had, does; a segment without a flush is ended. After a `retry` that
 * discards, the open segment is void.
 */
export function createDecoder(): (line: unknown) => AgentEvent[] {
  // The session of the stream; until it is known, lines keep their own session id.
  let scope: Scope = { sessionId: "" };
  /** The text of the current segment so far. */
  let open = "";

  const endSegment = (before: AgentEvent): AgentEvent[] => {
    if (open === "") return [before];
    const end: AgentEvent = { type: "text_end", text: open, carried: derived };
    if ("modelCallId" in before && before.modelCallId !== undefined) end.modelCallId = before.modelCallId;
    open = "";
    return [end, before];
  };

  return (line) => {
    const event = decodeIn(line, scope);
    switch (event.type) {
      case "init":
        if (scope.sessionId === "") scope = { sessionId: event.sessionId };
        return [event];
      case "text":
        open += event.text;
        return [event];
      case "text_end": {
        const missing = event.text.startsWith(open) ? event.text.slice(open.length) : "";
        open = "";
        return missing === "" ? [event] : [deltaOf(missing, event.at), event];
      }
      case "retry":
        if (event.discards) open = "";
        return [event];
      case "tool_start":
      case "done":
      case "fail":
        return endSegment(event);
      default:
        return [event];
    }
  };
}

function deltaOf(text: string, at: number | undefined): AgentEvent {
  return at === undefined ? { type: "text", text, carried: derived } : { type: "text", text, at, carried: derived };
}
