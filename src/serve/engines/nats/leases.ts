// Leases: decides which worker gets a run, and for how long. The server hands each run to one worker, and again if no worker renews
// its hold within the lease. The owner is recorded in the run's log, by an entry that is written only if no other one came first.
import { setTimeout as sleep } from "node:timers/promises";
import { milliseconds } from "../../../process/clock.ts";
import { UserError } from "../../../protocol/error-codes.ts";
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import { hasLabels, type Labels, type Lease, type LeaseOptions, type RunRecord, specVersion } from "../../fleet.ts";
import { byUrgency, isForAnybody, laneOf, lastWord, word } from "./keys.ts";
import type { RunLogs } from "./log.ts";
import type { Payloads } from "./payloads.ts";
import { Quotas, shareOf } from "./quotas.ts";
import { handleOf, type Last, ownerOf, positionOf, type Standing, standingOf, takenHead, tokenOf } from "./rules.ts";
import type { Lane, Server, Stored } from "./server.ts";
import { WorkerPresence } from "./worker-presence.ts";

/** Added to the time until another worker's lease may expire, before its run is looked at again. */
const laterMs = 10;
/** How long the list of lanes counts as current, and after how long a run that cannot be taken yet is offered again. */
const lookAgainMs = 5000;
/** How long a sender's lanes are skipped after it has reached its quota. */
const restMs = 1000;
/** The maximum number of unhosted runs that are inspected one by one. */
const fewRuns = 500;

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});

export type Found = { lease: Lease; last: Last; stored: Stored | undefined };
type Offered = Pick<RunRecord, "id" | "spec" | "sender">;

export class Leases {
  readonly #server: Server;
  readonly #logs: RunLogs;
  readonly #payloads: Payloads;
  readonly #presence: WorkerPresence;
  readonly quotas: Quotas;
  /** Lanes of senders that have reached their quota, with the time until which they are skipped. */
  readonly #resting = new Map<Lane, number>();
  #turn = Math.floor(Math.random() * 1000); // a random start, so that workers do not all begin with the same lane
  readonly #labelsOf = new Map<Lane, Labels>();
  /** The lanes of each pool, forgotten when one is created, of which this is told once somebody waits for a run. */
  readonly #lanesOf = new Map<string, { lanes: Promise<readonly Lane[]>; readAt: number }>();
  #isTold = false;
  /** Each ends a search for a run, so that it begins again. */
  readonly #searches = new Set<() => void>();
  /** Runs that had no record when they were handed out. */
  readonly #missing = new Set<string>();

