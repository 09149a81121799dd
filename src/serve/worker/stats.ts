// Counts a worker's runs and formats the counters for Prometheus. Contains no data of the runs themselves.
import type { Labels, Presence } from "../fleet.ts";
import type { HostedEnd } from "../host-run.ts";

const endings = ["finished", "error", "cancelled", "given back", "lost"] as const;
export type Ending = (typeof endings)[number];

export type WorkerInfo = Omit<Presence, "running">;

export class WorkerStats {
  readonly info: WorkerInfo;
  taken = 0;
  running = 0;
  seconds = 0;
  isTaking = false;
  isReached = true;
  readonly #ended = new Map<Ending, number>();

  constructor(info: WorkerInfo) {
    this.info = info;
  }

  begin(): void {
    this.taken++;
    this.running++;
  }

  end(how: HostedEnd, durationMs: number): void {
    const ending = typeof how === "string" ? how : how.outcome;
    this.running--;
    this.seconds += durationMs / 1000;
    this.#ended.set(ending, this.ended(ending) + 1);
  }

  ended(ending: Ending): number {
    return this.#ended.get(ending) ?? 0;
  }

  get isReady(): boolean {
    return this.isTaking && this.isReached;
  }

  get endedAll(): number {
    return this.taken - this.running;
  }
}

export type MetricRow = [
  name: string,
  type: "counter" | "gauge",
  help: string,
  values: readonly (readonly [labels: Labels, value: number])[],
];

export function metricsText(stats: WorkerStats): string {
  const { name, pool, version, concurrency } = stats.info;
  const prefix = "courser_worker";
  const startedAt = Date.now() / 1000 - process.uptime();
  const rows: MetricRow[] = [
    [`${prefix}_info`, "gauge", "The worker.", [[{ name, pool, version }, 1]]],
    [`${prefix}_ready`, "gauge", "1 while the worker takes runs.", [[{}, Number(stats.isReady)]]],
    [`${prefix}_runs_taken_total`, "counter", "Runs that were taken.", [[{}, stats.taken]]],
    [
      `${prefix}_runs_ended_total`,
      "counter",
      "Runs that ended here, by outcome.",
      endings.map((ending) => [{ ending }, stats.ended(ending)]),
    ],
    [`${prefix}_leases_lost_total`, "counter", "Runs taken over by another worker.", [[{}, stats.ended("lost")]]],
    [`${prefix}_runs_running`, "gauge", "Runs in progress.", [[{}, stats.running]]],
    [`${prefix}_concurrency`, "gauge", "Maximum number of concurrent runs.", [[{}, concurrency]]],
    [`${prefix}_run_seconds_total`, "counter", "Time spent on ended runs.", [[{}, stats.seconds]]],
    ["process_resident_memory_bytes", "gauge", "Memory of this process.", [[{}, process.memoryUsage.rss()]]],
    ["process_start_time_seconds", "gauge", "Start time of this process.", [[{}, startedAt]]],
  ];
  return prometheusText(rows);
}

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

/** Formats metrics in the Prometheus text format, version 0.0.4. */
export function prometheusText(rows: readonly MetricRow[]): string {
  const lines = rows.flatMap(([name, type, help, values]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values.map(([labels, value]) => `${name}${labelsOf(labels)} ${Math.round(value * 1000) / 1000}`),
  ]);
  return `${lines.join("\n")}\n`;
}

function labelsOf(labels: Labels): string {
  const escaped = (value: string) => value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
