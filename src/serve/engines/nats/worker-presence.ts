// Signs of life of hosts: the last one of each, with the server's time. They also limit the number of hosts: a host gives a sign
// before it looks for a run, and the hosts that came first keep their place.
import type { Server } from "./server.ts";

/** `since` is the sequence of the host's first sign. `run` is absent while the host looks for one. `share`: see `Quotas`. */
type Sign = { run?: string; ttlMs: number; since?: number; share?: string };
type Given = Sign & { owner: string; at: number; since: number };

export class Signs {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async give(owner: string, sign: Sign): Promise<void> {
    const { since, share } = (await this.last(owner)) ?? {};
    const all = { ...(since !== undefined && { since }), ...(share !== undefined && { share }), ...sign };
    await this.#server.publish("lease", keyOf(owner), JSON.stringify(all));
  }

  async last(owner: string): Promise<Given | undefined> {
    const stored = await this.#server.last("lease", keyOf(owner));
    return stored && given(stored);
  }

  async all(): Promise<Given[]> {
    return (await this.#server.range("lease", keyOf("*"), 1)).map(given);
  }

  /** Removes the sign of a host that is gone. */
  async forget(owner: string): Promise<void> {
    await this.#server.purge("lease", keyOf(owner));
  }

  /** Reserves one of `most` places for the host. */
  async findRoom(owner: string, ttlMs: number, most: number): Promise<boolean> {
    if ((await this.before(owner, { ttlMs }, () => true)) < most) return true;
    await this.forget(owner);
    return false;
  }

  /** Gives the host's first sign and returns how many hosts came before it. First signs have one order that all hosts see. */
  async before(owner: string, sign: Sign, counts: (sign: Sign) => boolean): Promise<number> {
    const since = await this.#server.publish("lease", keyOf(owner), JSON.stringify(sign));
    const [signs, now] = [await this.all(), await this.#server.now()];
    return signs.filter((each) => each.since < since && each.at + each.ttlMs > now && counts(each)).length;
  }
}

function keyOf(owner: string): string {
  return `host.${owner}`;
}

function given({ key, sequence, at, data }: { key: string; sequence: number; at: number; data: Uint8Array }): Given {
  const sign = JSON.parse(Buffer.from(data).toString()) as Sign;
  return { ...sign, owner: key.slice(key.indexOf(".") + 1), at, since: sign.since ?? sequence };
}
