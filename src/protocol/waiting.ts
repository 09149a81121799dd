// Waiting: what a run waits for at this moment, for whoever wants to tell a reader that it has not stopped.

export type Waited = { kind: "model" | "tool" | "hook" | "server" | "person"; name: string; since: number };

export class Waiting {
  readonly #open = new Set<Waited>();
  readonly #watching: ((waited: Waited) => void)[] = [];

  /** Is told of everything that was waited for, when it is over. */
  watch(tell: (waited: Waited) => void): void {
    this.#watching.push(tell);
  }

  /** Returns how to say that it is over. */
  begin(kind: Waited["kind"], name: string): () => void {
    const waited: Waited = { kind, name, since: Date.now() };
    this.#open.add(waited);
    return () => {
      if (this.#open.delete(waited)) for (const tell of this.#watching) tell(waited);
    };
  }

  async during<Value>(kind: Waited["kind"], name: string, work: () => Promise<Value>): Promise<Value> {
    const end = this.begin(kind, name);
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** What began last comes first: a tool that asks a person waits for the person. */
  list(): Waited[] {
    return [...this.#open].reverse();
  }
}
