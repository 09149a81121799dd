// Workers of a fleet as processes: killed, frozen, cut off; their server killed. The long form: npm run long -- fleet --runs 1000
import { describe, expect, it } from "vitest";
import { Namespace, noNamespaces, StallingProxy } from "../support/cut-network.ts";
import { noNatsServer } from "../support/nats-server.ts";
import { orSkipped } from "../support/skipping.ts";
import { partitionFleet, stressFleet } from "./fleet-processes.ts";

const nothingWrong = { lost: 0, twice: 0, zombieEvents: 0, ephemeral: 0 };
const noNetwork = noNatsServer || noNamespaces();

describe.concurrent("a fleet of processes", () => {
  it.skipIf(noNatsServer)(
    orSkipped(
      "when workers are killed or frozen past their leases, each run ends once, soon after its host",
      noNatsServer,
    ),
    async () => {
      const report = await stressFleet({ runs: 30, kills: 3, restarts: 0, leaseMs: 1500 });
      expect(report).toMatchObject(nothingWrong);
      expect(report.continued).toBeGreaterThan(0);
      expect(report.longestWait).toBeLessThan(1.5);
    },
    60_000,
  );

  it.skipIf(noNatsServer)(
    orSkipped("when the NATS server is killed and restarted, no accepted run is lost", noNatsServer),
    async () => {
      expect(await stressFleet({ runs: 30, kills: 0, restarts: 2, leaseMs: 1000 })).toMatchObject(nothingWrong);
    },
    60_000,
  );

  it.skipIf(noNetwork)(
    orSkipped(
      "when a worker's network is cut, another continues its run, and the first one's late writes are refused",
      noNetwork,
    ),
    async () => {
      const report = await partitionFleet(new Namespace(), 1000);
      expect(report).toMatchObject({ ...nothingWrong, refused: 1, continued: 1 });
    },
    90_000,
  );

  it.skipIf(noNatsServer)(
    orSkipped(
      "when a worker's connection stalls, another continues its run, and late writes are refused",
      noNatsServer,
    ),
    async () => {
      const report = await partitionFleet(new StallingProxy(), 1000);
      expect(report).toMatchObject({ ...nothingWrong, refused: 1, continued: 1 });
    },
    90_000,
  );
});
