// `npm run long -- fleet [--cluster] [--runs N] [--kills N] [--freezes N] [--lease MS] [--restarts N] [--leader-kills N] [--continued N]
// [--timeout S]`: workers of a fleet on real NATS servers, killed and frozen past their leases at random. One server is killed and started
// again; of a cluster, the leader is, and `--restarts` restarts its servers one after the other. None may be lost, none end twice, no
// zombie write. `--continued`: beside them, runs of the built CLI on this machine's own fleet (fleet-continued.ts).
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "../../src/serve/fleet.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { spawnOwned } from "../support/at-exit.ts";
import { chanceOf } from "../support/chance.ts";
import type { Network } from "../support/cut-network.ts";
import { numbersFrom, underWatch } from "../support/long-script.ts";
import { NatsServer } from "../support/nats-server.ts";
import { ClusterTroubles, type Trouble } from "./cluster-troubles.ts";
import { continuedRuns } from "./fleet-continued.ts";
import { newRun } from "./fleet-kit.ts";
import { programOf } from "./program-of.ts";

const chance = chanceOf("serve/fleet-processes");

export type FleetReport = {
  runs: number;
  kills: number;
  freezes: number;
  restarts: number;
  /** Of a cluster: how often its leader, or another of its servers, was taken away. */
  troubles: number;
  /** Runs that never ended. */
  lost: number;
  /** Results beyond the first. */
  twice: number;
  /** Events of somebody who was not the host. */
  zombieEvents: number;
  /** Events whose writer was told that they are kept, and are not. */
  ephemeral: number;
  /** Writes that were refused because the run was somebody else's. */
  refused: number;
  /** Runs that more than one worker had. */
  continued: number;
  /** Runs that were taken from a worker that was neither killed nor frozen, and when: one that may not continue has ended for it. */
  robbed: string[];
  /** Why workers gave up runs, by code: all of them, also those that were frozen. */
  surrendered: Record<string, number>;
  /** The longest that a renewal or a write took, in leases; also of a worker that was frozen. */
  slowest: number;
  /** From the death of a worker until another had its run, in leases: the longest. */
  longestWait: number;
  /** The same, where a server was away meanwhile. */
  longestWaitInTrouble: number;
  /** From the death of a leader until the next event of any run, in leases: the longest. */
  longestGap: number;
};

/** The program of a worker, made once. */
export const hostProgram = () =>
  programOf("fleet-host.ts", "process.exitCode = await main(process.argv.slice(2)); process.exit();");

export type HostOptions = {
  url: string;
  name: string;
  ttlMs: number;
  events: number;
  pauseMs: number;
  skewMs?: number;
};

export class HostProcess {
  readonly name: string;
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly written: { run: string; position: number; at: number }[] = [];
  readonly lost: string[] = [];
  slowestMs = 0;
  refused = 0;
  ended = 0;

  /** `inside`: what it is started by, such as a network of its own. */
  constructor(
    file: string,
    { url, name, ttlMs, events, pauseMs, skewMs = 0 }: HostOptions,
    inside: readonly string[] = [],
  ) {
    this.name = name;
    const [command, ...args] = [
      ...inside,
      process.execPath,
      file,
      url,
      name,
      ...[ttlMs, events, pauseMs, skewMs].map(String),
    ];
    this.child = spawnOwned(command!, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.ready = new Promise((resolve) => {
      createInterface({ input: this.child.stdout! }).on("line", (line) => {
        const [what, run, position] = line.split(" ");
        if (what === "ready") resolve();
        if (what === "refused") this.refused++;
        if (what === "ended") this.ended++;
        if (what === "lost") this.lost.push(run!);
        if (what === "slow") this.slowestMs = Math.max(this.slowestMs, Number(run));
        if (what === "wrote") this.written.push({ run: run!, position: Number(position), at: Date.now() });
      });
      this.child.on("exit", () => resolve());
    });
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once("close", resolve));
    this.child.kill(signal);
    await gone;
  }
}

