// A clock that jumps from one event to the next, and dice that fall the same way for the same seed.

export type Timer = { at: number; order: number; fire: (() => void) | undefined };

export class VirtualClock {
  now = 0;
  readonly #heap: Timer[] = [];
  #order = 0;

  after(ms: number, fire: () => void): Timer {
    const timer: Timer = { at: this.now + Math.max(0, ms), order: this.#order++, fire };
    this.#heap.push(timer);
    this.#up(this.#heap.length - 1);
    return timer;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Until there is nothing more to happen, or `isDone`. What an event sets off is over before the next one. */
  async run(isDone: () => boolean, untilMs: number): Promise<void> {
    const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
    for (await settle(); this.#heap.length > 0 && !isDone(); ) {
      const timer = this.#pop();
      if (!timer.fire) continue;
      if (timer.at > untilMs) return;
      this.now = timer.at;
      timer.fire();
      await settle();
    }
  }

  /** Whoever waits by the usual functions waits by this clock. What takes them back is returned. */
  install(): () => void {
    const { setTimeout: realSet, clearTimeout: realClear } = globalThis;
    globalThis.setTimeout = ((fire: () => void, ms = 0) => this.after(ms, fire)) as never;
    globalThis.clearTimeout = ((timer: Timer | undefined) => {
      if (timer) timer.fire = undefined;
    }) as never;
    return () => Object.assign(globalThis, { setTimeout: realSet, clearTimeout: realClear });
  }

  #pop(): Timer {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      for (let at = 0; ; ) {
        let least = at;
        for (const child of [at * 2 + 1, at * 2 + 2])
          if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
        if (least === at) break;
        [heap[at], heap[least]] = [heap[least]!, heap[at]!];
        at = least;
      }
    }
    return first;
  }

  #up(from: number): void {
    const heap = this.#heap;
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at]!, heap[parent]!)) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1. */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.roll();
  }

  isIn(chance: number): boolean {
    return this.roll() < chance;
  }

  of<T>(list: readonly T[]): T {
    return list[Math.floor(this.roll() * list.length)]!;
  }
}
