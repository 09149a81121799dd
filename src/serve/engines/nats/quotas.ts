// Quotas: limits how many runs of one sender a pool hosts at once, and what they may cost per day. Runs beyond that wait.
import type { Overview } from "../../fleet.ts";
import { word } from "./keys.ts";
import { Refused, type Server } from "./server.ts";
import type { WorkerPresence } from "./worker-presence.ts";

export type Quota = Overview["quota"];
/** A run's cost is counted when it ends, if its price is known; days are in UTC. */
type Spent = { day: string; usd: number };

/** How long a quota is cached: workers see a change within this time. */
const goodMs = 5000;

export class Quotas {
  readonly #server: Server;
  readonly #presence: WorkerPresence;
  #known: { quota: Quota; readAt: number } | undefined;

  constructor(server: Server, presence: WorkerPresence) {
    this.#server = server;
    this.#presence = presence;
  }

  async read(): Promise<Quota> {
    if (this.#known && performance.now() - this.#known.readAt < goodMs) return this.#known.quota;
    const stored = await this.#server.last("state", "quota");
    const quota = stored ? (JSON.parse(Buffer.from(stored.data).toString()) as Quota) : {};
    this.#known = { quota, readAt: performance.now() };
    return quota;
  }

  /** Omitted limits stay as they are; 0 removes a limit. */
  async set(change: Quota): Promise<void> {
    this.#known = undefined;
    const all = Object.entries({ ...(await this.read()), ...change }).filter(([, value]) => value > 0);
    await this.#server.publish("state", "quota", JSON.stringify(Object.fromEntries(all)));
    this.#known = undefined;
  }

  /** Returns why no run of this sender may start now. `running` is the number of its runs hosted in the pool. */
  async reason(sender: string, pool: string, running: number): Promise<string | undefined> {
    const { runs, costPerDay } = await this.read();
    if (runs !== undefined && running >= runs)
      return `${sender} has ${running} ${running === 1 ? "run" : "runs"} in pool ${pool} at once, and ${runs} is the most`;
    const spent = costPerDay === undefined ? 0 : await this.#spentToday(sender);
    if (costPerDay === undefined || spent < costPerDay) return undefined;
    return `the runs of ${sender} have cost $${spent.toFixed(2)} today, and $${costPerDay} a day is the most`;
  }

  /** Reserves a place among the sender's runs for the host, which keeps it with its signs of life. */
  async findPlace(owner: string, sender: string, pool: string, ttlMs: number): Promise<boolean> {
    if (Object.keys(await this.read()).length === 0) return true;
    const share = shareOf(sender, pool);
    const before = await this.#presence.before(owner, { ttlMs, share }, (sign) => sign.share === share);
    if ((await this.reason(sender, pool, before)) === undefined) return true;
    await this.#presence.forget(owner);
    return false;
  }

  async spend(sender: string, usd: number): Promise<void> {
    while (true) {
      const stored = await this.#server.last("state", spentKey(sender));
      const day = await this.#currentDay();
      const usdNow = usd + spentIn(stored?.data, day);
      try {
        const data = JSON.stringify({ day, usd: usdNow } satisfies Spent);
        await this.#server.publish("state", spentKey(sender), data, { after: stored?.sequence ?? 0 });
        return;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
    }
  }

  async #spentToday(sender: string): Promise<number> {
    const stored = await this.#server.last("state", spentKey(sender));
    return spentIn(stored?.data, await this.#currentDay());
  }

  async #currentDay(): Promise<string> {
    return new Date(await this.#server.now()).toISOString().slice(0, 10);
  }
}

/** Identifies a sender and a pool in a host's sign of life. */
export function shareOf(sender: string, pool: string): string {
  return `${pool} ${sender}`;
}

function spentKey(sender: string): string {
  return `spent.${word(sender)}`;
}

function spentIn(data: Uint8Array | undefined, day: string): number {
  const spent = data && (JSON.parse(Buffer.from(data).toString()) as Spent);
  return spent?.day === day ? spent.usd : 0;
}
