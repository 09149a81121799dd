// The fleet on a NATS server: what every engine must do.
import { afterAll, beforeAll, describe } from "vitest";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { orSkipped } from "../support/skipping.ts";
import { fleetKit } from "./fleet-kit.ts";

describe.skipIf(noNatsServer)(orSkipped("nats", noNatsServer), () => {
  let server: NatsServer;
  let fleets = 0;
  beforeAll(async () => {
    server = await NatsServer.start();
  }, 30_000);
  afterAll(() => server?.remove());

  fleetKit("nats", async () => {
    const url = server.url(`kit-${fleets++}`);
    return {
      connect: () => openFleet(url, { configDir: "/nowhere", env: {} }),
      address: { url, configDir: "/nowhere" },
      remove: async () => {},
    };
  });
});
