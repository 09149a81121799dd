// What a foreign line said beyond its events: kept beside them with references to what they do say, so that no text is kept
// twice and every line can be written again.

import { isObject } from "../../json/object.ts";
import type { AgentEvent } from "../../protocol/event.ts";

/** `line`: of the last event of a line, and of no other. */
export type ForeignCarried = {
  codec: string;
  /** Lines before this one that say nothing for which there are events. */
  silent?: unknown[];
  line?: unknown;
  /** How many events the line became. */
  events?: number;
  /** Of a call: the tool and its input, as the source spells them. */
  name?: string;
  /** The one name of the tool, where the source's own does not tell it. */
  as?: string;
  input?: unknown;
  /** Of a result: the words for the model. */
  output?: string;
};

/** Shorter strings are cheaper to repeat than to point to. */
const shortestShared = 24;
const mark = "@";

/** One for each stream: every event of a line, and what it does not say of it. */
export class LineCarrier {
  readonly #codec: string;
  #silent: unknown[] = [];

  constructor(codec: string) {
    this.#codec = codec;
  }

  /** `own`: the events that come of this line; none where nobody needs to know of it, undefined where nobody knows it. */
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
    // A list of the source that looks like a reference is told from one.
    return value[0] === mark ? [mark, -1, ...items] : items;
  }
  return isObject(value) ? mapValues(value, (item) => shorten(item, places)) : value;
}

/** The lines of a stream of another CLI, written again from its events. Events without a line add nothing. */
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
    return path.reduce<any>((place, key) => place[key], events[index]);
  }
  return isObject(value) ? mapValues(value, (item) => restore(item, events)) : value;
}

function mapValues(object: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  // fromEntries makes own properties of every key, "__proto__" included.
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
