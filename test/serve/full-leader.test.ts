// A server whose disk is full: in a cluster another one leads soon and has room, so a write waits for that; a single server has nobody.
import { expect, it } from "vitest";
import type { Connected } from "../../src/serve/engines/nats/connect.ts";
import { JetStream } from "../../src/serve/engines/nats/jetstream.ts";

it("a full disk at a NATS cluster's leader ends no run, and a full single server is reported at once", async () => {
  const asked: string[] = [];
  const serverOf = (cluster: string | undefined) => {
    const connected = {
      connection: {
        info: { cluster },
        isClosed: () => false,
        async *status() {},
        subscribe: () => ({}),
      },
      jetstream: {
        publish: async (subject: string) => {
          asked.push(subject);
          // What NATS 2.9 replies when the disk of the server that leads the stream is full.
          if (asked.length === 1) throw Object.assign(new Error("insufficient resources"), { code: 10023 });
          return { seq: 7, duplicate: false };
        },
      },
      packages: { transport: { headers: () => new Map() } },
      names: { subject: (stream: string) => stream, stream: () => "", streams: () => [] },
      where: "nats://a",
      onRefused: new Set(),
    } as unknown as Connected;
    return new JetStream(connected, { readersMs: 1000 });
  };
  expect(await serverOf("test").publish("log", "run", "{}")).toBe(7);
  expect(asked).toEqual(["log", "log"]);
  asked.length = 0;
  await expect(serverOf(undefined).publish("log", "run", "{}")).rejects.toMatchObject({ code: "FLEET_FULL" });
  expect(asked).toEqual(["log"]);
});
