// Reads and writes the logs of runs. Each write is one message that names the writer's last known message; otherwise it is refused.
import type { Entry, LogEntry } from "../../fleet.ts";
import { leaseLost } from "../refusals.ts";
import { lastWord, word } from "./keys.ts";
import type { Payloads } from "./payloads.ts";
import { type Head, type Last, maxEntries, neverWritten, positionAt, sequenceAt } from "./rules.ts";
import { Refused, type Server, type Stored } from "./server.ts";
import { followStream } from "./tail.ts";

type Batch = { at: number; entries: Entry[] };
/** The maximum number of unpacked messages in the cache. */
const maxLately = 64;

type WrittenHead = Head & { entries: number };

export class RunLogs {
  readonly #server: Server;
  readonly #payloads: Payloads;
  readonly #lately = new Map<number, Promise<LogEntry[]>>();

  constructor(server: Server, payloads: Payloads) {
    this.#server = server;
    this.#payloads = payloads;
  }

  /** Returns the last message of a run's log. `known` is a position that the log has reached. */
  async last(run: string, known = 0): Promise<Last> {
    const stored = await this.#server.last("log", word(run), sequenceAt(known));
    return stored ? lastIn(stored) : neverWritten;
  }

  /** Returns the last message's head together with its entries. */
  async lastEntries(run: string): Promise<{ last: Last; entries: Entry[] }> {
    const stored = await this.#server.last("log", word(run));
    if (!stored) return { last: neverWritten, entries: [] };
    const batch = await this.#payloads.unpack<Batch>(run, stored.data);
    return { last: lastIn(stored), entries: batch?.entries ?? [] };
  }

  /** Writes all entries or none. Throws LEASE_LOST if another message came first. */
  async write(run: string, entries: readonly Entry[], head: Head, after: number): Promise<Last> {
    const batch: Batch = { at: Math.round(await this.#server.now()), entries: [...entries] };
    const data = await this.#payloads.pack(run, batch);
    const written: WrittenHead = { ...head, entries: entries.length };
    try {
      const sequence = await this.#server.publish("log", word(run), data, { head: JSON.stringify(written), after });
      return { sequence, at: batch.at, entries: entries.length, head };
    } catch (error) {
      if (error instanceof Refused) throw leaseLost(run);
      throw error;
    }
  }

  async entries(run: string, from: number, limit: number): Promise<LogEntry[]> {
    const found: LogEntry[] = [];
    for (let sequence = sequenceAt(from); found.length < limit; ) {
      const page = await this.#server.range("log", word(run), sequence, { most: Math.min(limit + 1, maxEntries) });
      for (const stored of page) found.push(...(await this.#entriesFrom(stored, from)));
      if (page.length === 0) break;
      sequence = page.at(-1)!.sequence + 1;
    }
    return found.slice(0, limit);
  }

  async *follow(run: string, from: number, signal: AbortSignal): AsyncGenerator<LogEntry> {
    // Includes the message of `from`, which may hold entries that were not read yet.
    const options = { filter: word(run), from: Math.max(0, sequenceAt(from) - 1), signal };
    for await (const stored of followStream(this.#server, "log", options)) yield* await this.#entriesFrom(stored, from);
  }

  async *followAll(from: number, signal: AbortSignal): AsyncGenerator<LogEntry> {
    const options = { filter: "*", from: Math.max(0, sequenceAt(from) - 1), isWhole: true, signal };
    for await (const stored of followStream(this.#server, "log", options)) yield* await this.#entriesFrom(stored, from);
  }

  async end(): Promise<number> {
    return positionAt((await this.#server.end("log")) + 1, 0) - 1;
  }

  /** Removes all messages but the last, which records that the others are gone. */
  async prune(run: string): Promise<void> {
    const { last, entries } = await this.lastEntries(run);
    const { sequence } = await this.write(run, entries, { ...last.head, isPruned: true }, last.sequence);
    if (sequence > 0) await this.#server.purge("log", word(run), 1);
  }

  async drop(run: string): Promise<void> {
    await this.#server.purge("log", word(run));
  }

  /** Caches unpacked messages, so that readers of the same run in this process unpack them once. */
  async #entriesFrom(stored: Stored, from: number): Promise<LogEntry[]> {
    const { sequence } = stored;
    const existing = this.#lately.get(sequence) ?? this.#unpack(stored);
    this.#lately.set(sequence, existing);
    for (const old of this.#lately.keys()) {
      if (this.#lately.size <= maxLately) break;
      this.#lately.delete(old);
    }
    const entries = await existing;
    return from < positionAt(sequence, 0) ? entries : entries.filter(({ position }) => position > from);
  }

  async #unpack(stored: Stored): Promise<LogEntry[]> {
    if (headIn(stored).isPruned) return [];
    const run = lastWord(stored.key);
    const batch = await this.#payloads.unpack<Batch>(run, stored.data);
    if (!batch) return [];
    const { at, entries } = batch;
    return entries.map((entry, index) => ({ position: positionAt(stored.sequence, index), run, at, entry }));
  }
}

function lastIn(stored: Stored): Last {
  const { entries, ...head } = headIn(stored);
  return { sequence: stored.sequence, at: stored.at, entries, head };
}

function headIn({ head }: Stored): WrittenHead {
  return JSON.parse(head!) as WrittenHead;
}
