// Detects calls that a stream reports twice: in both of its formats, or under the same id.

export type CallShape = "contract" | "nested";

type Call = { name: string; args: unknown };

export class RepeatedCalls {
  readonly #counts = { contract: new Map<string, number>(), nested: new Map<string, number>() };
  readonly #ids = new Set<unknown>();

  /** A call that is really made twice is reported twice in one format. */
  isNew(shape: CallShape, call: Call, id?: unknown): boolean {
    if (id !== undefined && this.#ids.has(id)) return false;
    if (id !== undefined) this.#ids.add(id);
    const key = callKey(call);
    const count = (this.#counts[shape].get(key) ?? 0) + 1;
    this.#counts[shape].set(key, count);
    const other = this.#counts[shape === "nested" ? "contract" : "nested"].get(key) ?? 0;
    return count > other;
  }
}

/** Returns a key that is equal for equal calls, whatever the order of their arguments. */
export function callKey({ name, args }: Call): string {
  return JSON.stringify([name, sortKeys(args)]);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, item]) => [key, sortKeys(item)]);
}
