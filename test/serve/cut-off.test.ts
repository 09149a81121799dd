// A worker that cannot reach its fleet for a lease ends its agents before anybody else has their runs, and writes nothing more.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { StallingProxy } from "../support/cut-network.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { orSkipped } from "../support/skipping.ts";
import { until } from "./service-support.ts";
import { linesOf, TestFleet } from "./worker-support.ts";

const leaseSeconds = 2;

/** How the way to the server is lost, for a worker that reaches it by `url`. */
type Outage = { url: string; begin(): unknown; end(): unknown; close(): void };

type CutOff = (server: NatsServer) => Promise<Outage>;

const outages: Record<string, CutOff> = {
  async "its connection stalls"(server) {
    const proxy = new StallingProxy();
    const { host, port } = await proxy.open(server.port);
    const url = `nats://${host}:${port}?prefix=cut`;
    return { url, begin: () => proxy.cut(), end: () => proxy.mend(), close: () => proxy.close() };
  },
  async "its server is killed"(server) {
    const [begin, end] = [() => server.kill(), () => server.start()];
    return { url: server.url("cut"), begin, end, close: () => {} };
  },
};

describe.skipIf(noNatsServer)(orSkipped("a worker that is cut off", noNatsServer), () => {
  it.concurrent.for(Object.entries(outages))(
    "a worker cut off from the fleet ends its agent after its lease: %s",
    { timeout: 120_000 },
    async ([name, cutOff], { onTestFinished }) => {
      const server = await NatsServer.start();
      onTestFinished(() => server.remove());
      const outage = await cutOff(server);
      onTestFinished(() => outage.close());
      const own = await openFleet(server.url("cut"), { configDir: "/nowhere", env: {} });
      const fleet = new TestFleet(outage.url, own);
      onTestFinished(() => fleet.remove());
      const effects = join(fleet.workspace.home, "effects");
      const command = `for i in $(seq 600); do echo $i >> ${effects}; sleep 0.1; done`;
      await fleet.answer(() => ({ toolCalls: [{ name: "Shell", args: { command } }] }));

      const worker = fleet.start(["--lease-time", String(leaseSeconds)]);
      const run = await fleet.enqueue(fleet.spec({}));
      await until(() => linesOf(effects).length > 2, "the agent to work", 30_000);
      await outage.begin();
      await until(() => worker.said().includes("could not be renewed"), "the worker to give up", 20_000);
      // Nobody has told it: the way to its server is still cut.
      await until(() => worker.said().includes(" lost after "), "its agent to end", 20_000);
      const done = linesOf(effects).length;
      await sleep(500);
      expect(linesOf(effects)).toHaveLength(done);

      if (name === "its server is killed") expect(worker.said()).toContain("the connection to the fleet was lost");
      await outage.end();
      // It takes the run again like any other worker, and finds that it had begun.
      const { end, attempts } = await fleet.over(run, 60_000);
      expect([attempts, end]).toMatchObject([2, { outcome: "error", code: "TERMINATED" }]);
      const log = await fleet.log(run);
      const again = log.findIndex(({ entry }) => entry.type === "leased" && entry.attempt === 2);
      const before = log.slice(0, again).map(({ entry }) => (entry.type === "event" ? entry.event.type : entry.type));
      // What it would have said of the end of the call was not written.
      expect(before).toContain("tool_start");
      expect(before).not.toContain("tool_end");
      expect(before).not.toContain("result");
      expect(linesOf(effects)).toHaveLength(done);
    },
  );
});
