// Waiting: what a run waits for at this moment, for whoever wants to tell a reader that it has not stopped.

export type Waited = { kind: "model" | "tool" | "hook" | "server" | "person"; name: string; since: number };

export class Waiting {
  readonly #open = new Set<Waited>();

  /** Returns how to say that it is over. */
  begin(kind: Waited["kind"], name: string): () => void {
    const waited: Waited = { kind, name, since: Date.now() };
    this.#open.add(waited);
    return () => void this.#open.delete(waited);
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
