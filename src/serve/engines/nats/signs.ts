// Signs of life of hosts: the last one of each, as old as the server says it is. Also who has room: hosts that may only be so many
// give theirs before they look for a run, and those that came first stay.
import type { Server } from "./server.ts";

/** `since`: the sequence of the first one. `run`: none while a host only looks for one. */
type Sign = { run?: string; ttlMs: number; since?: number };
type Given = Sign & { owner: string; at: number; since: number };

export class Signs {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async give(owner: string, sign: Sign): Promise<void> {
    const before = sign.since === undefined ? await this.last(owner) : undefined;
    const since = sign.since ?? before?.since;
    await this.#server.publish(
      "lease",
      keyOf(owner),
      JSON.stringify({ ...sign, ...(since !== undefined && { since }) }),
    );
  }

  async last(owner: string): Promise<Given | undefined> {
    const stored = await this.#server.last("lease", keyOf(owner));
    return stored && given(stored);
  }

  async all(): Promise<Given[]> {
    return (await this.#server.range("lease", keyOf("*"), 1)).map(given);
  }

  /** Of hosts that are no more. */
  async forget(owner: string): Promise<void> {
    await this.#server.purge("lease", keyOf(owner));
  }

  /** A place among so many, by the order of the first signs: all see the same one. */
  async findRoom(owner: string, ttlMs: number, most: number): Promise<boolean> {
    const since = await this.#server.publish("lease", keyOf(owner), JSON.stringify({ ttlMs } satisfies Sign));
    const [signs, now] = [await this.all(), await this.#server.now()];
    const before = signs.filter((sign) => sign.since < since && sign.at + sign.ttlMs > now);
    if (before.length < most) return true;
    await this.forget(owner);
    return false;
  }
}

function keyOf(owner: string): string {
  return `host.${owner}`;
}

function given({ key, sequence, at, data }: { key: string; sequence: number; at: number; data: Uint8Array }): Given {
  const sign = JSON.parse(Buffer.from(data).toString()) as Sign;
  return { ...sign, owner: key.slice(key.indexOf(".") + 1), at, since: sign.since ?? sequence };
}
