// What an operator wants to know of a fleet, and the limits that keep it from growing for ever.
import type { StreamConfig } from "@nats-io/jetstream";
import { type Presence, priorities, type RunRecord } from "../../fleet.ts";
import type { Connected } from "./connect.ts";
import { lastWord, textOf } from "./keys.ts";
import type { Lane, Server, StreamName } from "./server.ts";
import { Signs } from "./signs.ts";

export type StreamFacts = {
  name: string;
  messages: number;
  bytes: number;
  replicas: number;
  leader?: string;
  /** Servers that have not caught up, or are away. */
  behind: string[];
  maxAgeDays?: number;
  maxBytes?: number;
};

export type Queue = {
  pool: string;
  priority: string;
  labels: Readonly<Record<string, string>>;
  waiting: number;
  running: number;
  /** Of the run that has waited longest. */
  oldestSeconds: number;
};

export type Overview = {
  servers: string[];
  streams: StreamFacts[];
  queues: Queue[];
  workers: (Presence & { seenSeconds: number })[];
  /** How long it took to be told the time. */
  answerSeconds: number;
};

export type Limits = { days?: number; bytes?: number };

/** Streams whose oldest messages go when they are too many. What runs shall be goes by age alone, and where they wait never does. */
const bounded: readonly (StreamName | "objects")[] = ["log", "say", "objects"];
const aged: readonly (StreamName | "objects")[] = [...bounded, "runs"];
const nanosecondsInDay = 24 * 3600 * 1e9;
/** So far back it is looked for a run that waits, behind runs that have begun. */
const mostLooks = 200;

export async function overviewOf(connected: Connected, server: Server): Promise<Overview> {
  const asked = performance.now();
  const now = await server.now();
  const answerSeconds = (performance.now() - asked) / 1000;
  const [streams, queues, workers] = await Promise.all([
    streamFacts(connected),
    queuesOf(connected, server, now),
    workersOf(server, now),
  ]);
  const { info } = connected.connection;
  return { servers: info?.connect_urls ?? [], streams, queues, workers, answerSeconds };
}

async function streamFacts({ manager, names }: Connected): Promise<StreamFacts[]> {
  const all = [...names.streams(), names.objectStream];
  return Promise.all(
    all.map(async (name) => {
      const { config, state, cluster } = await manager.streams.info(name);
      const behind = cluster?.replicas?.filter(({ current, offline }) => !current || offline) ?? [];
      return {
        name,
        messages: state.messages,
        bytes: state.bytes,
        replicas: config.num_replicas,
        ...(cluster?.leader && { leader: cluster.leader }),
        behind: behind.map((replica) => replica.name),
        ...(config.max_age > 0 && { maxAgeDays: Math.round((config.max_age / nanosecondsInDay) * 10) / 10 }),
        ...(config.max_bytes > 0 && { maxBytes: config.max_bytes }),
      };
    }),
  );
}

async function queuesOf(connected: Connected, server: Server, now: number): Promise<Queue[]> {
  const [lanes, work, signs] = await Promise.all([
    server.range("state", "lane.>", 1),
    server.keys("work", "*.*.*.*"),
    new Signs(server).all(),
  ]);
  const hosted = new Set(signs.flatMap(({ run, at, ttlMs }) => (run !== undefined && at + ttlMs > now ? [run] : [])));
  const queues = lanes.map(async ({ key, data }) => {
    const lane = key.slice("lane.".length) as Lane;
    const [pool = "", priority = ""] = lane.split(".");
    const runs = work.filter((each) => each.startsWith(`${lane}.`)).map(lastWord);
    const waiting = runs.filter((run) => !hosted.has(run)).length;
    const since = waiting > 0 ? await oldestWaiting(connected, lane, hosted) : undefined;
    return {
      pool: textOf(pool),
      priority,
      labels: JSON.parse(Buffer.from(data).toString() || "{}") as Record<string, string>,
      waiting,
      running: runs.length - waiting,
      oldestSeconds: since === undefined ? 0 : Math.max(0, (now - since) / 1000),
    };
  });
  const rank = ({ priority }: Queue) => priorities.indexOf(priority as "normal");
  return (await Promise.all(queues)).sort((one, other) =>
    one.pool === other.pool ? rank(one) - rank(other) : one.pool < other.pool ? -1 : 1,
  );
}

/** When the message of the first one that nobody hosts was stored. */
async function oldestWaiting(
  { manager, names }: Connected,
  lane: Lane,
  hosted: ReadonlySet<string>,
): Promise<number | undefined> {
  const subject = names.subject("work", `${lane}.*`);
  for (let seq = 1, looks = 0; looks < mostLooks; looks++) {
    // The types of the client do not know of the second field, which the server has since 2.9.
    const query = { seq, next_by_subj: subject } as { seq: number };
    const found = await manager.streams.getMessage(names.stream("work"), query);
    if (!found) return undefined;
    if (!hosted.has(lastWord(found.subject))) return found.time.getTime();
    seq = found.seq + 1;
  }
  return undefined;
}

async function workersOf(server: Server, now: number): Promise<Overview["workers"]> {
  const found = await server.range("lease", "worker.*", 1);
  return found.map(({ at, data }) => ({
    ...(JSON.parse(Buffer.from(data).toString()) as Presence),
    seenSeconds: Math.max(0, (now - at) / 1000),
  }));
}

/** What is left out stays as it is. */
export async function setLimits({ manager, names }: Connected, { days, bytes }: Limits): Promise<void> {
  for (const name of aged) {
    const stream = name === "objects" ? names.objectStream : names.stream(name);
    const { config } = await manager.streams.info(stream);
    await manager.streams.update(stream, {
      ...config,
      ...limitsFor(days, bounded.includes(name) ? bytes : undefined),
    });
  }
}

function limitsFor(days: number | undefined, bytes: number | undefined): Partial<StreamConfig> {
  return {
    ...(days !== undefined && { max_age: days * nanosecondsInDay }),
    ...(bytes !== undefined && { max_bytes: bytes }),
    // The oldest make room for what runs now.
    ...(bytes !== undefined && { discard: "old" as StreamConfig["discard"] }),
  };
}

export type Ended = { outcome: string; count: number };

/** Of the runs that ended since a time. */
export function endedSince(runs: readonly RunRecord[], time: number): { ended: Ended[]; takeovers: number } {
  const late = runs.filter(({ endedAt = 0 }) => endedAt >= time);
  const counts = new Map(["finished", "error", "cancelled"].map((outcome) => [outcome, 0]));
  for (const { state } of late) counts.set(state, (counts.get(state) ?? 0) + 1);
  return {
    ended: [...counts].map(([outcome, count]) => ({ outcome, count })),
    takeovers: late.reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0),
  };
}