  constructor(server: Server, logs: RunLogs, payloads: Payloads) {
    this.#server = server;
    this.#logs = logs;
    this.#payloads = payloads;
    this.#presence = new WorkerPresence(server);
    this.quotas = new Quotas(server, this.#presence);
  }

  /** Queues a run for the workers. Offering the same run twice has no effect. */
  async offer({ id: run, spec: { placement }, sender }: Offered): Promise<void> {
    const lane = laneOf(placement, sender);
    if (!this.#labelsOf.has(lane)) {
      const labels = placement?.labels ?? {};
      if (!(await this.#server.last("state", `lane.${lane}`))) {
        await this.#server.publish("state", `lane.${lane}`, JSON.stringify(labels));
        this.#server.tellLanes();
      }
      this.#labelsOf.set(lane, labels);
    }
    await this.#server.publish("work", `${lane}.${word(run)}`, "");
  }

  async find(options: LeaseOptions): Promise<Found | undefined> {
    const { wait } = options;
    while (true) {
      const found = await this.#findNext(randomUuid(), options);
      if (found || !wait || wait.aborted) return found;
    }
  }

  async #findNext(owner: string, options: LeaseOptions): Promise<Found | undefined> {
    const { wait, pool = "default", labels = {} } = options;
    this.#presence.begin(owner);
    const stop = new AbortController();
    const end = () => stop.abort();
    if (wait) this.#learnOfLanes();
    this.#searches.add(end);
    wait?.addEventListener("abort", end);
    if (wait?.aborted) end();
    let restsOver: NodeJS.Timeout | undefined;
    try {
      const lanes = await this.#lanesFor(pool, labels);
      if (lanes.length === 0 && wait) await pause(lookAgainMs, stop.signal);
      while (lanes.length > 0) {
        const awake = lanes.filter((lane) => (this.#resting.get(lane) ?? 0) < performance.now());
        if (awake.length < lanes.length && wait) restsOver ??= setTimeout(end, restMs);
        const work = awake.length > 0 ? await this.#server.pull(awake, wait && stop.signal) : undefined;
        const found = work && (await this.#take(work.run, work.handle, owner, options));
        if (found || (!work && awake.length > 0)) return found;
        if (awake.length === 0) return void (wait && (await pause(restMs, stop.signal)));
      }
      return undefined;
    } finally {
      clearTimeout(restsOver);
      this.#searches.delete(end);
      wait?.removeEventListener("abort", end);
    }
  }

  /** A lane that was just created may be for a worker that is looking for a run. */
  #learnOfLanes(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#server.onLanes(() => {
      this.#lanesOf.clear();
      for (const end of this.#searches) end();
    });
  }

  /** Returns undefined if the run is hosted elsewhere, over, too new for this worker, or over its sender's quota. */
  async #take(
    run: string,
    handle: string,
    owner: string,
    { worker, ttlMs, onNewer }: LeaseOptions,
  ): Promise<Found | undefined> {
    this.#server.hold(handle, ttlMs); // if this worker dies here, the run is handed out again after its lease
    while (true) {
      const [last, stored] = await Promise.all([this.#logs.last(run), this.#server.last("runs", `run.${word(run)}`)]);
      const now = await this.#server.now();
      const stands = await this.#standingOf(last, now);
      const isMissing = last.sequence === 0 && !stored;
      if (stands.is === "over" || (isMissing && this.#missing.has(run))) {
        this.#missing.delete(run);
        await this.#server.done(handle);
        return undefined;
      }
      // A run is stored before it is offered, so one without a record was deleted, unless a new leader does not know it yet.
      if (isMissing) {
        this.#missing.add(run);
        this.#server.hold(handle, lookAgainMs);
        return undefined;
      }
      const offered = stored && (await this.#payloads.unpack<Offered>(run, stored.data));
      const version = offered?.spec.version ?? 1;
      if (version > specVersion) {
        onNewer?.(run, version);
        this.#server.hold(handle, lookAgainMs);
        return undefined;
      }
      if (stands.is === "hosted") {
        this.#server.hold(handle, stands.leftMs + laterMs);
        return undefined;
      }
      const { sender, spec: { placement = {} } = {} } = offered ?? {};
      const { pool = "default" } = placement;
      const isNew = sender !== undefined && last.head.state === "queued";
      if (isNew && !(await this.quotas.findPlace(owner, sender, pool, ttlMs))) {
        this.#server.hold(handle, restMs);
        this.#resting.set(laneOf(placement, sender), performance.now() + restMs);
        return undefined;
      }
      const takenAt = milliseconds();
      const written = await this.#claim(run, last, { worker, owner, ttlMs, now });
      if (!written) {
        if (isNew) await this.#presence.forget(owner);
        continue;
      }
      await this.#presence.give(owner, { run, ttlMs, ...(sender !== undefined && { share: shareOf(sender, pool) }) });
      this.#server.hold(handle, ttlMs);
      if (last.head.owner !== undefined) await this.#presence.forget(last.head.owner);
      const lease = { run, token: tokenOf(owner, handle), position: positionOf(written), ttlMs, takenAt };
      return { lease, last: written, stored };
    }
  }

  async #claim(
    run: string,
    last: Last,
    { worker, owner, ttlMs, now }: { worker: string; owner: string; ttlMs: number; now: number },
  ): Promise<Last | undefined> {
    const head = takenHead(last.head, { owner, ttlMs, now });
    try {
      return await this.#logs.write(run, [{ type: "leased", worker, attempt: head.attempts }], head, last.sequence);
    } catch (error) {
      if (error instanceof UserError && error.code === "LEASE_LOST") return undefined;
      throw error;
    }
  }

  async renew({ run, token, ttlMs, position }: Lease): Promise<boolean> {
    const owner = ownerOf(token);
    // At the same time, because servers that are restarted may lose each request, and a lease lasts for only a few repetitions.
    const [{ head }] = await Promise.all([this.#logs.last(run, position), this.#presence.give(owner, { run, ttlMs })]);
    if (head.state !== "running" || head.owner !== owner) {
      await this.#presence.forget(owner);
      return false;
    }
    this.hold(token, ttlMs);
    return true;
  }

  /** Keeps the server from handing the run to another worker for `ms`. */
  hold(token: string, ms: number): void {
    this.#server.hold(handleOf(token), ms);
  }

  async forget(token: string): Promise<void> {
    await this.#presence.forget(ownerOf(token));
  }

  async waiting(): Promise<{ count: number; hosted: number; nextMs?: number }> {
    const [work, signs, now] = await Promise.all([
      this.#server.keys("work", "*.*.*.*"),
      this.#presence.all(),
      this.#server.now(),
    ]);
    const runs = new Set(work.map(lastWord));
    const hosts = new Set(signs.flatMap(({ run }) => (run !== undefined && runs.has(run) ? [run] : [])));
    // Unhosted runs are assumed to wait; if they are few, each one is inspected.
    const looked = [...runs].filter((run) => hosts.has(run) || runs.size - hosts.size <= fewRuns);
    const stands = await Promise.all(looked.map(async (run) => this.#standingOf(await this.#logs.last(run), now)));
    // Runs that are over still have messages if those were not yet delivered, or if a killed server forgot that it deleted them.
    const over = stands.filter(({ is }) => is === "over");
    const left = stands.flatMap((each) => (each.is === "hosted" ? [each.leftMs] : []));
    const next = left.length > 0 ? { nextMs: Math.max(0, Math.min(...left)) } : {};
    return { count: runs.size - over.length - left.length, hosted: left.length, ...next };
  }

  /** `now` was read before, and elections are asked for after the sign: a leader that was just elected may not know the last one. */
  async #standingOf(last: Last, now: number): Promise<Standing> {
    const { owner, state } = last.head;
    const sign = owner !== undefined && state === "running" ? await this.#presence.last(owner) : undefined;
    return standingOf(last, { renewedAt: sign?.at, now, foundAgainAt: this.#server.foundAgainAt });
  }

  /** The worker that may take runs of a lane registers it with the server, so that senders do not need that permission. */
  async #lanesFor(pool: string, labels: Labels): Promise<Lane[]> {
    const lanes = await this.#lanesIn(pool);
    const wanted = await Promise.all(lanes.map(async (lane) => ({ lane, labels: await this.#labels(lane) })));
    const matchingLanes = wanted.filter((lane) => hasLabels(labels, lane.labels)).map(({ lane }) => lane);
    await Promise.all(matchingLanes.map((lane) => this.#server.addLane(lane)));
    return byUrgency(matchingLanes, this.#turn++);
  }

  async #lanesIn(pool: string): Promise<readonly Lane[]> {
    const known = this.#lanesOf.get(pool);
    if (known && this.#isTold && performance.now() - known.readAt < lookAgainMs) return known.lanes;
    const keys = this.#server.keys("state", `lane.${word(pool)}.*.*`);
    const lanes = keys.then((all) => all.map((key) => key.slice("lane.".length) as Lane));
    this.#lanesOf.set(pool, { lanes, readAt: performance.now() }); // before the answer, which may lack a lane that is told meanwhile
    return lanes;
  }

  async #labels(lane: Lane): Promise<Labels> {
    if (isForAnybody(lane)) return {};
    const existing = this.#labelsOf.get(lane);
    if (existing) return existing;
    const stored = await this.#server.last("state", `lane.${lane}`);
    const labels = stored ? (JSON.parse(Buffer.from(stored.data).toString()) as Labels) : {};
    this.#labelsOf.set(lane, labels);
    return labels;
  }
}
