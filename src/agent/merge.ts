// merge: several generators at once; events pass as they come, values come back in order.

export async function* merge<Event, Value>(
  generators: readonly AsyncGenerator<Event, Value>[],
): AsyncGenerator<Event, Value[]> {
  const values: Value[] = new Array(generators.length);
  const step = async (index: number) => ({ index, result: await generators[index]!.next() });
  const waiting = new Map(generators.map((_, index) => [index, step(index)]));
  while (waiting.size > 0) {
    const { index, result } = await Promise.race(waiting.values());
    if (result.done) {
      values[index] = result.value;
      waiting.delete(index);
    } else {
      waiting.set(index, step(index));
      yield result.value;
    }
  }
  return values;
}
