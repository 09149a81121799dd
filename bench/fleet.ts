// A fleet on a real NATS server on loopback: what it adds to an event and to the start of a run, and how much goes through it.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet, Lease, NewRun } from "../src/serve/fleet.ts";
import { openFleet } from "../src/serve/open-fleet.ts";
import { NatsServer, noNatsServer } from "../test/support/nats-server.ts";

export type FleetFigures = {
  /** From the call that appends an event until a reader has it, milliseconds: the 95th of 100. */
  eventMs: number;
  /** From the call that enqueues a run until a worker that waited has it. */
  startMs: number;
  /** Events a second that were written while 20 readers followed each run. */
  rate: number;
  /** Of the readers, the share that got every event, in order, once. */
  whole: number;
  /** The 95th of 100 while so many are written. */
  busyMs: number;
  /** What an event takes on the disk of the server, and a run with ten of them. */
  eventBytes: number;
  runBytes: number;
  serverMb: number;
};

const home = { configDir: "/nowhere", env: {} };
const ttlMs = 60_000;

/** Undefined: there is no server here. */
export async function fleetFigures(rounds: number): Promise<FleetFigures | undefined> {
  if (noNatsServer) return undefined;
  const server = await NatsServer.start();
  const open = (prefix = "courser") => openFleet(server.url(prefix), home);
  const [writer, worker, ...readers] = await Promise.all(Array.from({ length: 22 }, () => open()));
  try {
    const eventMs = await eventTimes(writer!, readers[0]!, rounds * 20);
    const startMs = await startTimes(writer!, worker!, rounds * 2);
    const sizes = await bytesOf(server);
    const busy = await through(writer!, readers);
    const serverMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;
    return { eventMs, startMs, ...busy, ...sizes, serverMb };
  } finally {
    for (const fleet of [writer!, worker!, ...readers]) fleet.close();
    await server.remove();
  }
}

let made = 0;

function freshRun(): NewRun {
  const number = made++;
  const prompt = { text: "Add a test for the parser of dates, run it, and say what you changed and why." };
  return {
    id: `run-${number}`,
    agent: `agent-${number}`,
    spec: { cli: "courser", request: { workspace: "/w" }, prompt },
  };
}

async function hosted(fleet: Fleet): Promise<Lease> {
  await fleet.enqueue(freshRun());
  return (await fleet.lease({ worker: "bench", ttlMs, wait: AbortSignal.timeout(ttlMs) }))!;
}

function event(text: string) {
  return { type: "event" as const, event: { type: "text" as const, text } };
}

async function eventTimes(writer: Fleet, reader: Fleet, count: number): Promise<number> {
  const lease = await hosted(writer);
  const sentAt: number[] = [];
  const times: number[] = [];
  const following = follow(reader, lease.run, (number) => times.push(performance.now() - sentAt[number]!));
  await sleep(100);
  let position = lease.position;
  for (let number = 0; number < count; number++) {
    sentAt.push(performance.now());
    position = await writer.append(lease, [event(String(number))], position);
    await sleep(5);
  }
  await end(writer, lease, position);
  await following;
  return p95(times);
}

async function startTimes(front: Fleet, worker: Fleet, count: number): Promise<number> {
  const stop = new AbortController();
  const times: number[] = [];
  for (let number = 0; number < count; number++) {
    const waiting = worker.lease({ worker: "bench", ttlMs, wait: stop.signal });
    await sleep(20);
    const startedAt = performance.now();
    void front.enqueue(freshRun());
    const lease = (await waiting)!;
    times.push(performance.now() - startedAt);
    await end(worker, lease, lease.position);
  }
  return p95(times);
}

/** 10 runs with 20 readers each, all with connections of their own; 500 events a second for three seconds. */
async function through(
  writer: Fleet,
  connections: readonly Fleet[],
): Promise<{ rate: number; whole: number; busyMs: number }> {
  const runs = 10;
  const each = 150;
  const leases: Lease[] = [];
  for (let number = 0; number < runs; number++) leases.push(await hosted(writer));
  const times: number[] = [];
  const sentAt = new Map<string, number>();
  const readers = leases.flatMap(({ run }) =>
    connections.map((reader) =>
      follow(reader, run, (number) => times.push(performance.now() - sentAt.get(`${run} ${number}`)!)),
    ),
  );
  await sleep(300);
  const startedAt = performance.now();
  await Promise.all(
    leases.map(async (lease, index) => {
      let position = lease.position;
      for (let number = 0; number < each; number++) {
        const due = startedAt + number * 20 + index * 2;
        if (due > performance.now()) await sleep(due - performance.now());
        sentAt.set(`${lease.run} ${number}`, performance.now());
        position = await writer.append(lease, [event(String(number))], position);
      }
      await end(writer, lease, position);
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const expected = Array.from({ length: each }, (_, number) => String(number)).join(" ");
  const whole = (await Promise.all(readers)).filter((read) => read === expected).length / readers.length;
  return { rate: (runs * each) / seconds, whole, busyMs: p95(times) };
}

/** What a run of ten events leaves on the disk, and what one event of it does: of the size that real ones have. */
async function bytesOf(server: NatsServer): Promise<{ eventBytes: number; runBytes: number }> {
  const fleet = await openFleet(server.url("sizes"), home);
  const runs = 100;
  const text = "x".repeat(400);
  const before = folderBytes(server.folder);
  let emptyBytes = 0;
  for (const events of [0, 10]) {
    for (let number = 0; number < runs; number++) {
      const lease = await hosted(fleet);
      let position = lease.position;
      for (let index = 0; index < events; index++) position = await fleet.append(lease, [event(text)], position);
      await end(fleet, lease, position);
    }
    if (events === 0) emptyBytes = (folderBytes(server.folder) - before) / runs;
  }
  fleet.close();
  const runBytes = (folderBytes(server.folder) - before) / runs - emptyBytes;
  return { runBytes, eventBytes: (runBytes - emptyBytes) / 10 };
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".blk"))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** What was read comes back. */
async function follow(fleet: Fleet, run: string, onEvent: (number: number) => void): Promise<string> {
  const read: string[] = [];
  for await (const { entry } of fleet.follow(run, 0, new AbortController().signal)) {
    if (entry.type !== "event" || entry.event.type !== "text") continue;
    read.push(entry.event.text);
    onEvent(Number(entry.event.text));
  }
  return read.join(" ");
}

async function end(fleet: Fleet, lease: Lease, position: number): Promise<void> {
  await fleet.finish(lease, { outcome: "finished", text: "ok", durationMs: 1, turns: 1 }, position, 0);
}

function p95(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.95)]!;
}
