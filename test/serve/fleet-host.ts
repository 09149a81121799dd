// A worker that does no work: takes runs of a fleet, writes a few events into each and ends it. A process of its own, to be killed.
//   URL NAME TTL EVENTS PAUSE [SKEW]: of a lease, events a run, milliseconds between them; what its clock is wrong by.
import { setTimeout as sleep } from "node:timers/promises";
import { milliseconds } from "../../src/process/clock.ts";
import type { Fleet, Lease } from "../../src/serve/fleet.ts";
import { LeaseKeeper } from "../../src/serve/lease-keeper.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { chanceOf } from "../support/chance.ts";

export async function main(argv: readonly string[]): Promise<number> {
  const [url, name = "", ...numbers] = argv;
  const [ttlMs = 1000, events = 3, pauseMs = 10, skewMs = 0] = numbers.map(Number);
  const now = Date.now;
  Date.now = () => now() + skewMs;
  const stop = new AbortController();
  process.on("SIGTERM", () => stop.abort());
  const fleet = await opened(url!);
  tellSlow(fleet);
  process.stdout.write("ready\n");
  while (!stop.signal.aborted) {
    const lease = await fleet.lease({ worker: name, ttlMs, wait: stop.signal });
    if (!lease) continue;
    const sureSince = milliseconds();
    if (!(await fleet.renew(lease))) continue;
    const keeper = new LeaseKeeper(fleet, lease, sureSince, ({ code }) => process.stdout.write(`lost ${code}\n`));
    try {
      await host(fleet, lease, { name, events, pauseMs }, keeper);
    } catch (error) {
      if ((error as { code?: string }).code !== "LEASE_LOST") throw error;
      process.stdout.write(`refused ${lease.run}\n`);
    } finally {
      keeper.stop();
    }
  }
  fleet.close();
  return 0;
}

/** How long a renewal or a write took, where it took long: together they must take less than a lease. */
function tellSlow(fleet: Fleet): void {
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const began = milliseconds();
    try {
      return await work;
    } finally {
      const ms = milliseconds() - began;
      if (ms > 500) process.stdout.write(`slow ${Math.round(ms)}\n`);
    }
  };
  const { renew, append } = fleet;
  fleet.renew = (...given) => timed(renew.apply(fleet, given));
  fleet.append = (...given) => timed(append.apply(fleet, given));
}

/** Also where the server is just being started again. */
async function opened(url: string): Promise<Fleet> {
  while (true) {
    try {
      return await openFleet(url, { configDir: "/nowhere", env: {} });
    } catch (error) {
      if ((error as { code?: string }).code !== "FLEET_UNREACHABLE") throw error;
      await sleep(100);
    }
  }
}

type Work = { name: string; events: number; pauseMs: number };

/** Who wrote it and in which attempt is told in every event. */
async function host(fleet: Fleet, lease: Lease, { name, events, pauseMs }: Work, keeper: LeaseKeeper): Promise<void> {
  const { attempts } = (await fleet.run(lease.run))!;
  const text = `${name}/${attempts}`;
  const chance = chanceOf(`${name} ${lease.run}`);
  let position = lease.position;
  for (let number = 0; number < events; number++) {
    position = await fleet.append(lease, [{ type: "event", event: { type: "text_end", text } }], position);
    process.stdout.write(`wrote ${lease.run} ${position}\n`);
    await sleep(pauseMs * (0.5 + chance()));
  }
  const end = { outcome: "finished" as const, text, durationMs: 1, turns: 1 };
  await keeper.ending(() => fleet.finish(lease, end, position, 0));
  process.stdout.write(`ended ${lease.run}\n`);
}
