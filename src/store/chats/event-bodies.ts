// Encodes events for their rows. Most repeat what the store already holds: the end of a call repeats its start and the call
// before, a result its message, an edit the whole file. Such a body is stored as a difference to those, `[[…bases], …delta]`.
import { tryParse } from "../../json/object.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import type { StoreConnection } from "./connection.ts";
import { decodeDelta, encodeDelta } from "./delta.ts";

/** Shorter bodies gain too little, longer ones take too long: both are stored unchanged. */
const shortest = 150;
const longest = 4 * 1024 * 1024;
/** The length up to which an event is stored as changes to the nearest similar one. */
const short = 400;
/** A base may itself be a difference. This limits how many must be read to decode one event. */
const deepest = 48;
/** The least number of characters that referring to a blob must save. */
const worthwhile = 100;
/** The length of the prefix that identifies a blob's id. */
const idLength = 16;

/** `name` is the number of an event, or the prefix of a blob's id. */
type Base = { name: number | string; text: string; depth: number };

export type AddedBlob = { id: string; text: string };

type EventRow = { sequence: number; turn: number; at: number };

type WrittenEvent = EventRow & { event: AgentEvent; text: string; stored: string; bases: Base[] };

/** Encodes the events of one writer, using what it wrote last as bases. */
export class EventEncoder {
  /** The last start and the last end of a tool call, by tool. */
  readonly #begun = new Map<string, Base>();
  readonly #ends = new Map<string, Base>();
  /** The starts of calls that are still running, by call id. */
  readonly #starts = new Map<string, Base>();
  /** Events recorded since the last message; the next message will repeat much of them. */
  #unanswered: WrittenEvent[] = [];
  #blobs: AddedBlob[] = [];

  /** Returns the stored text of an event: a difference if that is shorter. */
  encode(event: AgentEvent, { sequence, turn, at }: EventRow): string {
    const text = JSON.stringify(event);
    if (text.length > longest) return text;
    const usableBases = this.#basesOf(event).filter(({ depth }) => depth < deepest);
    const bases = text.length < short ? usableBases.slice(0, 1) : usableBases;
    const written: WrittenEvent = { event, sequence, turn, at, text, stored: text, bases };
    if (text.length >= shortest) {
      shorten(written, []);
      if (written.stored.length > short) shorten(written, this.#blobs);
    }
    if (written.stored.length > short) this.#unanswered.push(written);
    const depth = written.stored === text ? 0 : 1 + Math.max(0, ...bases.map((base) => base.depth));
    this.#remember(event, { name: sequence, text, depth });
    return written.stored;
  }

  /** Returns the rows that are shorter now that these blobs are stored. */
  retell(blobs: readonly AddedBlob[], turn: number): WrittenEvent[] {
    this.#blobs = blobs.filter(({ text }) => text.length <= longest);
    // Use only events of this turn: a rewind could remove an earlier one while later events refer to it.
    const candidates = this.#unanswered.filter((written) => written.turn === turn);
    this.#unanswered = [];
    return candidates.filter((written) => shorten(written, this.#blobs));
  }

  forget(): void {
    this.#begun.clear();
    this.#ends.clear();
    this.#starts.clear();
    this.#unanswered = [];
    this.#blobs = [];
  }

  #basesOf(event: AgentEvent): Base[] {
    if (event.type !== "tool_start" && event.type !== "tool_end") return [];
    const nearest = event.type === "tool_start" ? this.#begun.get(event.tool) : this.#starts.get(event.callId);
    return [nearest, this.#ends.get(event.tool)].filter((base) => base !== undefined);
  }

  #remember(event: AgentEvent, base: Base): void {
    if (event.type === "tool_start") {
      this.#begun.set(event.tool, base);
      this.#starts.set(event.callId, base);
    }
    if (event.type !== "tool_end") return;
    this.#starts.delete(event.callId);
    this.#ends.set(event.tool, base);
  }
}

/** Stores the event as a difference to its bases and the related blobs. Returns whether that is shorter. */
function shorten(written: WrittenEvent, blobs: readonly AddedBlob[]): boolean {
  const { event, text } = written;
  const callId = "callId" in event ? JSON.stringify(event.callId) : "";
  const texts = blobs
    .filter((blob) => blob.text.includes(callId))
    .map(({ id, text }) => ({ name: id.slice(0, idLength), text }));
  if (blobs.length > 0 && texts.length === 0) return false;
  const bases = [...written.bases, ...texts];
  const delta = encodeDelta(text, bases.map((base) => base.text).join(""));
  const stored = JSON.stringify([bases.map(({ name }) => name), ...delta]);
  if (stored.length + (texts.length > 0 ? worthwhile : 0) >= written.stored.length) return false;
  written.stored = stored;
  return true;
}

/** Limits for recently read texts in memory, which the next event is likely to refer to. */
const maxKept = 64;
const maxKeptLength = 2 * longest;

/** Decodes the rows of one store; fastest in order. */
export class EventDecoder {
  readonly #store: StoreConnection;
  readonly #read = new Map<number | string, string>();
  #length = 0;

  constructor(store: StoreConnection) {
    this.#store = store;
  }

  /** Returns the JSON of an event; undefined if the body is damaged or one of its bases is gone. */
  decode(sequence: number, body: unknown, depth = 0): string | undefined {
    if (typeof body !== "string") return undefined;
    const text = body.startsWith("[") ? this.#apply(sequence, tryParse(body), depth) : body;
    if (text !== undefined && text.length <= longest) this.#storeBody(sequence, text);
    return text;
  }

  #apply(sequence: number, difference: unknown, depth: number): string | undefined {
    if (!Array.isArray(difference) || !Array.isArray(difference[0]) || depth > deepest) return undefined;
    const [names, ...delta] = difference as [unknown[], ...unknown[]];
    let baseText = "";
    for (const name of names) {
      const text = typeof name === "string" ? this.#blob(name) : this.#event(name, sequence, depth + 1);
      if (text === undefined) return undefined;
      baseText += text;
    }
    return decodeDelta(delta, baseText, longest);
  }

  /** Accepts only an earlier event, so that no event refers back to itself. */
  #event(name: unknown, before: number, depth: number): string | undefined {
    if (typeof name !== "number" || name >= before) return undefined;
    const body = () => this.#store.rows("SELECT body FROM courser_events WHERE sequence = ?", name)[0]?.[0];
    return this.#read.get(name) ?? this.decode(name, body(), depth);
  }

  #blob(id: string): string | undefined {
    const read = () =>
      this.#store.rows("SELECT CAST(data AS TEXT) FROM blobs WHERE id BETWEEN ? AND ?", id, `${id}g`)[0]?.[0];
    const text = this.#read.get(id) ?? read();
    if (typeof text !== "string") return undefined;
    this.#storeBody(id, text);
    return text;
  }

  #storeBody(name: number | string, text: string): void {
    if (this.#read.delete(name)) this.#length -= text.length;
    this.#read.set(name, text);
    this.#length += text.length;
    for (const [oldest, { length }] of this.#read) {
      if (this.#read.size <= maxKept && this.#length <= maxKeptLength) break;
      this.#read.delete(oldest);
      this.#length -= length;
    }
  }
}
