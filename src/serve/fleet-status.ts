// Reports the status of a fleet: its queue, its workers and recent results, for people and as Prometheus metrics.
import type { Fleet, Labels, Overview, Queue, RunRecord, StreamState } from "./fleet.ts";
import { type MetricRow, prometheusText } from "./worker/stats.ts";

export type FleetStatus = Overview & {
  /** The number of runs that ended in the last hour, by outcome. */
  ended: { outcome: string; count: number }[];
  /** How many times a worker was lost during the runs that ended in the last hour. */
  takeovers: number;
  /** The number of runs that wait for an answer from the user. */
  asking: number;
};

const hourMs = 3_600_000;
const maxRuns = 1000;
/** A worker counts as lost when it has not reported for this many seconds; it should report every 15 seconds. */
export const silentSeconds = 60;

export async function fleetStatus(fleet: Fleet): Promise<FleetStatus> {
  const [overview, ended, questions] = await Promise.all([
    fleet.overview?.() ?? overviewHere(fleet),
    fleet.runs({ states: ["finished", "error", "cancelled"], limit: maxRuns }),
    fleet.questions(),
  ]);
  const late = ended.filter(({ endedAt = 0 }) => endedAt >= Date.now() - hourMs);
  return {
    ...overview,
    ended: ["finished", "error", "cancelled"].map((outcome) => ({
      outcome,
      count: late.filter(({ state }) => state === outcome).length,
    })),
    takeovers: late.reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0),
    asking: new Set(questions.map(({ run }) => run)).size,
  };
}

/** Returns why a waiting run is not taken, if that is known. */
export async function heldBack(fleet: Fleet, { state, sender, spec }: RunRecord): Promise<string | undefined> {
  if (state !== "queued" || sender === undefined) return undefined;
  const { queues } = (await fleet.overview?.()) ?? { queues: [] };
  const pool = spec.placement?.pool ?? "default";
  return queues.find((queue) => queue.sender === sender && queue.pool === pool)?.heldBack;
}

/** Builds the overview of one machine's runs, which have neither servers nor worker pools. */
async function overviewHere(fleet: Fleet): Promise<Overview> {
  const asked = performance.now();
  const runs = await fleet.runs({ states: ["queued", "running"], limit: maxRuns });
  const answerSeconds = (performance.now() - asked) / 1000;
  const waiting = runs.filter(({ state }) => state === "queued");
  const since = Math.min(...waiting.map(({ createdAt }: RunRecord) => createdAt));
  const queue: Queue = {
    pool: "default",
    priority: "normal",
    labels: {},
    sender: "",
    waiting: waiting.length,
    running: runs.length - waiting.length,
    oldestSeconds: waiting.length === 0 ? 0 : Math.max(0, (Date.now() - since) / 1000),
  };
  return { servers: [], streams: [], queues: [queue], workers: [], quota: {}, answerSeconds };
}

export function fleetMetrics({ queues, workers, streams, ended, ...one }: FleetStatus): string {
  const living = workers.filter(({ seenSeconds }) => seenSeconds < silentSeconds);
  const slots = living.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const row = (name: string, help: string, values: MetricRow[3]): MetricRow => [
    `courser_fleet_${name}`,
    "gauge",
    help,
    values,
  ];
  const total = (name: string, help: string, value: number) => row(name, help, [[{}, value]]);
  const perQueue = (name: string, help: string, value: (queue: Queue) => number) =>
    row(
      name,
      help,
      queues.map((queue) => [queueLabels(queue), value(queue)] as const),
    );
  const perStream = (name: string, help: string, value: (stream: StreamState) => number) =>
    row(
      name,
      help,
      streams.map((stream) => [{ stream: stream.name }, value(stream)] as const),
    );
  const heldBackRuns = "Of those that wait, runs of senders that have as much as they may.";
  return prometheusText([
    perQueue("runs_waiting", "Runs that wait for a worker.", (queue) => queue.waiting),
    perQueue("oldest_waiting_seconds", "How long the oldest has waited.", (queue) => queue.oldestSeconds),
    perQueue("runs_running", "Runs that a worker has.", (queue) => queue.running),
    perQueue("runs_held_back", heldBackRuns, ({ heldBack, waiting }) => (heldBack === undefined ? 0 : waiting)),
    total("runs_asking", "Runs that wait for a person.", one.asking),
    row(
      "runs_ended_last_hour",
      "Runs that ended in the last hour, by outcome.",
      ended.map(({ outcome, count }) => [{ outcome }, count] as const),
    ),
    total("takeovers_last_hour", "Workers that were lost by these runs.", one.takeovers),
    total("workers", "Workers that were heard of in the last minute.", living.length),
    total("worker_slots", "Runs that these workers may carry out at once.", slots),
    total("answer_seconds", "How long a message took to be stored and read.", one.answerSeconds),
    perStream("stream_bytes", "Size of a stream.", (stream) => stream.bytes),
    perStream("stream_behind", "Replicas that are behind or away.", (stream) => stream.behind.length),
  ]);
}

function queueLabels({ pool, priority, labels, sender }: Queue): Labels {
  return { pool, priority, labels: labelText(labels), sender };
}

export function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.sort().join(",");
}
