// Broadcast: a log of items that any number of readers iterate, each from the beginning and at its own pace.

/** How many unread items of the slowest reader make the writer wait, in a log that does not keep its items. */
const maxWaiting = 1000;

export class Broadcast<Item> implements AsyncIterable<Item> {
  readonly #keep: boolean;
  readonly #readers = new Set<{ next: number }>();
  #items: Item[] = [];
  /** The number of items that were dropped from the beginning of the log. */
  #dropped = 0;
  #isOver = false;
  #waiting: (() => void)[] = [];

  /** Creates a log. With `keep: false` it drops items that all have read, and waits for the slowest reader. */
  constructor({ keep = true } = {}) {
    this.#keep = keep;
  }

  push(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Resolves when the writer may push more. Undefined when there is room now, as always with `keep` or without readers. */
  room(): Promise<void> | undefined {
    if (this.#keep || this.#items.length < maxWaiting) return undefined;
    this.#drop();
    return this.#items.length < maxWaiting ? undefined : this.#roomLater();
  }

  async #roomLater(): Promise<void> {
    while (this.#readers.size > 0 && this.#items.length >= maxWaiting) {
      await this.#change();
      this.#drop();
    }
  }

  /** A reader's position is fixed when it asks for the iterator, not at its first read. */
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
      // Wakes the writer once half of the backlog is read, not after every item.
      if (!this.#keep && index === maxWaiting / 2) this.#wake();
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
