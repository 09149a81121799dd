// Calls that are told twice: in both shapes of one stream, or under one id.

export type CallShape = "contract" | "nested";

type Call = { name: string; args: unknown };

export class RepeatedCalls {
  readonly #counts = { contract: new Map<string, number>(), nested: new Map<string, number>() };
  readonly #ids = new Set<unknown>();

  /** The same call may be made twice, but then it is told twice in one shape. */
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

/** The order of keys is not a difference between two calls. */
export function callKey({ name, args }: Call): string {
  return JSON.stringify([name, sorted(args)]);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}
