// Rows shared by the stream-json lines, and helpers that read values from a line.

import type { Row, Table } from "../json/key-table.ts";
import type { JsonObject } from "../json/object.ts";
import type { AgentEventBody } from "./event.ts";

/** An event of one type, with its optional time. */
export type Of<Type extends AgentEventBody["type"]> = Extract<AgentEventBody, { type: Type }> & { at?: number };

/**
 * `start` reads the event from a line, and returns undefined if the line lacks required fields. The rows then find the fields
 * that the event does not represent.
 */
export type LineKind<Event> = Table<Event> & { start(line: JsonObject): Event | undefined };

export function constantField<Event>(key: string, value: unknown): Row<Event> {
  return { key, when: "always", holds: (given) => given === value, write: () => value };
}

export function field<Event>(
  key: string,
  property: keyof Event & string,
  when: Row<Event>["when"] = "always",
): Row<Event> {
  return { key, when, holds: (value, event) => event[property] === value, write: (event) => event[property] };
}

export function session<Event>(): Row<Event> {
  return {
    key: "session_id",
    when: "always",
    holds: (value, _event, scope) => typeof value === "string" && (scope.sessionId ?? value) === value,
    write: (_event, scope) => scope.sessionId,
  };
}

export function time<Event extends { at?: number }>(when: Row<Event>["when"]): Row<Event> {
  return { key: "timestamp_ms", when, holds: (value, event) => event.at === value, write: (event) => event.at };
}

/** 64-bit numbers are strings in stream-json. The event has the number only if it can be written back unchanged. */
export function clock<Event>(key: string, property: keyof Event & string): Row<Event> {
  const isGiven = (event: Event) => event[property] !== undefined;
  return {
    key,
    when: "given",
    holds: (_value, event) => isGiven(event),
    write: (event, scope) => (isGiven(event) && scope.callSiblings !== false ? String(event[property]) : undefined),
  };
}

const plainInteger = /^(?:0|[1-9]\d{0,14})$/;

export function millisecondsOf(value: unknown): number | undefined {
  return typeof value === "string" && plainInteger.test(value) ? Number(value) : undefined;
}

/** Sets the time. Used only for rare kinds, since the engine sees many object shapes here. */
export function withTime<Event>(event: Event & { at?: number }, line: JsonObject): Event {
  if (typeof line.timestamp_ms === "number") event.at = line.timestamp_ms;
  return event;
}
