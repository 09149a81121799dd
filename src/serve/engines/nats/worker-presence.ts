// Signs of life of hosts: the last one of each, with the server's time. Quotas count them: a host gives a sign before it takes a
// run, and the hosts that came first keep their place.
import type { Server, Stored } from "./server.ts";

/** `since` is the sequence of the host's first sign. `run` is absent while the host looks for one. `share`: see `Quotas`. */
type Sign = { run?: string; ttlMs: number; since?: number; share?: string };
type Given = Sign & { owner: string; at: number; since: number };

export class WorkerPresence {
  readonly #server: Server;
  /** What all signs of the host that gave the last one here have in common. */
  #known: (Pick<Sign, "since" | "share"> & { owner: string }) | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Notes that this host has given no sign yet, so that none is looked for. */
  begin(owner: string): void {
    this.#known = { owner };
  }

  async give(owner: string, sign: Sign): Promise<void> {
    const { since, share } = (this.#known?.owner === owner ? this.#known : await this.last(owner)) ?? {};
    const all: Sign = { ...(since !== undefined && { since }), ...(share !== undefined && { share }), ...sign };
    const sequence = await this.#server.publish("lease", hostKey(owner), JSON.stringify(all));
    this.#known = { since: sequence, ...all, owner };
  }

  async last(owner: string): Promise<Given | undefined> {
    const stored = await this.#server.last("lease", hostKey(owner));
    return stored && toGivenSign(stored);
  }

  async all(): Promise<Given[]> {
    return (await this.#server.range("lease", hostKey("*"), 1)).map(toGivenSign);
  }

  async forget(owner: string): Promise<void> {
    if (this.#known?.owner === owner) this.begin(owner);
    await this.#server.purge("lease", hostKey(owner));
  }

  /** Gives the host's first sign and returns how many hosts came before it. First signs have one order that all hosts see. */
  async before(owner: string, sign: Sign, counts: (sign: Sign) => boolean): Promise<number> {
    const since = await this.#server.publish("lease", hostKey(owner), JSON.stringify(sign));
    this.#known = { ...sign, since, owner };
    const [signs, now] = [await this.all(), await this.#server.now()];
    return signs.filter((each) => each.since < since && each.at + each.ttlMs > now && counts(each)).length;
  }
}

function hostKey(owner: string): string {
  return `host.${owner}`;
}

function toGivenSign({ key, sequence, at, data }: Stored): Given {
  const sign = JSON.parse(Buffer.from(data).toString()) as Sign;
  return { ...sign, owner: key.slice(key.indexOf(".") + 1), at, since: sign.since ?? sequence };
}
