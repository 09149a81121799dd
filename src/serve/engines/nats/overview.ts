// Collects a fleet's status for its operator, and sets the limits that bound its growth.
import type { StreamConfig } from "@nats-io/jetstream";
import { type Labels, type Overview, type Presence, priorities, type Queue, type StreamState } from "../../fleet.ts";
import type { Connected } from "./connect.ts";
import { lastWord, poolOf, senderOf } from "./keys.ts";
import { type Quota, Quotas, shareOf } from "./quotas.ts";
import type { Lane, Server, StreamName } from "./server.ts";
import { WorkerPresence } from "./worker-presence.ts";

export type Limits = { days?: number; bytes?: number; quota?: Quota };

/** Streams that drop their oldest messages when they are full. `runs` drops by age only, and the queue drops nothing. */
const bounded: readonly (StreamName | "objects")[] = ["log", "say", "objects"];
const aged: readonly (StreamName | "objects")[] = [...bounded, "runs"];
const nanosecondsInDay = 24 * 3600 * 1e9;
/** How many messages are searched for a waiting run, past those of hosted runs. */
const maxLooks = 200;

export async function overviewOf(connected: Connected, server: Server): Promise<Overview> {
  const asked = performance.now();
  const sequence = await server.publish("lease", "clock.status", "");
  const { at: now = 0 } = (await server.last("lease", "clock.status", sequence)) ?? {};
  const answerSeconds = (performance.now() - asked) / 1000;
  const [streams, queues, workers, quota] = await Promise.all([
    streamStates(connected),
    queuesOf(connected, server, now),
    workersOf(server, now),
    quotasOn(server).read(),
  ]);
  const { info } = connected.connection;
  return { servers: info?.connect_urls ?? [], streams, queues, workers, quota, answerSeconds };
}

function quotasOn(server: Server): Quotas {
  return new Quotas(server, new WorkerPresence(server));
}

async function streamStates({ manager, names }: Connected): Promise<StreamState[]> {
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
  // Before the queue, which a run leaves when it ends: without a sign it would be taken for one that waits.
  const signs = await new WorkerPresence(server).all();
  const [lanes, work] = await Promise.all([server.range("state", "lane.>", 1), server.keys("work", "*.*.*.*")]);
  const hosted = new Set(signs.flatMap(({ run, at, ttlMs }) => (run !== undefined && at + ttlMs > now ? [run] : [])));
  const quotas = quotasOn(server);
  const hosts = (share: string) => signs.filter((each) => each.share === share && each.at + each.ttlMs > now).length;
  const queues = lanes.map(async ({ key, data }) => {
    const lane = key.slice("lane.".length) as Lane;
    const [, priority = ""] = lane.split(".");
    const runs = work.filter((each) => each.startsWith(`${lane}.`)).map(lastWord);
    const waiting = runs.filter((run) => !hosted.has(run)).length;
    const since = waiting > 0 ? await oldestWaiting(connected, lane, hosted) : undefined;
    const sender = senderOf(lane);
    const pool = poolOf(lane);
    const heldBack = sender === undefined ? undefined : await quotas.reason(sender, pool, hosts(shareOf(sender, pool)));
    return {
      pool,
      priority,
      sender: sender ?? "",
      ...(heldBack !== undefined && { heldBack }),
      labels: JSON.parse(Buffer.from(data).toString() || "{}") as Labels,
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

/** Returns when the message of the first unhosted run was stored. */
async function oldestWaiting(
  { manager, names }: Connected,
  lane: Lane,
  hosted: ReadonlySet<string>,
): Promise<number | undefined> {
  const subject = names.subject("work", `${lane}.*`);
  for (let seq = 1, looks = 0; looks < maxLooks; looks++) {
    // The client's types lack the second field, which the server has supported since 2.9.
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

/** Omitted limits stay as they are. */
export async function setLimits(
  { manager, names }: Connected,
  server: Server,
  { days, bytes, quota }: Limits,
): Promise<void> {
  if (quota) await quotasOn(server).set(quota);
  if (days === undefined && bytes === undefined) return;
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
    // The oldest messages make room for current runs.
    ...(bytes !== undefined && { max_bytes: bytes, discard: "old" as StreamConfig["discard"] }),
  };
}
