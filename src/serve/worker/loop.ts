// Runs a worker: takes runs from the fleet, hosts a limited number at once, and leaves in an orderly way. It only makes outgoing
// connections. The agent of each run is a separate process, so that runs do not affect each other.
import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../../protocol/error-codes.ts";
import { programName } from "../../text/program-name.ts";
import { type Fleet, type Labels, type Lease, specVersion } from "../fleet.ts";
import type { HostedEnd, HostOptions } from "../host-run.ts";
import type { WorkerStats } from "./stats.ts";

export type WorkerOptions = Omit<HostOptions, "signal" | "leave"> & {
  name: string;
  pool?: string;
  labels: Labels;
  concurrency: number;
  /** Takes exactly one run, then ends. */
  singleUse: boolean;
  /** Leaves after being idle for this long. */
  idleMs?: number;
  leaseMs: number;
  /** How long runs may continue after the worker was told to leave. */
  graceMs: number;
  /** Stops taking new runs. */
  drain: AbortSignal;
  /** Gives back or ends the remaining runs at once. */
  end: AbortSignal;
  /** Called with a line for the operator about each event. */
  onLine(line: string): void;
};

/** The first and the longest pause between attempts to reach a lost fleet. */
const retryMs = { first: 500, most: 15_000 };

/** Returns how the last run ended, or undefined if there was none. */
export async function workLoop(
  fleet: Fleet,
  stats: WorkerStats,
  options: WorkerOptions,
): Promise<HostedEnd | undefined> {
  const running = new Set<Promise<void>>();
  const leave = leaveSignal(options, running);
  const failures = { count: 0 };
  const newer = new Set<string>();
  const onNewer = (run: string, version: number) => {
    if (newer.has(run)) return;
    newer.add(run);
    options.onLine(
      `${run} left to others: a newer version of this program sent it (record ${version}, this worker reads up to ${specVersion}). To update: ${programName()} update`,
    );
  };
  let last: HostedEnd | undefined;
  const host = async (lease: Lease) => {
    const began = performance.now();
    stats.begin();
    options.onLine(`${lease.run} taken`);
    const how = await carryOut(fleet, lease, options, leave.signal);
    const ms = performance.now() - began;
    stats.end(how, ms);
    last = how;
    options.onLine(`${lease.run} ${typeof how === "string" ? how : how.outcome} after ${(ms / 1000).toFixed(1)} s`);
  };
  try {
    while (!options.drain.aborted) {
      if (options.singleUse && stats.taken > 0) break;
      const isFull = running.size >= options.concurrency;
      const idle = !isFull && running.size === 0 ? options.idleMs : undefined;
      const lease = isFull
        ? await oneLess(running, options.drain)
        : await nextLease(fleet, stats, options, { idle, running, failures, onNewer });
      if (lease === "idle") break;
      if (!lease) continue;
      const hosting = host(lease).finally(() => running.delete(hosting));
      running.add(hosting);
    }
    stats.isTaking = false;
    if (running.size > 0 && options.drain.aborted) options.onLine(`leaving: ${running.size} running`);
    while (running.size > 0) await Promise.race(running);
    return last;
  } finally {
    stats.isTaking = false;
    leave.stop();
  }
}

/** Catches the errors of a run, so that they do not affect other runs. */
async function carryOut(fleet: Fleet, lease: Lease, options: WorkerOptions, leave: AbortSignal): Promise<HostedEnd> {
  try {
    const { program, configDir, disk, sandbox } = options;
    const place = { program, configDir, disk, ...(sandbox && { sandbox }) };
    const { hostRun } = await import("../host-run.ts"); // loaded late, so that a waiting worker stays small
    return await hostRun(fleet, lease, { ...place, signal: new AbortController().signal, leave });
  } catch (error) {
    options.onLine(`${lease.run} lost: ${(error as Error).message}`);
    return "lost";
  }
}

async function oneLess(running: ReadonlySet<Promise<void>>, drain: AbortSignal): Promise<undefined> {
  let stop = () => {};
  const draining = new Promise<void>((resolve) => {
    stop = resolve;
  });
  drain.addEventListener("abort", stop);
  await Promise.race([...running, draining]);
  drain.removeEventListener("abort", stop);
}

type Waiting = {
  idle: number | undefined;
  running: ReadonlySet<Promise<void>>;
  failures: { count: number };
  onNewer(run: string, version: number): void;
};

/** Waits for a lease. Returns `idle` if none came in time, and undefined if the caller should try again. */
async function nextLease(
  fleet: Fleet,
  stats: WorkerStats,
  options: WorkerOptions,
  { idle, running, failures, onNewer }: Waiting,
): Promise<Lease | "idle" | undefined> {
  const { name, pool, labels, leaseMs, drain } = options;
  const wait = new AbortController();
  const stop = () => wait.abort();
  drain.addEventListener("abort", stop, { once: true });
  const timer = idle === undefined ? undefined : setTimeout(stop, idle);
  // The idle time starts when the last run is over.
  if (options.idleMs !== undefined && running.size > 0) void Promise.allSettled(running).then(stop);
  try {
    const asked = fleet.lease({
      worker: name,
      ttlMs: leaseMs,
      labels,
      wait: wait.signal,
      onNewer,
      ...(pool !== undefined && { pool }),
    });
    stats.isTaking = true;
    const lease = await asked;
    failures.count = 0;
    return lease ?? (idle !== undefined && wait.signal.aborted && !drain.aborted ? "idle" : undefined);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // The fleet was reachable when the worker started, so retry with growing pauses.
    if (stats.isTaking || failures.count === 0) options.onLine(`The fleet cannot be reached: ${error.message}`);
    stats.isTaking = false;
    const waitMs = Math.min(retryMs.most, retryMs.first * 2 ** failures.count++);
    await sleep(waitMs * (0.5 + Math.random()), undefined, { signal: drain }).catch(() => {});
    return undefined;
  } finally {
    clearTimeout(timer);
    drain.removeEventListener("abort", stop);
  }
}

/** Aborted when the remaining runs must be given back or ended. */
function leaveSignal(
  { drain, end, graceMs }: WorkerOptions,
  running: ReadonlySet<unknown>,
): { signal: AbortSignal; stop(): void } {
  const leave = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const now = () => leave.abort();
  const later = () => {
    if (running.size > 0) timer = setTimeout(now, graceMs);
  };
  end.addEventListener("abort", now, { once: true });
  drain.addEventListener("abort", later, { once: true });
  return {
    signal: leave.signal,
    stop() {
      clearTimeout(timer);
      end.removeEventListener("abort", now);
      drain.removeEventListener("abort", later);
    },
  };
}
