// The clock of a NATS server as a worker estimates it, with a server that answers at once.
import { expect, it } from "vitest";
import type { Connected } from "../../src/serve/engines/nats/connect.ts";
import { ServerClock } from "../../src/serve/engines/nats/server-clock.ts";

const hourMs = 3_600_000;

it("the fleet's clock notices a new NATS leader at once, also between two reads of one decision", async () => {
  let stored = 0;
  // Its clock is an hour ahead of this machine's.
  const connected = {
    jetstream: { publish: async () => ({ seq: ++stored }) },
    reader: { streams: { getMessage: async () => ({ time: new Date(Date.now() + hourMs) }) } },
    names: { subject: () => "", stream: () => "" },
  } as unknown as Connected;
  const clock = new ServerClock(connected);
  const now = () => clock.now((work) => work());
  const began = await now();
  expect(clock.foundAgainAt).toBe(0);
  clock.found();
  // A sign of life that is read now may come from a leader that does not know the last one.
  expect(clock.foundAgainAt).toBeGreaterThan(began - 1000);
  expect(clock.foundAgainAt).toBeLessThan((await now()) + 1000);
  expect(stored).toBe(2); // the new leader's clock was read
  await now();
  expect(stored).toBe(2);
});
