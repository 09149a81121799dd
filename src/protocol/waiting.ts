// Waiting: tracks what a run is waiting for, so that a display can show that it is not stuck.

export type Waited = { kind: "model" | "tool" | "hook" | "server" | "person"; name: string; since: number };

export class Waiting {
  readonly #open = new Set<Waited>();
  readonly #watching: ((waited: Waited) => void)[] = [];

  /** Calls `notify` each time that a wait has ended. */
  watch(notify: (waited: Waited) => void): void {
    this.#watching.push(notify);
  }

  /** Starts a wait. Returns a function that ends it. */
  begin(kind: Waited["kind"], name: string): () => void {
    const waited: Waited = { kind, name, since: Date.now() };
    this.#open.add(waited);
    return () => {
      if (this.#open.delete(waited)) for (const notify of this.#watching) notify(waited);
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

  /** Returns the current waits, newest first: a tool that asks the user waits for the user. */
  list(): Waited[] {
    return [...this.#open].reverse();
  }
}
