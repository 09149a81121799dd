// `fleet status`: the queue, the workers and the streams, for people, programs and Prometheus.
import { endedSince, type Overview } from "../../../serve/engines/nats/overview.ts";
import type { Fleet } from "../../../serve/fleet.ts";
import { type MetricRow, prometheusText } from "../../../serve/worker/stats.ts";
import { visible } from "../../../text/visible.ts";
import { padded, widthOf } from "../../../text/width.ts";
import { byteSize, duration } from "../../../view/numbers.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { withAdmin } from "./context.ts";

type Status = Overview & ReturnType<typeof endedSince> & { asking: number };

const hourMs = 3_600_000;
const mostEnded = 1000;
/** A worker says that it is there every 15 seconds. */
const silentSeconds = 60;

export function showStatus(invocation: Invocation): Promise<number> {
  return withAdmin(invocation, async (admin, fleet) => {
    const status = { ...(await admin.overview()), ...(await lately(fleet)) };
    if (invocation.line.flags.has("metrics")) return answer(prometheusText(metricRows(status)));
    if (wantsJson(invocation)) return answerJson(status);
    return answer(`${statusLines(status).join("\n")}\n`);
  });
}

async function lately(fleet: Fleet): Promise<Pick<Status, "ended" | "takeovers" | "asking">> {
  const [runs, questions] = await Promise.all([
    fleet.runs({ states: ["finished", "error", "cancelled"], limit: mostEnded }),
    fleet.questions(),
  ]);
  return { ...endedSince(runs, Date.now() - hourMs), asking: new Set(questions.map(({ run }) => run)).size };
}

function metricRows({ queues, workers, streams, ended, takeovers, asking, answerSeconds }: Status): MetricRow[] {
  const prefix = "courser_fleet";
  const lanes = (value: (queue: Overview["queues"][number]) => number) =>
    queues.map((queue) => [laneLabels(queue), value(queue)] as const);
  const perStream = (value: (stream: Overview["streams"][number]) => number) =>
    streams.map((stream) => [{ stream: stream.name }, value(stream)] as const);
  const living = workers.filter(({ seenSeconds }) => seenSeconds < silentSeconds);
  return [
    [`${prefix}_runs_waiting`, "gauge", "Runs that wait for a worker.", lanes(({ waiting }) => waiting)],
    [
      `${prefix}_oldest_waiting_seconds`,
      "gauge",
      "How long the oldest has waited.",
      lanes((each) => each.oldestSeconds),
    ],
    [`${prefix}_runs_running`, "gauge", "Runs that a worker has.", lanes(({ running }) => running)],
    [`${prefix}_runs_asking`, "gauge", "Runs that wait for a person.", [[{}, asking]]],
    [
      `${prefix}_runs_ended_last_hour`,
      "gauge",
      "Runs that ended in the last hour, by outcome.",
      ended.map(({ outcome, count }) => [{ outcome }, count] as const),
    ],
    [`${prefix}_takeovers_last_hour`, "gauge", "Workers that were lost by these runs.", [[{}, takeovers]]],
    [`${prefix}_workers`, "gauge", "Workers that were heard of in the last minute.", [[{}, living.length]]],
    [
      `${prefix}_worker_slots`,
      "gauge",
      "Runs that these workers may carry out at once.",
      [[{}, living.reduce((sum, { concurrency }) => sum + concurrency, 0)]],
    ],
    [`${prefix}_answer_seconds`, "gauge", "How long a message took to be stored and read.", [[{}, answerSeconds]]],
    [`${prefix}_stream_bytes`, "gauge", "Size of a stream.", perStream(({ bytes }) => bytes)],
    [`${prefix}_stream_behind`, "gauge", "Replicas that are behind or away.", perStream(({ behind }) => behind.length)],
  ];
}

function laneLabels({ pool, priority, labels }: Overview["queues"][number]): Record<string, string> {
  return { pool, priority, labels: labelText(labels) };
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.sort().join(",");
}

function statusLines({ servers, streams, queues, workers, ended, takeovers, asking }: Status): string[] {
  const sum = (value: (queue: Overview["queues"][number]) => number) =>
    queues.reduce((total, queue) => total + value(queue), 0);
  const lost = takeovers > 0 ? `, ${takeovers} taken over` : "";
  const outcomes = ended.map(({ outcome, count }) => `${count} ${outcome}`).join(", ");
  return [
    `${sum(({ waiting }) => waiting)} waiting, ${sum(({ running }) => running)} running, ${asking} waiting for a person. Last hour: ${outcomes}${lost}.`,
    ...(servers.length > 0 ? [`Servers: ${servers.join(", ")}`] : []),
    "",
    ...table(
      ["POOL", "PRIORITY", "LABELS", "WAITING", "RUNNING", "OLDEST"],
      queues.map((queue) => [
        queue.pool,
        queue.priority,
        labelText(queue.labels),
        String(queue.waiting),
        String(queue.running),
        queue.waiting > 0 ? duration(queue.oldestSeconds * 1000) : "",
      ]),
    ),
    "",
    ...table(
      ["WORKER", "POOL", "VERSION", "LOAD", "SEEN"],
      workers.map(({ name, pool, version, running, concurrency, seenSeconds }) => [
        name,
        pool,
        version,
        `${running}/${concurrency}`,
        `${duration(seenSeconds * 1000)} ago`,
      ]),
    ),
    "",
    ...table(
      ["STREAM", "MESSAGES", "SIZE", "COPIES", "LEADER", "BEHIND"],
      streams.map(({ name, messages, bytes, replicas, leader = "", behind }) => [
        name,
        String(messages),
        byteSize(bytes),
        String(replicas),
        leader,
        behind.join(", "),
      ]),
    ),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [`No ${head[0]!.toLowerCase()}s.`];
  const all = [head, ...rows.map((row) => row.map(visible))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column]!))));
  return all.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}
