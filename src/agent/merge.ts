// merge: several generators at once; events pass as they come, values come back in order.

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