export type StressOptions = {
  runs: number;
  kills: number;
  /** Of workers, for longer than their leases. */
  freezes?: number;
  restarts?: number;
  leaseMs: number;
  /** What happens to the servers of a cluster, one after the other. Without, there is one server. */
  troubles?: readonly Trouble[];
};

const workers = 4;
const events = 5;

/** Between two events of a run: the runs must last as long as the kills do, and a kill or a freeze takes 1.3 leases. */
function pauseOf({ runs, kills, freezes = 0, troubles = [], leaseMs }: StressOptions): number {
  const shares = Math.max(kills + freezes, troubles.length * 2);
  return Math.max(Math.min(leaseMs / 20, 500), (shares * leaseMs * 1.4 * workers) / (runs * events));
}

/** `onStart` is given what tells how far it is. */
export async function stressFleet(
  options: StressOptions,
  onStart: (tell: () => string) => void = () => {},
): Promise<FleetReport> {
  const { runs, kills, freezes = 0, restarts = 0, leaseMs, troubles } = options;
  const [cluster, program] = await Promise.all([troubles && ClusterTroubles.start(troubles), hostProgram()]);
  const server = cluster ? undefined : await NatsServer.start();
  const url = cluster?.url ?? server!.url();
  const fleet = await openFleet(url, { configDir: "/nowhere", env: {} });
  const all: HostProcess[] = [];
  const killedAt = new Map<string, number>();
  const frozen = new Map<string, number[]>();
  let started = 0;
  let frozenCount = 0;
  let restarted = 0;
  const pauseMs = pauseOf(options);
  onStart(() => {
    const ended = all.reduce((sum, host) => sum + host.ended, 0);
    return `${ended} of ${runs} runs ended; ${killedAt.size} kills, ${frozenCount} freezes, ${restarted} restarts of the server, ${cluster?.times.length ?? 0} troubles of the cluster`;
  });
  // Half of the workers have clocks that are an hour wrong.
  const start = async () => {
    const name = `worker-${started++}`;
    const skewMs = ((started % 4) - 2) * 3_600_000 * (started % 2);
    const host = new HostProcess(program.file, { url, name, ttlMs: leaseMs, events, pauseMs, skewMs });
    all.push(host);
    await host.ready;
    return host;
  };
  const ids = Array.from({ length: runs }, (_, number) => `run-${number}`);
  const living = await Promise.all(Array.from({ length: workers }, start));
  try {
    let isEnqueued = false;
    const isOver = async () => {
      if (!isEnqueued) return false;
      const { count, hosted } = await fleet.waiting();
      return count + hosted === 0;
    };
    const killer = async () => {
      for (let left = { kills, freezes }; left.kills + left.freezes > 0; ) {
        await sleep(leaseMs * (0.2 + chance() * 0.6));
        if (await isOver()) return;
        const index = Math.floor(chance() * living.length);
        const host = living[index]!;
        if (left.freezes >= left.kills) {
          left = { ...left, freezes: left.freezes - 1 };
          frozenCount++;
          frozen.set(host.name, [...(frozen.get(host.name) ?? []), Date.now()]);
          host.child.kill("SIGSTOP");
          await sleep(leaseMs * 1.6);
          host.child.kill("SIGCONT");
          continue;
        }
        left = { ...left, kills: left.kills - 1 };
        killedAt.set(host.name, Date.now());
        await host.end("SIGKILL");
        living[index] = await start();
      }
    };
    const restarter = async () => {
      for (; restarted < restarts; restarted++) {
        await sleep(leaseMs * (1 + chance()));
        await server!.kill("SIGKILL");
        await sleep(leaseMs * 0.2);
        await server!.start();
      }
    };
    const enqueueing = (async () => {
      for (let number = 0; number < runs; number++) await fleet.enqueue(newRun(number));
      isEnqueued = true;
    })();
    await Promise.all([enqueueing, killer(), restarter(), cluster?.happen(troubles!, leaseMs)]);
    while (!(await isOver())) await sleep(100);
    await Promise.all(living.map((host) => host.end("SIGTERM")));
    const report = await inspect(fleet, ids, { all, killedAt, frozen, troubles: cluster?.times ?? [], leaseMs });
    return { runs, kills: killedAt.size, freezes: frozenCount, restarts: restarted, ...report };
  } finally {
    await Promise.all(all.map((host) => host.end("SIGKILL")));
    fleet.close();
    await server?.remove();
    await cluster?.remove();
    program.remove();
  }
}

