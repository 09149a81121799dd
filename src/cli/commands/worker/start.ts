// `worker start`: executes runs of a fleet on this machine until it is told to stop. It has no terminal; the output of a run
// goes into the run's log.
import { exitCodeOf, usageError } from "../../../protocol/error-codes.ts";
import type { Fleet, RunEnd } from "../../../serve/fleet.ts";
import { leaseMs, leaseOf, startHostsUnserved } from "../../../serve/launcher.ts";
import { workLoop } from "../../../serve/worker/loop.ts";
import type { WorkerPlace } from "../../../serve/worker/prepare-run.ts";
import { cacheIn, sweepFolders } from "../../../serve/worker/run-folders.ts";
import { WorkerStats } from "../../../serve/worker/stats.ts";
import { trimRepositories } from "../../../worktrees/kept-repositories.ts";
import { flagText } from "../../flags.ts";
import { endSoon } from "../../fleet-watch.ts";
import type { Invocation } from "../../main.ts";
import { handleShutdown } from "../../shutdown.ts";
import { writeStderr } from "../../stdout.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { launchOf, withFleet } from "../runs/context.ts";
import { type WorkerSettings, workerSettings } from "./settings.ts";

export async function startWorker(invocation: Invocation): Promise<number> {
  const { flags } = invocation.line;
  const settings = workerSettings(invocation);
  const address = flagText(flags, "management-addr");
  const management = address === undefined ? undefined : (await managing()).managementAddress(address);
  const lease = flagText(flags, "lease");
  if (lease !== undefined) return withFleet(invocation, (fleet) => hostOne(fleet, lease, settings, invocation));
  // Keep the young generation small, since a worker mostly waits.
  process.getBuiltinModule("node:v8").setFlagsFromString("--semi-space-growth-factor=1");
  refuseAgents(invocation, "what this machine carries out");
  const place = { ...workerPlace(settings, invocation), ...(await sandboxHere(invocation)) };
  return withFleet(
    invocation,
    (fleet, gone) => workUntilToldToLeave(fleet, { settings, place, management, invocation, gone }),
    { isServer: true },
  );
}

const managing = () => import("../../../serve/worker/management.ts"); // late, because it loads a web server

function workerPlace({ dataDir, keepFailed, cacheLimits }: WorkerSettings, invocation: Invocation): WorkerPlace {
  const { configDir, env } = launchOf(invocation);
  return { configDir, disk: { dataDir, env, keepFailed, cacheLimits } };
}

/** Returns the sandbox for runs. It is empty if this machine's owner has disabled the sandbox. */
async function sandboxHere(invocation: Invocation): Promise<Pick<WorkerPlace, "sandbox">> {
  const [{ sandboxState }, { contextOf }] = await Promise.all([
    import("../doctor/sandbox-state.ts"),
    import("../doctor/context.ts"),
  ]);
  const { mode, fault } = await sandboxState(contextOf(invocation));
  if (mode === "disabled") return {};
  return { sandbox: fault ? "refused" : "enabled" };
}

type Working = {
  settings: WorkerSettings;
  place: WorkerPlace;
  management: { host: string; port: number } | undefined;
  invocation: Invocation;
  /** Aborted when the fleet could not be reached for too long. */
  gone: AbortSignal;
};

async function workUntilToldToLeave(
  fleet: Fleet,
  { settings, place, management, invocation, gone }: Working,
): Promise<number> {
  const { name, pool = "default", labels, concurrency, singleUse } = settings;
  const stats = new WorkerStats({ name, pool, labels, version: invocation.version, concurrency });
  const printStatus = (line: string) => writeStderr(`${new Date().toISOString()} ${line}\n`);
  await fleet.waiting(); // fail at the start if the fleet cannot be reached
  const listening = management && (await (await managing()).listenForManagement(management, stats));
  const signals = watchSignals(printStatus, { gone, isStuck: () => !stats.isReached || stats.running === 0 });
  await tidyUp(settings, place, printStatus);
  fleet.onReach((isReached) => {
    stats.isReached = isReached;
    if (!signals.drain.aborted)
      printStatus(isReached ? "the fleet is reached again" : "the connection to the fleet was lost");
  });
  const at = listening ? `, http://${listening.host}:${listening.port}/metrics` : "";
  printStatus(`worker ${name}: pool ${pool}, ${concurrency} at once${at}`);
  forgetFleet(invocation.env);
  const regular = keepUp(fleet, stats);
  try {
    const { program } = launchOf(invocation);
    const last = await workLoop(fleet, stats, {
      ...settings,
      leaseMs: settings.leaseMs ?? leaseMs,
      ...place,
      program,
      ...signals,
      onLine: printStatus,
    });
    if (!singleUse) printStatus(`worker ${name}: ${stats.endedAll} runs, leaving`);
    gone.throwIfAborted();
    return singleUse && typeof last === "object" ? exitOf(last) : singleUse && last === "lost" ? 1 : 0;
  } finally {
    for (const timer of regular) clearInterval(timer);
    await listening?.close();
  }
}

