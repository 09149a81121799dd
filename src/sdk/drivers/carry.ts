// Keeps what a line of another CLI says beyond its events next to them, with references to their strings, so that no text is
// stored twice and every line can be rebuilt.

import { isObject } from "../../json/object.ts";
import type { AgentEvent } from "../../protocol/event.ts";

/** Data attached to an event. Only the last event of a line has `line`. */
export type ForeignCarried = {
  codec: string;
  /** Preceding lines of the stream that were not converted to any event. */
  silent?: unknown[];
  line?: unknown;
  /** How many events the line was converted to. */
  events?: number;
  /** For a tool call, the name that the CLI uses for the tool. */
  name?: string;
  /** The unified tool name, if it cannot be derived from the CLI's own name. */
  as?: string;
  input?: unknown;
  /** For a tool result, the text that the model received. */
  output?: string;
};

/** The length from which a repeated string is stored as a reference; shorter ones are simply repeated. */
const shortestShared = 24;
const mark = "@";

/** Attaches each line to the events it became. Create one for each stream. */
export class LineCarrier {
  readonly #codec: string;
  #silent: unknown[] = [];

  constructor(codec: string) {
    this.#codec = codec;
  }

  /** Attaches a line to its events in `own`, which is empty if the line needs no event, and undefined if its type is unknown. */
  carry(line: unknown, own: AgentEvent[] | undefined): AgentEvent[] {
    if (own?.length === 0) {
      this.#silent.push(line);
      return own;
    }
    const silent = this.#silent.length > 0 ? { silent: this.#silent.splice(0) } : {};
    if (!own)
      return [{ type: "other", raw: line, ...(silent.silent && { carried: { codec: this.#codec, ...silent } }) }];
    const places = new Map<string, (string | number)[]>();
    for (const [index, event] of own.entries()) collect(event, [index], places);
    const last = own.at(-1)!;
    const before = last.carried as ForeignCarried | undefined;
    last.carried = { codec: this.#codec, ...before, ...silent, line: shorten(line, places), events: own.length };
    return own;
  }
}

function collect(value: unknown, path: (string | number)[], places: Map<string, (string | number)[]>): void {
  if (typeof value === "string") {
    if (value.length >= shortestShared && !places.has(value)) places.set(value, path);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) collect(item, [...path, key], places);
  }
}

function shorten(value: unknown, places: ReadonlyMap<string, (string | number)[]>): unknown {
  if (typeof value === "string") {
    const path = value.length >= shortestShared ? places.get(value) : undefined;
    return path ? [mark, ...path] : value;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => shorten(item, places));
    // Escapes a list of the source that looks like a reference.
    return value[0] === mark ? [mark, -1, ...items] : items;
  }
  return isObject(value) ? mapValues(value, (item) => shorten(item, places)) : value;
}

/** Rebuilds the original lines of another CLI's stream from its events. Events that had no line are skipped. */
export function foreignLines(events: Iterable<AgentEvent>): unknown[] {
  const lines: unknown[] = [];
  const recent: AgentEvent[] = [];
  for (const event of events) {
    recent.push(event);
    const { carried } = event as { carried?: ForeignCarried };
    if (isObject(carried)) lines.push(...(carried.silent ?? []));
    if (event.type === "other") lines.push(event.raw);
    if (!isObject(carried) || carried.events === undefined) continue;
    lines.push(restore(carried.line, recent.slice(recent.length - carried.events)));
    recent.length = 0;
  }
  return lines;
}

function restore(value: unknown, events: readonly AgentEvent[]): unknown {
  if (Array.isArray(value)) {
    if (value[0] !== mark) return value.map((item) => restore(item, events));
    const [, index, ...path] = value as [string, number, ...string[]];
    if (index === -1) return path.map((item) => restore(item, events));
    // biome-ignore lint/suspicious/noExplicitAny: the path was made from this very value
    return path.reduce<any>((place, key) => place[key], events[index]);
  }
  return isObject(value) ? mapValues(value, (item) => restore(item, events)) : value;
}

function mapValues(object: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  // Use fromEntries, which creates own properties even for a key such as "__proto__".
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
