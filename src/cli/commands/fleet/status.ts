// `fleet status`: prints the queue, the workers and the streams as text, JSON or Prometheus metrics.
import { hasLabels, type Queue } from "../../../serve/fleet.ts";
import { type FleetStatus, fleetMetrics, fleetStatus, labelText, silentSeconds } from "../../../serve/fleet-status.ts";
import { programName } from "../../../text/program-name.ts";
import { visible } from "../../../text/visible.ts";
import { byteSize, duration } from "../../../view/numbers.ts";
import type { Invocation } from "../../main.ts";
import { tableLines } from "../../table.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { withAdmin } from "./context.ts";

export function showStatus(invocation: Invocation): Promise<number> {
  return withAdmin(invocation, async (fleet) => {
    const status = await fleetStatus(fleet);
    if (invocation.line.flags.has("metrics")) return answer(fleetMetrics(status));
    if (wantsJson(invocation)) return answerJson(status);
    return answer(`${statusLines(status).join("\n")}\n`);
  });
}

function statusLines({ servers, streams, queues, workers, ended, takeovers, asking }: FleetStatus): string[] {
  const sum = (value: (queue: Queue) => number) => queues.reduce((total, queue) => total + value(queue), 0);
  const lost = takeovers > 0 ? `, ${takeovers} taken over` : "";
  const outcomes = ended.map(({ outcome, count }) => `${count} ${outcome}`).join(", ");
  return [
    `${sum(({ waiting }) => waiting)} waiting, ${sum(({ running }) => running)} running, ${asking} waiting for a person. Last hour: ${outcomes}${lost}.`,
    ...(servers.length > 0 ? [`Servers: ${servers.join(", ")}`] : []),
    "",
    ...formatTable(
      ["POOL", "PRIORITY", "LABELS", "SENDER", "WAITING", "RUNNING", "OLDEST"],
      queues.map((queue) => [
        queue.pool,
        queue.priority,
        labelText(queue.labels),
        queue.sender,
        String(queue.waiting),
        String(queue.running),
        queue.waiting > 0 ? duration(queue.oldestSeconds * 1000) : "",
      ]),
    ),
    ...queues.flatMap(({ heldBack, waiting }) => (heldBack && waiting > 0 ? [visible(`Held back: ${heldBack}.`)] : [])),
    ...queues.flatMap((queue) => unservedLine(queue, workers)),
    "",
    ...formatTable(
      ["WORKER", "POOL", "LABELS", "VERSION", "LOAD", "SEEN"],
      workers.map(({ name, pool, labels = {}, version, running, concurrency, seenSeconds }) => [
        name,
        pool,
        labelText(labels),
        version,
        `${running}/${concurrency}`,
        `${duration(seenSeconds * 1000)} ago`,
      ]),
    ),
    "",
    ...formatTable(
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

function unservedLine({ waiting, pool, labels }: Queue, workers: FleetStatus["workers"]): string[] {
  const living = workers.filter((worker) => worker.seenSeconds < silentSeconds && worker.pool === pool);
  if (waiting === 0 || living.some((worker) => hasLabels(worker.labels ?? labels, labels))) return [];
  const start = [
    `${programName()} worker start --pool ${pool}`,
    ...Object.entries(labels).map((pair) => pair.join("=")),
  ];
  return [visible(`No worker serves what waits in pool ${pool}. To start one: ${start.join(" --label ")}`)];
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [`No ${head[0]!.toLowerCase()}s.`];
  return tableLines([head, ...rows.map((row) => row.map(visible))]);
}
