// Reports the status of a fleet: its queue, its workers and recent results, for people and as Prometheus metrics.
import type { Fleet, Overview, Queue, RunRecord } from "./fleet.ts";
import { type MetricRow, prometheusText } from "./worker/stats.ts";

export type FleetStatus = Overview & {
  /** Runs that ended in the last hour, by outcome. */
  ended: { outcome: string; count: number }[];
  /** How often those runs lost a worker. */
  takeovers: number;
  /** The number of runs that wait for a person. */
  asking: number;
};

const hourMs = 3_600_000;
const maxRuns = 1000;
/** A worker counts as gone after this long; it reports every 15 seconds. */
const silentSeconds = 60;

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
  const each = <Item>(items: readonly Item[], labels: (item: Item) => Labels, value: (item: Item) => number) =>
    items.map((item) => [labels(item), value(item)] as const);
  const row = (name: string, help: string, values: MetricRow[3] | number): MetricRow => [
    `courser_fleet_${name}`,
    "gauge",
    help,
    typeof values === "number" ? [[{}, values]] : values,
  ];
  const stream = ({ name }: { name: string }) => ({ stream: name });
  return prometheusText([
    row(
      "runs_waiting",
      "Runs that wait for a worker.",
      each(queues, queueLabels, ({ waiting }) => waiting),
    ),
    row(
      "oldest_waiting_seconds",
      "How long the oldest has waited.",
      each(queues, queueLabels, (of) => of.oldestSeconds),
    ),
    row(
      "runs_running",
      "Runs that a worker has.",
      each(queues, queueLabels, ({ running }) => running),
    ),
    row(
      "runs_held_back",
      "Of those that wait, runs of senders that have as much as they may.",
      each(queues, queueLabels, ({ heldBack, waiting }) => (heldBack === undefined ? 0 : waiting)),
    ),
    row("runs_asking", "Runs that wait for a person.", one.asking),
    row(
      "runs_ended_last_hour",
      "Runs that ended in the last hour, by outcome.",
      each(
        ended,
        ({ outcome }) => ({ outcome }),
        ({ count }) => count,
      ),
    ),
    row("takeovers_last_hour", "Workers that were lost by these runs.", one.takeovers),
    row("workers", "Workers that were heard of in the last minute.", living.length),
    row("worker_slots", "Runs that these workers may carry out at once.", slots),
    row("answer_seconds", "How long a message took to be stored and read.", one.answerSeconds),
    row(
      "stream_bytes",
      "Size of a stream.",
      each(streams, stream, ({ bytes }) => bytes),
    ),
    row(
      "stream_behind",
      "Replicas that are behind or away.",
      each(streams, stream, ({ behind }) => behind.length),
    ),
  ]);
}

type Labels = Readonly<Record<string, string>>;

function queueLabels({ pool, priority, labels, sender }: Queue): Labels {
  return { pool, priority, labels: labelText(labels), sender };
}

export function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.sort().join(",");
}
