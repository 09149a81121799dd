// A fleet does not grow for ever: what is too old goes, a full one refuses new runs and ends none, and its store can be copied and restored.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { describe, expect, it } from "vitest";
import type { Lease } from "../../src/serve/fleet.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { createWorkspace } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { newRun } from "./fleet-kit.ts";

const open = (url: string) => openFleet(url, { configDir: "/nowhere", env: {} });
const ended = { outcome: "finished", text: "done", durationMs: 1, turns: 1 } as const;

describe.skipIf(noNatsServer)(orSkipped("a fleet has limits", noNatsServer), () => {
  it("a nearly full fleet refuses new runs with an explanation, and ends none", { timeout: 30_000 }, async () => {
    const account = "A: { jetstream: { max_file: 4MB }, users: [{ user: a, password: b }] }";
    const system = "S: { users: [{ user: s, password: s }] }";
    const server = await NatsServer.start({ config: `accounts { ${account}, ${system} }\nsystem_account: S` });
    const fleet = await open(`nats://a:b@${server.address}`);
    try {
      await fleet.enqueue(newRun(0));
      const lease = (await fleet.lease({ worker: "w", ttlMs: 15_000, wait: AbortSignal.timeout(10_000) }))!;
      await fleet.put("run-0", "archive", pieces(39));
      let tried = 0;
      await expect
        .poll(
          () =>
            fleet.enqueue(newRun(++tried)).then(
              () => "taken",
              (error: Error) => error,
            ),
          { timeout: 8000 },
        )
        .toMatchObject({ code: "FLEET_FULL", message: expect.stringContaining("fleet limits --keep-days") });
      const entry = { type: "event", event: { type: "text_end", text: "x".repeat(1000) } } as const;
      const position = await fleet.append(lease, [entry], lease.position);
      expect(await fleet.finish(lease, ended, position, 0)).toBe(true);
      expect(await fleet.run("run-0")).toMatchObject({ state: "finished" });
    } finally {
      fleet.close();
      await server.remove();
    }
  });

  it("an operator can set limits of a fleet, and a run whose log was pruned blocks nobody", {
    timeout: 30_000,
  }, async () => {
    const server = await NatsServer.start();
    const place = createWorkspace();
    const fleet = await open(server.url());
    try {
      const env = { COURSER_FLEET: server.url() };
      const set = await place.run(["fleet", "limits", "--keep-days", "2", "--max-size", "0.5"], { env });
      expect(set.stdout).toMatch(/courser_log: 1 copy, kept for 2 days, at most 500/);
      expect(set.stdout).toMatch(/KV_courser_runs: 1 copy, kept for 2 days\n/);
      expect(set.stdout).toMatch(/courser_work: 1 copy, kept until removed/);
      await fleet.enqueue(newRun(0));
      const lease = (await fleet.lease({ worker: "w", ttlMs: 15_000, wait: AbortSignal.timeout(10_000) }))!;
      expect(await fleet.finish(lease, ended, lease.position, 0)).toBe(true);
      await fleet.enqueue(newRun(1));
      const raw = await connect({ servers: server.address });
      await (await jetstreamManager(raw)).streams.purge("courser_log"); // as its age does
      await raw.close();
      expect(await fleet.run("run-0")).toBeUndefined();
      expect((await fleet.runs()).map(({ id }) => id)).toEqual(["run-1"]);
      expect(await fleet.agent(newRun(0).agent)).toMatchObject({ isBusy: false });
    } finally {
      fleet.close();
      place.remove();
      await server.remove();
    }
  });

  it("a fleet limits a sender's runs in number and cost, and lets senders take turns", {
    timeout: 60_000,
  }, async () => {
    const server = await NatsServer.start();
    const place = createWorkspace();
    const env = { COURSER_FLEET: server.url() };
    const by = (sender: string) => openFleet(server.url(), { configDir: "/nowhere", env: { USER: sender } });
    const [ann, bob, worker] = [await by("ann"), await by("bob"), await open(server.url())];
    const take = (ms = 3000) => worker.lease({ worker: "w", ttlMs: 60_000, wait: AbortSignal.timeout(ms) });
    const end = async (lease: Lease, costUsd = 0) =>
      expect(await worker.finish(lease, { ...ended, costUsd }, lease.position, 0)).toBe(true);
    try {
      const set = await place.run(["fleet", "limits", "--runs-per-sender", "2"], { env });
      expect(set.stdout).toMatch(/each sender: at most 2 runs at once in a pool, at any cost\n$/);
      for (let number = 0; number < 6; number++) await ann.enqueue(newRun(number));
      for (const number of [6, 7]) await bob.enqueue(newRun(number));
      // Workers that look at the same moment do not take more between them.
      const taken = (await Promise.all([take(), take(), take(), take(), take(), take()])).flatMap((each) => each ?? []);
      const senders = await Promise.all(taken.map(async ({ run }) => (await worker.run(run))!.sender));
      expect(senders.sort()).toEqual(["ann", "ann", "bob", "bob"]);
      const waits = "ann has 2 runs in pool default at once, and 2 is the most";
      const { stdout } = await place.run(["fleet", "status"], { env });
      expect(stdout).toContain(`Held back: ${waits}.`);
      expect(stdout).toContain("No worker serves what waits in pool default. To start one: ");
      await worker.present!({ name: "w", pool: "default", version: "1", concurrency: 6, running: 4 });
      const queued = (await ann.runs({ states: ["queued"] }))[0]!;
      expect((await place.run(["runs", "show", queued.id], { env })).stdout).toContain(`waits      ${waits}`);
      // Another place becomes free, and no more than that.
      await end(taken.find(({ run }) => Number(run.slice(4)) < 6)!, 0.75);
      const next = (await take())!;
      expect((await worker.run(next.run))!.sender).toBe("ann");
      expect(await take(1500)).toBeUndefined();

      await place.run(["fleet", "limits", "--runs-per-sender", "0", "--cost-per-sender", "1"], { env });
      await new Promise((resolve) => setTimeout(resolve, 5000)); // as long as workers believe what they know
      await end(next, 0.5);
      expect(await take(1500)).toBeUndefined();
      const spent = "the runs of ann have cost $1.25 today, and $1 a day is the most";
      const later = await place.run(["fleet", "status"], { env });
      expect(later.stdout).toContain(`Held back: ${spent}.`);
      expect(later.stdout).not.toContain("No worker serves");
      await place.run(["fleet", "limits", "--cost-per-sender", "0"], { env });
      expect(await take(10_000)).toBeDefined();
    } finally {
      for (const fleet of [ann, bob, worker]) fleet.close();
      place.remove();
      await server.remove();
    }
  });

  it("the store of a stopped fleet server can be copied and continues elsewhere", { timeout: 30_000 }, async () => {
    const server = await NatsServer.start();
    const fleet = await open(server.url());
    await fleet.enqueue(newRun(0));
    await fleet.enqueue(newRun(1));
    const first = (await fleet.lease({ worker: "w", ttlMs: 15_000, wait: AbortSignal.timeout(10_000) }))!;
    await fleet.put(first.run, "patch", pieces(3));
    expect(await fleet.finish(first, ended, first.position, 0)).toBe(true);
    fleet.close();
    await server.kill("SIGTERM");
    const other = new NatsServer();
    other.port = server.port;
    cpSync(join(server.folder, "store"), join(other.folder, "store"), { recursive: true });
    await other.start();
    const restored = await open(other.url());
    try {
      expect(await restored.run(first.run)).toMatchObject({ state: "finished", end: ended });
      let size = 0;
      for await (const piece of (await restored.get(first.run, "patch"))!) size += piece.length;
      expect(size).toBe(300_000);
      const second = (await restored.lease({ worker: "w", ttlMs: 15_000, wait: AbortSignal.timeout(20_000) }))!;
      expect(second.run).not.toBe(first.run);
      expect(await restored.finish(second, ended, second.position, 0)).toBe(true);
    } finally {
      restored.close();
      await other.remove();
      await server.remove();
    }
  });
});

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < count; piece++) yield Buffer.alloc(100_000, piece);
}