/** How many milliseconds the logs of ended runs are kept. */
const keptMs = 30 * 24 * 3_600_000;
const pruneMs = 3_600_000;
const presentMs = 15_000;

/** Announces this worker to the fleet, and prunes expired runs. A failure is ignored, because another worker will do it. */
function keepUp(fleet: Fleet, stats: WorkerStats): NodeJS.Timeout[] {
  const present = () => void fleet.present?.({ ...stats.info, running: stats.running }).catch(() => {});
  const prune = () => void fleet.prune(Date.now() - keptMs).catch(() => {});
  present();
  return [setInterval(present, presentMs), setInterval(prune, pruneMs * (0.5 + Math.random()))].map((timer) =>
    timer.unref(),
  );
}

/** Removes what killed workers left behind, and expired repositories from the cache. */
async function tidyUp(
  { dataDir, cacheLimits }: WorkerSettings,
  { configDir }: WorkerPlace,
  say: (line: string) => void,
): Promise<void> {
  const swept = sweepFolders(dataDir, configDir);
  if (swept > 0) say(`removed what ${swept} ${swept === 1 ? "run" : "runs"} of killed workers left`);
  const { removed, bytes } = await trimRepositories(cacheIn(dataDir), cacheLimits);
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  if (removed > 0) say(`removed ${removed} kept ${removed === 1 ? "repository" : "repositories"}, ${size}`);
}

/** Removes the fleet's address from the environment: an agent that knew it could start runs and answer questions. */
function forgetFleet(env: NodeJS.ProcessEnv): void {
  for (const each of [env, process.env])
    for (const name of Object.keys(each)) if (name.startsWith("COURSER_FLEET")) delete each[name];
}

/** Returns the exit code of a worker for a single run, which is the one that the run itself would have had. */
function exitOf({ outcome, code = "INTERNAL" }: RunEnd): number {
  if (outcome === "finished") return 0;
  return exitCodeOf(code as Parameters<typeof exitCodeOf>[0]) || 1;
}

type SignalOptions = { gone: AbortSignal; isStuck(): boolean };

/**
 * Handles signals: the first lets no more runs start, the second ends the current ones. What still stalls is killed. If the fleet cannot
 * be reached, the runs are ended at once.
 */
function watchSignals(
  say: (line: string) => void,
  { gone, isStuck }: SignalOptions,
): { drain: AbortSignal; end: AbortSignal } {
  const drain = new AbortController();
  const end = new AbortController();
  const logChange = (name: string) => {
    if (drain.signal.aborted) {
      say(`${name} again: ending what runs`);
      setTimeout(() => process.exit(exitCodeOf("TERMINATED")), maxEndMs).unref();
      end.abort();
    } else if (isStuck()) {
      endSoon("TERMINATED");
      end.abort();
    } else say(`${name}: no more runs are taken; once more to end those that run`);
    drain.abort();
  };
  gone.addEventListener("abort", () => {
    end.abort();
    drain.abort();
  });
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => logChange(name));
  return { drain: drain.signal, end: end.signal };
}

const maxEndMs = 12_000;

/** Hosts one run whose lease is already taken, as the service starts it. */
async function hostOne(fleet: Fleet, given: string, settings: WorkerSettings, invocation: Invocation): Promise<number> {
  const lease = leaseOf(given);
  if (!lease) throw usageError(`--lease '${given}' is not a lease.`);
  const launch = launchOf(invocation);
  const { hostRun } = await import("../../../serve/host-run.ts");
  const { runHere } = await import("./run-here.ts");
  const abort = new AbortController();
  const { maxTimeMs } = (await fleet.run(lease.run))?.spec.request.limits ?? {};
  const watch = handleShutdown(abort, { env: invocation.env, watchedMs: maxTimeMs });
  try {
    const place = workerPlace(settings, invocation);
    await hostRun(fleet, lease, {
      ...place,
      program: launch.program,
      signal: abort.signal,
      openHere: (request, host) => runHere(request, host, invocation),
    });
    await startHostsUnserved(fleet, launch);
  } finally {
    watch.stop();
  }
  return 0;
}
