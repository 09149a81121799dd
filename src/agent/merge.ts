// The calls of one reply side by side: their events as they come, a bounded number of them at once.

export const mostAtOnce = 16;

/** Parts of a list that may be worked on together. */
export function atOnce<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / mostAtOnce);
  return Array.from({ length: count }, (_, index) => items.slice(index * mostAtOnce, (index + 1) * mostAtOnce));
}

/** Passes on the first event of a stream alone: the start of a call. */
export async function* firstEvent<Event>(events: AsyncGenerator<Event, unknown>): AsyncGenerator<Event> {
  const { done, value } = await events.next();
  if (!done) yield value;
}

/** Events pass as they come, values come back in order. */
export async function* merge<Event, Value>(
  generators: readonly AsyncGenerator<Event, Value>[],
): AsyncGenerator<Event, Value[]> {
  const values: Value[] = new Array(generators.length);
  const step = async (index: number) => ({ index, result: await generators[index]!.next() });
  const waiting = new Map(generators.map((_, index) => [index, step(index)]));
  while (waiting.size > 0) {
    const { index, result } = await Promise.race(waiting.values());
    waiting.delete(index);
    if (result.done) {
      values[index] = result.value;
    } else {
      // First the event, then the work behind it: whoever keeps events has kept the start of a call before it runs.
      yield result.value;
      waiting.set(index, step(index));
    }
  }
  return values;
}

/** Calls that need not wait for anything would never let timers and signals through. */
export function eventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