/** A worker is cut off from the server while it hosts a run, longer than its lease, and comes back. */
export async function partitionFleet(network: Network, leaseMs: number): Promise<FleetReport> {
  const [server, program] = await Promise.all([NatsServer.start({ host: network.host }), hostProgram()]);
  const fleet = await openFleet(server.url(), { configDir: "/nowhere", env: {} });
  const all: HostProcess[] = [];
  try {
    const inner = await network.open(server.port);
    const work = { ttlMs: leaseMs, events: 10, pauseMs: leaseMs / 5 };
    const cutOff = { ...work, url: `nats://${inner.host}:${inner.port}`, name: "cut-off" };
    all.push(new HostProcess(program.file, cutOff, network.inside));
    await all[0]!.ready;
    const ids = ["run-0", "run-1", "run-2"];
    await fleet.enqueue(newRun(0));
    while (all[0]!.written.length === 0) await sleep(20);
    const cutAt = Date.now();
    network.cut();
    all.push(new HostProcess(program.file, { ...work, url: server.url(), name: "other" }));
    for (const number of [1, 2]) await fleet.enqueue(newRun(number));
    while ((await fleet.run("run-0"))!.attempts < 2) await sleep(20);
    network.mend();
    while ((await fleet.waiting()).count + (await fleet.waiting()).hosted > 0) await sleep(50);
    // Until the one that was cut off has learnt it.
    for (const until = Date.now() + 40_000; all[0]!.refused === 0 && Date.now() < until; ) await sleep(50);
    const killedAt = new Map([["cut-off", cutAt]]);
    return {
      ...{ runs: ids.length, kills: 0, freezes: 0, restarts: 0 },
      ...(await inspect(fleet, ids, { all, killedAt, frozen: new Map(), troubles: [], leaseMs })),
    };
  } finally {
    await Promise.all(all.map((host) => host.end("SIGKILL")));
    fleet.close();
    await server.remove();
    program.remove();
    network.close();
  }
}

type Happened = {
  all: HostProcess[];
  killedAt: ReadonlyMap<string, number>;
  frozen: ReadonlyMap<string, readonly number[]>;
  troubles: readonly { from: number; to: number; isLeader: boolean }[];
  leaseMs: number;
};

