// Leases: decides which worker gets a run, and for how long. The server hands each run to one worker, and again if no worker renews
// its hold within the lease. The owner is recorded in the run's log, by an entry that is written only if no other one came first.
import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../../../protocol/error-codes.ts";
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import { hasLabels, type Lease, type LeaseOptions, type RunRecord, specVersion } from "../../fleet.ts";
import { byUrgency, isForAnybody, laneOf, lastWord, word } from "./keys.ts";
import type { RunLogs } from "./log.ts";
import type { Payloads } from "./payloads.ts";
import { Quotas, shareOf } from "./quotas.ts";
import { handleOf, type Last, ownerOf, positionOf, type Standing, standing, taken, tokenOf } from "./rules.ts";
import type { Lane, Server } from "./server.ts";
import { Signs } from "./worker-presence.ts";

/** Added to the time until another worker's lease may expire, before its run is looked at again. */
const laterMs = 10;
const lookAgainMs = 5000;
const roomMs = 500;
/** How long a sender's lanes are skipped after it has reached its quota. */
const restMs = 1000;
/** The maximum number of unhosted runs that are inspected one by one. */
const fewRuns = 500;

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});

export type Found = { lease: Lease; last: Last };
type Labels = Readonly<Record<string, string>>;
type Offered = Pick<RunRecord, "id" | "spec" | "sender">;

export class Leases {
  readonly #server: Server;
  readonly #logs: RunLogs;
  readonly #payloads: Payloads;
  readonly #signs: Signs;
  readonly quotas: Quotas;
  /** Lanes of senders that have reached their quota, with the time until which they are skipped. */
  readonly #resting = new Map<Lane, number>();
  #turn = Math.floor(Math.random() * 1000); // a random start, so that workers do not all begin with the same lane
  readonly #labelsOf = new Map<Lane, Labels>();

