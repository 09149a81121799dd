// Runs the calls of one reply in parallel: merges their events, with a limit on how many run at once.

export const maxAtOnce = 16;

/** Splits a list into chunks that may run together. */
export function atOnce<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / maxAtOnce);
  return Array.from({ length: count }, (_, index) => items.slice(index * maxAtOnce, (index + 1) * maxAtOnce));
}

/** Yields only the first event of a stream: the start of a call. */
export async function* firstEvent<Event>(events: AsyncGenerator<Event, unknown>): AsyncGenerator<Event> {
  const { done, value } = await events.next();
  if (!done) yield value;
}

/** Runs generators concurrently. Yields their events as they arrive, and returns their values in original order. */
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
      // Yield the event before resuming its generator, so that the start of a call is stored before the call runs.
      yield result.value;
      waiting.set(index, step(index));
    }
  }
  return values;
}

/** Yields to the event loop: calls that never wait would otherwise block timers and signals. */
export function eventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
