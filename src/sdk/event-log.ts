// EventLog: what happened so far, for any number of readers, each from the beginning and at its own pace.

/** How far the slowest reader of a log that keeps nothing may fall behind before the writer waits. */
const mostWaiting = 1000;

export class EventLog<Item> implements AsyncIterable<Item> {
  readonly #keep: boolean;
  readonly #readers = new Set<{ next: number }>();
  #items: Item[] = [];
  /** How many were dropped from the front. */
  #dropped = 0;
  #isOver = false;
  #waiting: (() => void)[] = [];

  /** `keep` false: what every present reader has read is dropped, and the writer goes at the pace of the slowest. */
  constructor({ keep = true } = {}) {
    this.#keep = keep;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  push(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Undefined: there is room for more, as always where everything is kept, and where nobody reads. */
  room(): Promise<void> | undefined {
    if (this.#keep || this.#items.length < mostWaiting) return undefined;
    this.#drop();
    return this.#items.length < mostWaiting ? undefined : this.#roomLater();
  }

  async #roomLater(): Promise<void> {
    while (this.#readers.size > 0 && this.#items.length >= mostWaiting) {
      await this.#change();
      this.#drop();
    }
  }

  /** The reader's place is taken when it asks for the iterator, not when it first reads. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Item> {
    const reader = { next: this.#dropped };
    this.#readers.add(reader);
    const leave = () => {
      this.#readers.delete(reader);
      if (!this.#keep) this.#wake();
    };
    const over = { done: true as const, value: undefined };
    const next = (): Promise<IteratorResult<Item>> => {
      const index = reader.next - this.#dropped;
      if (index >= this.#items.length || !this.#readers.has(reader)) return wait();
      reader.next++;
      // The writer waits for half of it to be read, not for every single one.
      if (!this.#keep && index === mostWaiting / 2) this.#wake();
      return Promise.resolve({ done: false, value: this.#items[index]! });
    };
    const wait = async (): Promise<IteratorResult<Item>> => {
      while (this.#readers.has(reader)) {
        if (reader.next - this.#dropped < this.#items.length) return next();
        if (this.#isOver) leave();
        else await this.#change();
      }
      return over;
    };
    const iterator: AsyncIterableIterator<Item> = {
      next,
      async return() {
        leave();
        return over;
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  #drop(): void {
    const first = Math.min(...[...this.#readers].map((reader) => reader.next), this.#dropped + this.#items.length);
    if (first === this.#dropped) return;
    this.#items = this.#items.slice(first - this.#dropped);
    this.#dropped = first;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
