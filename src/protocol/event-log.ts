// EventLog: the events of a run, kept and numbered, then shown to any number of readers. The first reader may hold up the
// run; the others are never waited for: who falls behind reads on from what was kept.
import type { AgentEvent } from "./event.ts";
import type { Recorded } from "./run.ts";

/** Keeps events: a chat on disk, or the newest ones in memory. */
export interface EventKeeper {
  /** The number of what was kept, `known` where it has one; undefined for what is not kept. Throws UserError when it cannot. */
  record(event: AgentEvent, known?: number): number | undefined;
  events(from: number, most: number): Promise<KeptEvent[]>;
}

/** Is told of everything at once, in the order in which it happens. What it throws breaks nothing: it is told no more. */
export type Watcher = { watch?(recorded: Recorded): void; broke?(error: unknown): void };

export type KeptEvent = { sequence: number; event: AgentEvent };

/** So many events may wait for the first reader; then the run does. Few, since one may hold 16 MiB. */
const mostWaiting = 16;
/** So many may wait for another one; then it reads from what was kept. */
const mostBehind = 4096;
const pageSize = 500;

export class EventLog {
  readonly #keeper: EventKeeper;
  #watcher: Watcher | undefined;
  readonly #readers = new Set<Reader>();
  /** Waits for whoever reads first. */
  readonly #first = new Reader(mostWaiting);
  #isFirstTaken = false;
  /** The number that the run began with. */
  #start: number | undefined;
  /** The newest number. */
  #last = 0;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  constructor(keeper: EventKeeper, watcher?: Watcher) {
    this.#keeper = keeper;
    this.#watcher = watcher;
    this.#readers.add(this.#first);
  }

  /** Kept before it is shown. `known`: the number that another process gave it. */
  append(event: AgentEvent, known?: number): void {
    const number = this.#keeper.record(event, known);
    this.#start ??= number;
    this.#last = number ?? this.#last;
    this.show(number === undefined ? { event } : { number, event });
  }

  /** Shown only: it was kept elsewhere, or could not be kept. */
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

  /** Resolves when the first reader has room for more. Undefined: it has. */
  ready(): Promise<void> | undefined {
    if (!this.#isFirstTaken || this.#first.count < mostWaiting || !this.#readers.has(this.#first)) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  events(from?: number): AsyncIterable<Recorded> {
    return { [Symbol.asyncIterator]: () => this.#read(from) };
  }

  /** Readers get what is left, and then the end. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.end();
    this.#release();
  }

  async *#read(from: number | undefined): AsyncGenerator<Recorded> {
    const isFirst = from === undefined && !this.#isFirstTaken;
    const reader = isFirst ? this.#first : new Reader(mostBehind, { isBehind: true });
    if (isFirst) {
      this.#isFirstTaken = true;
      reader.most = Number.POSITIVE_INFINITY; // the run waits for it
    } else this.#readers.add(reader);
    if (this.#isClosed) reader.end();
    let next = from ?? this.#start ?? 1;
    /** The newest number when nothing more was found. */
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
            // Nothing came in between: from here on it is told as it happens.
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

/** What waits for one reader. Behind: nothing waits, since it reads what was kept. */
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

/** The newest events of a run that nobody keeps on disk. */
export class MemoryKeeper implements EventKeeper {
  readonly #most: number;
  #kept: KeptEvent[] = [];
  #last = 0;

  constructor(most = 10_000) {
    this.#most = most;
  }

  record(event: AgentEvent, known?: number): number | undefined {
    if (event.type === "text" || event.type === "thinking" || event.type === "tool_output") return undefined;
    this.#last = Math.max(this.#last + 1, known ?? 0); // numbers never go back, whoever gave them
    this.#kept.push({ sequence: this.#last, event });
    if (this.#kept.length > this.#most) this.#kept = this.#kept.slice(this.#most / 2);
    return this.#last;
  }

  async events(from: number, most: number): Promise<KeptEvent[]> {
    const first = this.#kept.findIndex(({ sequence }) => sequence >= from);
    return first < 0 ? [] : this.#kept.slice(first, first + most);
  }
}