async function inspect(
  fleet: Fleet,
  ids: readonly string[],
  { all, killedAt, frozen, troubles, leaseMs }: Happened,
): Promise<Omit<FleetReport, "runs" | "kills" | "freezes" | "restarts">> {
  const found = { lost: 0, twice: 0, zombieEvents: 0, ephemeral: 0, continued: 0 };
  const robbed: string[] = [];
  const waits = { longestWait: 0, longestWaitInTrouble: 0 };
  const kept = new Set<string>();
  for (const id of ids) {
    const run = await fleet.run(id);
    const log = await fleet.entries(id, 0, 10_000);
    const results = log.filter(({ entry }) => entry.type === "result").length;
    if (run?.state !== "finished" || results === 0) found.lost++;
    found.twice += Math.max(0, results - 1);
    let host: { worker: string; attempt: number; at: number } | undefined;
    for (const { position, at, entry } of log) {
      kept.add(`${id} ${position}`);
      if (entry.type === "leased") {
        const dead = host && killedAt.get(host.worker);
        const wasFrozen = host && frozen.get(host.worker)?.some((time) => time > host!.at - leaseMs && time < at);
        if (entry.attempt === 2) found.continued++;
        if (host && dead === undefined && !wasFrozen) {
          const since = troubles.map(({ from, to }) => `${at - from} ms after a server was lost, back ${to - from}`);
          robbed.push(`${id} of ${host.worker}, which had it for ${at - host.at} ms: ${since.join("; ")}`);
        }
        if (dead !== undefined) {
          const isTroubled = troubles.some(({ from, to }) => from < at && to + leaseMs > dead);
          const which = isTroubled ? "longestWaitInTrouble" : "longestWait";
          waits[which] = Math.max(waits[which], (at - dead) / leaseMs);
        }
        host = { worker: entry.worker, attempt: entry.attempt, at };
      }
      const by = host && `${host.worker}/${host.attempt}`;
      if (entry.type === "event" && entry.event.type === "text_end" && entry.event.text !== by) found.zombieEvents++;
    }
    if (log.at(-1)?.entry.type !== "result" || run?.end?.text !== `${host?.worker}/${host?.attempt}`)
      found.zombieEvents++;
  }
  for (const { written } of all)
    for (const { run, position } of written) if (!kept.has(`${run} ${position}`)) found.ephemeral++;
  const times = all.flatMap(({ written }) => written.map(({ at }) => at)).sort((one, other) => one - other);
  const gaps = troubles.flatMap(({ from, isLeader }) => {
    const next = times.find((time) => time > from + settlingMs);
    return isLeader && next !== undefined ? [(next - from) / leaseMs] : [];
  });
  return {
    ...found,
    ...waits,
    robbed,
    longestGap: Math.max(0, ...gaps),
    troubles: troubles.length,
    slowest: Math.max(...all.map(({ slowestMs }) => slowestMs)) / leaseMs,
    surrendered: countsOf(all.flatMap(({ lost }) => lost)),
    refused: all.reduce((sum, { refused }) => sum + refused, 0),
  };
}

function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/** What was on its way when a leader died may still be told. */
const settlingMs = 200;

export async function main(given: readonly string[]): Promise<number> {
  const isCluster = given.includes("--cluster");
  const argv = given.filter((word) => word !== "--cluster");
  const usual = isCluster
    ? { runs: 60, kills: 2, freezes: 2, restarts: 0, "leader-kills": 2, lease: 15_000, continued: 0 }
    : { runs: 200, kills: 10, freezes: 10, restarts: 1, "leader-kills": 0, lease: 2000, continued: 6 };
  const chosen = numbersFrom(argv, { ...usual, timeout: 0 });
  const { lease: leaseMs, timeout, continued: wanted, "leader-kills": leaderKills, restarts, ...numbers } = chosen;
  const troubles: Trouble[] = [
    ...Array.from({ length: leaderKills }, () => "leader killed" as const),
    ...Array.from({ length: restarts }, () => "rolling restart" as const),
  ];
  const options = { ...numbers, leaseMs, ...(isCluster ? { troubles } : { restarts }) };
  const usualMs = (options.runs * events * pauseOf(options)) / workers + (restarts + leaderKills) * leaseMs * 2;
  let tell = () => "starting";
  const { report, continued } = await underWatch(
    async () => {
      const report = await stressFleet(options, (how) => {
        tell = how;
      });
      const continued = await continuedRuns({ runs: wanted }, (done, { faults }) => {
        tell = () => `${done} of ${wanted} runs continued elsewhere, ${faults.length} faults`;
      });
      return { report, continued };
    },
    { tell: () => tell(), limitSeconds: timeout || 120 + (3 * usualMs) / 1000 + wanted * 60 },
  );
  for (const fault of continued.faults) console.log(fault);
  console.log(JSON.stringify({ ...report, continuedRuns: { ...continued, faults: continued.faults.length } }));
  const faults = report.lost + report.twice + report.zombieEvents + report.ephemeral + continued.faults.length;
  const isLate = report.longestWait > 1.5 || report.longestWaitInTrouble > 2.5 || report.longestGap > 1;
  return faults + (isCluster ? report.robbed.length + Number(isLate) : 0) === 0 ? 0 : 1;
}
