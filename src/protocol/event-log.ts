// EventLog: records and numbers the events of a run, then delivers them to any number of readers. The first reader may hold up
// the run; the run never waits for the others, and a reader that falls behind continues from the recorded events.
import type { AgentEvent } from "./event.ts";
import type { Recorded } from "./run.ts";

/** Stores events: in a chat on disk, or the newest ones in memory. */
export interface EventKeeper {
  /** Returns the number of the stored event, `known` if given; undefined if it is not stored. Throws a UserError. */
  record(event: AgentEvent, known?: number): number | undefined;
  events(from: number, most: number): Promise<KeptEvent[]>;
}

/** `watch` is called synchronously for every event, in order. If it throws, the run goes on and `watch` is not called again. */
export type Watcher = { watch?(recorded: Recorded): void; broke?(error: unknown): void };

export type KeptEvent = { sequence: number; event: AgentEvent };

/** How many events may wait for the first reader before the run is paused. Low, since one may take 16 MiB. */
const maxWaiting = 16;
/** The number of waiting events at which any other reader continues with the recorded events. */
const maxBehind = 4096;
const pageSize = 500;

export class EventLog {
  readonly #keeper: EventKeeper;
  #watcher: Watcher | undefined;
  readonly #readers = new Set<Reader>();
  /** The buffer of events for the first reader. */
  readonly #first = new Reader(maxWaiting);
  #isFirstTaken = false;
  /** The number of the run's first event. */
  #start: number | undefined;
  /** The number of the newest event. */
  #last = 0;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  constructor(keeper: EventKeeper, watcher?: Watcher) {
    this.#keeper = keeper;
    this.#watcher = watcher;
    this.#readers.add(this.#first);
  }

  /** Records the event, then shows it. `known` is the number that another process gave it. */
  append(event: AgentEvent, known?: number): void {
    const number = this.#keeper.record(event, known);
    this.#start ??= number;
    this.#last = number ?? this.#last;
    this.show(number === undefined ? { event } : { number, event });
  }

  /** Shows an event without recording it: it was recorded elsewhere, or could not be. */
  show(recorded: Recorded): void {
    if (this.#isClosed) return;
    const watcher = this.#watcher;
    try {
      watcher?.watch?.(recorded);
    } catch (error) {
      this.#watcher = undefined;
      watcher!.broke?.(error);
    }
    for (const reader of this.#readers) reader.push(recorded);
  }

  /** Resolves when the first reader has room for more; returns undefined if it already has. */
  ready(): Promise<void> | undefined {
    if (!this.#isFirstTaken || this.#first.count < maxWaiting || !this.#readers.has(this.#first)) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  events(from?: number): AsyncIterable<Recorded> {
    return { [Symbol.asyncIterator]: () => this.#read(from) };
  }

  /** Ends the log. Readers receive the remaining events before it ends for them. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.end();
    this.#release();
  }

  async *#read(from: number | undefined): AsyncGenerator<Recorded> {
    const isFirst = from === undefined && !this.#isFirstTaken;
    const reader = isFirst ? this.#first : new Reader(maxBehind, { isBehind: true });
    if (isFirst) {
      this.#isFirstTaken = true;
      reader.most = Number.POSITIVE_INFINITY; // no limit, since the run waits for this reader
    } else this.#readers.add(reader);
    if (this.#isClosed) reader.end();
    let next = from ?? this.#start ?? 1;
    /** The newest number at the time the last page came back empty. */
    let hasLooked = -1;
    try {
      while (true) {
        if (reader.isBehind) {
          const page = await this.#keeper.events(next, pageSize);
          for (const { sequence: number, event } of page) {
            next = number + 1;
            yield { number, event };
          }
          if (page.length === 0) {
            // No event arrived in between, so continue with live events.
            if (next > this.#last || hasLooked === this.#last) reader.isBehind = false;
            hasLooked = this.#last;
          }
          continue;
        }
        const recorded = reader.take();
        if (isFirst) this.#release();
        if (recorded) {
          if (recorded.agent === undefined && recorded.number !== undefined) next = recorded.number + 1;
          yield recorded;
        } else if (reader.hasEnded) return;
        else await reader.more();
      }
    } finally {
      this.#readers.delete(reader);
      this.#release();
    }
  }

  #release(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The queue of one reader. A reader that is behind has no queue, since it reads recorded events. */
class Reader {
  isBehind: boolean;
  hasEnded = false;
  most: number;
  #waiting: Recorded[] = [];
  #wake: () => void = () => {};

  constructor(most: number, { isBehind } = { isBehind: false }) {
    this.most = most;
    this.isBehind = isBehind;
  }

  get count(): number {
    return this.#waiting.length;
  }

  push(recorded: Recorded): void {
    if (this.#waiting.length >= this.most) {
      this.#waiting = [];
      this.isBehind = true;
    }
    if (!this.isBehind) this.#waiting.push(recorded);
    this.#wake();
  }

  take(): Recorded | undefined {
    return this.#waiting.shift();
  }

  end(): void {
    this.hasEnded = true;
    this.#wake();
  }

  more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

const maxKept = 10_000;

/** Keeps the newest events of a run in memory, if it is not stored on disk. */
export class MemoryKeeper implements EventKeeper {
  #kept: KeptEvent[] = [];
  #last = 0;

  record(event: AgentEvent, known?: number): number | undefined {
    if (event.type === "text" || event.type === "thinking" || event.type === "tool_output") return undefined;
    this.#last = Math.max(this.#last + 1, known ?? 0); // numbers never decrease, whichever source they come from
    this.#kept.push({ sequence: this.#last, event });
    if (this.#kept.length > maxKept) this.#kept = this.#kept.slice(maxKept / 2);
    return this.#last;
  }

  async events(from: number, most: number): Promise<KeptEvent[]> {
    const first = this.#kept.findIndex(({ sequence }) => sequence >= from);
    return first < 0 ? [] : this.#kept.slice(first, first + most);
  }
}
