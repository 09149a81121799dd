// What an operator is told of a fleet: counts, ages, what lags, as an object and as Prometheus metrics.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Fleet, Overview, Queue, RunRecord } from "../../src/serve/fleet.ts";
import { fleetMetrics, fleetStatus, heldBack, labelText } from "../../src/serve/fleet-status.ts";

const now = 1_700_000_000_000;
const hour = 3_600_000;
beforeEach(() => void vi.spyOn(Date, "now").mockReturnValue(now));
afterEach(() => vi.restoreAllMocks());

const ended = (state: string, ago: number | undefined, attempts = 1) =>
  ({ state, attempts, ...(ago !== undefined && { endedAt: now - ago }) }) as RunRecord;
const open = (state: string, ago: number) => ({ state, createdAt: now - ago }) as RunRecord;

function fleetOf({
  over = [],
  going = [],
  asking = [],
  overview,
}: {
  over?: RunRecord[];
  going?: RunRecord[];
  asking?: string[];
  overview?: Partial<Overview>;
}) {
  const asked: unknown[] = [];
  const fleet = {
    async runs({ states, limit }: { states: string[]; limit: number }) {
      asked.push(limit);
      return [...over, ...going].filter(({ state }) => states.includes(state));
    },
    questions: async () => asking.map((run) => ({ run, at: 0, question: {} })),
    ...(overview && { overview: async () => overview }),
  } as unknown as Fleet;
  return { fleet, asked };
}

describe("the status of a fleet", () => {
  it("fleet status counts runs of the last hour by outcome, and what they lost", async () => {
    const over = [
      ended("finished", 0, 3),
      ended("finished", hour, 2),
      ended("finished", hour + 1, 9),
      ended("error", 5, 0),
      ended("cancelled", undefined, 7),
    ];
    const { fleet, asked } = fleetOf({ over, asking: ["a", "b", "a"] });
    const status = await fleetStatus(fleet);
    expect(status.ended).toEqual([
      { outcome: "finished", count: 2 },
      { outcome: "error", count: 1 },
      { outcome: "cancelled", count: 0 },
    ]);
    expect([status.takeovers, status.asking]).toEqual([3, 2]);
    expect(asked).toEqual([1000, 1000]);
  });

  it("fleet status of one machine shows one queue, and how long its oldest run has waited", async () => {
    const going = [open("queued", 4000), open("running", 60_000), open("queued", 9000)];
    const { queues, servers, workers, answerSeconds } = await fleetStatus(fleetOf({ going }).fleet);
    const queue = { pool: "default", priority: "normal", labels: {}, sender: "" };
    expect(queues).toEqual([{ ...queue, waiting: 2, running: 1, oldestSeconds: 9 }]);
    expect([servers, workers]).toEqual([[], []]);
    expect(answerSeconds).toBeGreaterThanOrEqual(0);
    expect(answerSeconds).toBeLessThan(10);
    for (const rest of [[open("running", 5)], [open("queued", -5)]])
      expect((await fleetStatus(fleetOf({ going: rest }).fleet)).queues[0]!.oldestSeconds).toBe(0);
  });

  const queue = (more: Partial<Queue>): Queue => ({
    ...{ pool: "default", priority: "normal", labels: {}, sender: "ann", waiting: 4, running: 1, oldestSeconds: 2.5 },
    ...more,
  });

  it("fleet status says why waiting runs are not taken, by sender and pool", async () => {
    const queues = [
      queue({ sender: "bob", heldBack: "bob's" }),
      queue({ heldBack: "full" }),
      queue({ pool: "gpu", heldBack: "gpu" }),
    ];
    const { fleet } = fleetOf({ overview: { queues } });
    const held = (sender: string | undefined, state: string, pool?: string) =>
      heldBack(fleet, { state, ...(sender && { sender }), spec: { placement: { pool } } } as unknown as RunRecord);
    expect(await held("ann", "queued")).toBe("full");
    expect(await held("ann", "queued", "gpu")).toBe("gpu");
    expect(await held("ann", "queued", "other")).toBeUndefined();
    expect(await held("eve", "queued")).toBeUndefined();
    expect(await held("ann", "running")).toBeUndefined();
    expect(await held(undefined, "queued")).toBeUndefined();
    expect(
      await heldBack(fleetOf({}).fleet, { state: "queued", sender: "ann", spec: {} } as RunRecord),
    ).toBeUndefined();
  });

  it("fleet metrics have a line for each queue, outcome and stream, and totals of the living workers", () => {
    const worker = { name: "w", pool: "default", version: "1", running: 1 };
    const text = fleetMetrics({
      servers: [],
      quota: {},
      queues: [queue({ labels: { os: "linux", gpu: "a" } }), queue({ sender: "bob", heldBack: "full", waiting: 7 })],
      workers: [
        { ...worker, concurrency: 2, seenSeconds: 0 },
        { ...worker, concurrency: 5, seenSeconds: 59.9 },
        { ...worker, concurrency: 100, seenSeconds: 60 },
      ],
      streams: [{ name: "log", messages: 1, bytes: 123, replicas: 3, behind: ["n2", "n3"] }],
      ended: [{ outcome: "finished", count: 6 }],
      takeovers: 8,
      asking: 9,
      answerSeconds: 0.25,
    });
    const values = Object.fromEntries(
      text
        .split("\n")
        .filter((line) => line && !line.startsWith("#"))
        .map((line) => [line.slice("courser_fleet_".length, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
    );
    const ann = '{pool="default",priority="normal",labels="gpu=a,os=linux",sender="ann"}';
    const bob = '{pool="default",priority="normal",labels="",sender="bob"}';
    expect(values).toEqual({
      [`runs_waiting${ann}`]: 4,
      [`runs_waiting${bob}`]: 7,
      [`oldest_waiting_seconds${ann}`]: 2.5,
      [`oldest_waiting_seconds${bob}`]: 2.5,
      [`runs_running${ann}`]: 1,
      [`runs_running${bob}`]: 1,
      [`runs_held_back${ann}`]: 0,
      [`runs_held_back${bob}`]: 7,
      runs_asking: 9,
      'runs_ended_last_hour{outcome="finished"}': 6,
      takeovers_last_hour: 8,
      workers: 2,
      worker_slots: 7,
      answer_seconds: 0.25,
      'stream_bytes{stream="log"}': 123,
      'stream_behind{stream="log"}': 2,
    });
    expect(text.match(/^# TYPE courser_fleet_\w+ gauge$/gm)).toHaveLength(12);
    expect(labelText({})).toBe("");
  });
});
