// A fleet on a cluster of three servers: leaders die, servers are away, one is cut off. No run ends for it, and nothing is written twice.
// The longer form, with a leader that is cut off: LONG_FLEET=1. The long one: npm run long -- fleet --cluster --runs 300 --leader-kills 3 --kills 6 --freezes 6
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { noNamespaces } from "../support/cut-network.ts";
import { NatsCluster } from "../support/nats-cluster.ts";
import { noNatsServer } from "../support/nats-server.ts";
import { orSkipped } from "../support/skipping.ts";
import type { Trouble } from "./cluster-troubles.ts";
import { newRun } from "./fleet-kit.ts";
import { stressFleet } from "./fleet-processes.ts";

const noNetwork = noNatsServer || noNamespaces();
const nothingWrong = { lost: 0, twice: 0, zombieEvents: 0, ephemeral: 0, robbed: [] };

describe.concurrent("a fleet on a cluster", () => {
  const troubles: [Trouble, string | false, { kills: number }][] = [
    ["leader killed", noNatsServer, { kills: 1 }],
    ["rolling restart", noNatsServer, { kills: 0 }],
    ["leader cut off", noNetwork, { kills: 0 }],
  ];
  const isLong = process.env["LONG_FLEET"] === "1";
  for (const [trouble, missing, { kills }] of isLong ? troubles : troubles.slice(0, 2))
    it.skipIf(missing)(
      orSkipped(`${trouble}: every fleet run ends once, and none is taken from a living worker`, missing),
      async () => {
        const report = await stressFleet({ runs: 12, kills, leaseMs: 15_000, troubles: [trouble] });
        expect(report).toMatchObject({ ...nothingWrong, troubles: trouble === "rolling restart" ? 3 : 1 });
        expect(report.longestGap).toBeLessThan(1);
        expect(report.longestWaitInTrouble).toBeLessThan(2.5);
      },
      180_000,
    );
});

// One after the other, on a cluster of their own: beside the troubles above, which are mostly waited for.
describe.skipIf(noNatsServer).concurrent(orSkipped("on three servers", noNatsServer), () => {
  let cluster: NatsCluster;
  beforeAll(async () => {
    cluster = await NatsCluster.start();
  }, 30_000);
  afterAll(() => cluster?.remove());
  const open = () => openFleet(cluster.url(), { configDir: "/nowhere", env: {} });

  it.sequential("on a NATS cluster only one of several simultaneous writers succeeds, whichever server they reach", {
    timeout: 60_000,
  }, async () => {
    const fleets = await Promise.all([open(), open(), open()]);
    try {
      for (let number = 0; number < 40; number++) {
        await fleets[0]!.enqueue(newRun(number));
        // The same lease in three processes, as a frozen one that wakes up has it.
        const wait = AbortSignal.timeout(20_000);
        const lease = await fleets[number % 3]!.lease({ worker: "w", ttlMs: 60_000, wait });
        const written = await Promise.allSettled(
          fleets.map((fleet) =>
            fleet.append(lease!, [{ type: "event", event: { type: "text_end", text: "x" } }], lease!.position),
          ),
        );
        expect(written.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        expect(await fleets[1]!.entries(`run-${number}`, 0, 100)).toHaveLength(2);
      }
    } finally {
      for (const fleet of fleets) fleet.close();
    }
  });

  it.sequential("a fleet client reports a NATS cluster without a majority as unreachable, and reaches it again later", {
    timeout: 90_000,
  }, async () => {
    const [last, ...others] = cluster.servers;
    const url = cluster.url().replace(/\/\/[^?]+/, `//127.0.0.1:${last!.port}`);
    const fleet = await openFleet(url, { configDir: "/nowhere", env: {} });
    const told: boolean[] = [];
    fleet.onReach((isReached) => told.push(isReached));
    try {
      await fleet.enqueue(newRun(200));
      for (const server of others) await server.kill("SIGKILL");
      const asked = fleet.enqueue(newRun(201));
      await vi.waitFor(() => expect(told).toEqual([false]), { timeout: 30_000, interval: 100 });
      for (const server of others) await server.start();
      expect((await asked).state).toBe("queued");
      // While servers come back, leaders may be elected more than once.
      await vi.waitFor(() => expect(told.at(-1)).toBe(true), { timeout: 30_000, interval: 100 });
      expect(told).toEqual(told.map((_, index) => index % 2 === 1));
    } finally {
      fleet.close();
    }
  });

  it.sequential("a fleet client reads clock and new values from the NATS cluster's leader, not from a replica", {
    timeout: 60_000,
  }, async () => {
    const fleets = await Promise.all([open(), open(), open()]);
    const began = Date.now();
    try {
      for (let number = 100; number < 140; number++) {
        const [one, other] = [fleets[number % 3]!, fleets[(number + 1) % 3]!];
        await one.enqueue(newRun(number));
        const run = (await other.run(`run-${number}`))!;
        expect(run.createdAt).toBeGreaterThan(began - 5000);
        expect(run.createdAt).toBeLessThan(Date.now() + 5000);
        await one.put(
          run.id,
          "patch",
          (async function* () {
            yield Buffer.from("diff");
          })(),
        );
        const chunks: Uint8Array[] = [];
        for await (const chunk of (await other.get(run.id, "patch"))!) chunks.push(chunk);
        expect(Buffer.concat(chunks).toString()).toBe("diff");
      }
    } finally {
      for (const fleet of fleets) fleet.close();
    }
  });
});