  constructor(server: Server, logs: RunLogs, payloads: Payloads) {
    this.#server = server;
    this.#logs = logs;
    this.#payloads = payloads;
    this.#signs = new Signs(server);
    this.quotas = new Quotas(server, this.#signs);
  }

  /** Queues a run for the workers. Offering the same run twice has no effect. */
  async offer({ id: run, spec: { placement }, sender }: Offered): Promise<void> {
    const lane = laneOf(placement, sender);
    if (!this.#labelsOf.has(lane)) {
      const labels = placement?.labels ?? {};
      if (!(await this.#server.last("state", `lane.${lane}`)))
        await this.#server
          .publish("state", `lane.${lane}`, JSON.stringify(labels))
          .then(() => this.#server.tellNews("lanes"));
      this.#labelsOf.set(lane, labels);
    }
    await this.#server.publish("work", `${lane}.${word(run)}`, "");
    this.#server.tellNews("runs");
  }

  /** Queues a run that its host released. A run that was leased by its id gets a new message: its first one may be delayed. */
  async offerAgain({ token }: Lease, run: Offered): Promise<void> {
    const handle = handleOf(token);
    if (handle === undefined) return this.offer(run);
    await this.#server.giveBack(handle);
    this.#server.tellNews("runs");
  }

  /** Removes the message of a run that is over. A message not yet delivered is removed by the worker that receives it. */
  async withdraw(handle: string | undefined): Promise<void> {
    if (handle !== undefined) await this.#server.done(handle);
    this.#server.tellNews("runs");
  }

  /** Leases the requested run, or the next one if none is requested. */
  async find(options: LeaseOptions): Promise<Found | undefined> {
    const { wait, most, ttlMs } = options;
    while (true) {
      const owner = randomUuid();
      const isRoom = most === undefined || (await this.#signs.findRoom(owner, ttlMs, most));
      const found = isRoom ? await this.#next(owner, options) : undefined;
      if (found) return found;
      if (isRoom && most !== undefined) await this.#signs.forget(owner);
      if (!wait || wait.aborted) return undefined;
      if (!isRoom) await pause(roomMs, wait);
    }
  }

  async #next(owner: string, options: LeaseOptions): Promise<Found | undefined> {
    const { wait, pool = "default", labels = {} } = options;
    if (options.run !== undefined) return this.#take(options.run, undefined, owner, options);
    const lanes = await this.#lanesFor(pool, labels);
    const stop = new AbortController();
    const end = () => stop.abort();
    // A lane that was just created may be for this worker.
    const news = wait && this.#server.onNews("lanes", end);
    wait?.addEventListener("abort", end);
    if (wait?.aborted) end();
    let restsOver: NodeJS.Timeout | undefined;
    try {
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
      news?.close();
      wait?.removeEventListener("abort", end);
    }
  }

  /** Returns undefined if the run is hosted elsewhere, over, too new for this worker, or over its sender's quota. */
  async #take(
    run: string,
    handle: string | undefined,
    owner: string,
    { worker, ttlMs, onNewer }: LeaseOptions,
  ): Promise<Found | undefined> {
    while (true) {
      const last = await this.#logs.last(run);
      const now = await this.#server.now();
      const stands = await this.#standing(last, now);
      const stored = await this.#server.last("runs", `run.${word(run)}`);
      // A run is stored before it is offered, so a missing record means that it was deleted.
      if (stands.is === "over" || (last.sequence === 0 && !stored)) {
        await this.withdraw(handle);
        return undefined;
      }
      const made = stored && (await this.#payloads.unpack<Offered>(run, stored.data));
      const version = made?.spec.version ?? 1;
      if (version > specVersion) {
        onNewer?.(run, version);
        if (handle !== undefined) this.#server.hold(handle, lookAgainMs);
        return undefined;
      }
      if (stands.is === "hosted") {
        if (handle !== undefined) this.#server.hold(handle, stands.leftMs + laterMs);
        return undefined;
      }
      const { sender, spec: { placement = {} } = {} } = made ?? {};
      const { pool = "default" } = placement;
      const isNew = handle !== undefined && sender !== undefined && last.head.state === "queued";
      if (isNew && !(await this.quotas.findPlace(owner, sender, pool, ttlMs))) {
        this.#server.hold(handle, restMs);
        this.#resting.set(laneOf(placement, sender), performance.now() + restMs);
        return undefined;
      }
      const written = await this.#claim(run, last, { worker, owner, ttlMs, now });
      if (!written) {
        if (isNew) await this.#signs.forget(owner);
        continue;
      }
      await this.#signs.give(owner, { run, ttlMs, ...(sender !== undefined && { share: shareOf(sender, pool) }) });
      if (handle !== undefined) this.#server.hold(handle, ttlMs);
      if (last.head.owner !== undefined) await this.#signs.forget(last.head.owner);
      const lease = { run, token: tokenOf(owner, handle), position: positionOf(written), ttlMs };
      return { lease, last: written };
    }
  }

  async #claim(
    run: string,
    last: Last,
    { worker, owner, ttlMs, now }: { worker: string; owner: string; ttlMs: number; now: number },
  ): Promise<Last | undefined> {
    const head = taken(last.head, { owner, ttlMs, now });
    try {
      return await this.#logs.write(run, [{ type: "leased", worker, attempt: head.attempts }], head, last.sequence);
    } catch (error) {
      if (error instanceof UserError && error.code === "LEASE_LOST") return undefined;
      throw error;
    }
  }

  async renew({ run, token, ttlMs }: Lease): Promise<boolean> {
    const owner = ownerOf(token);
    const { head } = await this.#logs.last(run);
    if (head.state !== "running" || head.owner !== owner) return false;
    await this.#signs.give(owner, { run, ttlMs });
    this.hold(token, ttlMs);
    return true;
  }

  /** Keeps the server from handing the run to another worker for `ms`. */
  hold(token: string, ms: number): void {
    const handle = handleOf(token);
    if (handle !== undefined) this.#server.hold(handle, ms);
  }

  async forget(token: string): Promise<void> {
    await this.#signs.forget(ownerOf(token));
  }

  async waiting(): Promise<{ count: number; hosted: number; nextMs?: number }> {
    const [work, signs, now] = await Promise.all([
      this.#server.keys("work", "*.*.*.*"),
      this.#signs.all(),
      this.#server.now(),
    ]);
    const runs = new Set(work.map(lastWord));
    const hosts = new Set(signs.flatMap(({ run }) => (run !== undefined && runs.has(run) ? [run] : [])));
    // Unhosted runs are assumed to wait; if they are few, each one is inspected.
    const looked = [...runs].filter((run) => hosts.has(run) || runs.size - hosts.size <= fewRuns);
    const stands = await Promise.all(looked.map(async (run) => this.#standing(await this.#logs.last(run), now)));
    // Runs that are over still have messages if those were not yet delivered, or if a killed server forgot that it deleted them.
    const over = stands.filter(({ is }) => is === "over");
    const left = stands.flatMap((each) => (each.is === "hosted" ? [each.leftMs] : []));
    const next = left.length > 0 ? { nextMs: Math.max(0, Math.min(...left)) } : {};
    return { count: runs.size - over.length - left.length, hosted: left.length, ...next };
  }

  async #standing(last: Last, now: number): Promise<Standing> {
    const { owner, state } = last.head;
    const sign = owner !== undefined && state === "running" ? await this.#signs.last(owner) : undefined;
    return standing(last, { renewedAt: sign?.at, now, foundAgainAt: this.#server.foundAgainAt });
  }

  /** The worker that may take runs of a lane registers it with the server, so that senders do not need that permission. */
  async #lanesFor(pool: string, labels: Labels): Promise<Lane[]> {
    const keys = await this.#server.keys("state", `lane.${word(pool)}.*.*`);
    const lanes = keys.map((key) => key.slice("lane.".length) as Lane);
    const wanted = await Promise.all(lanes.map(async (lane) => ({ lane, labels: await this.#labels(lane) })));
    const own = wanted.filter((lane) => hasLabels(labels, lane.labels)).map(({ lane }) => lane);
    await Promise.all(own.map((lane) => this.#server.addLane(lane)));
    return byUrgency(own, this.#turn++);
  }

  async #labels(lane: Lane): Promise<Labels> {
    if (isForAnybody(lane)) return {};
    const known = this.#labelsOf.get(lane);
    if (known) return known;
    const stored = await this.#server.last("state", `lane.${lane}`);
    const labels = stored ? (JSON.parse(Buffer.from(stored.data).toString()) as Labels) : {};
    this.#labelsOf.set(lane, labels);
    return labels;
  }
}
