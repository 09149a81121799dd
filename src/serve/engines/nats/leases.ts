// Leases: which run a worker gets, and for how long. The server hands out each run to one worker, and again when nobody has said for
// the time of the lease that it is held; whose it is stands in the log of the run, written behind the last message or not at all.
import { UserError } from "../../../protocol/error-codes.ts";
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import { hasLabels, type Lease, type LeaseOptions, type Placement, type RunSpec, specVersion } from "../../fleet.ts";
import { byUrgency, isForAnybody, laneOf, lastWord, word } from "./keys.ts";
import type { RunLogs } from "./log.ts";
import type { Payloads } from "./payloads.ts";
import { handleOf, type Last, ownerOf, positionOf, type Standing, standing, taken, tokenOf } from "./rules.ts";
import type { Lane, Server } from "./server.ts";
import { Signs } from "./signs.ts";

/** A run that somebody else hosts is looked at again a little after its host could be lost. */
const laterMs = 10;
const lookAgainMs = 5000;
const roomMs = 500;
/** So many runs are looked at one by one. */
const fewRuns = 500;

export type Found = { lease: Lease; last: Last };
type Labels = Readonly<Record<string, string>>;

export class Leases {
  readonly #server: Server;
  readonly #logs: RunLogs;
  readonly #payloads: Payloads;
  readonly #signs: Signs;
  readonly #labelsOf = new Map<Lane, Labels>();

  constructor(server: Server, logs: RunLogs, payloads: Payloads) {
    this.#server = server;
    this.#logs = logs;
    this.#payloads = payloads;
    this.#signs = new Signs(server);
  }

  /** There is a run to be handed out. The same again changes nothing. */
  async offer(run: string, placement: Placement | undefined): Promise<void> {
    const lane = laneOf(placement);
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

  /** Its host let go of it. The message of a run that was taken by its id may be put off: there is another one then. */
  async offerAgain({ run, token }: Lease, placement: Placement | undefined): Promise<void> {
    const handle = handleOf(token);
    if (handle === undefined) return this.offer(run, placement);
    await this.#server.giveBack(handle);
    this.#server.tellNews("runs");
  }

  /** It is over. A message that nobody was handed goes with the worker that is: it finds that there is nothing to do. */
  async withdraw(handle: string | undefined): Promise<void> {
    if (handle !== undefined) await this.#server.done(handle);
    this.#server.tellNews("runs");
  }

  /** The one that is given, else the next. */
  async find(options: LeaseOptions): Promise<Found | undefined> {
    const { wait, most, ttlMs } = options;
    while (true) {
      const owner = randomUuid();
      const isRoom = most === undefined || (await this.#signs.findRoom(owner, ttlMs, most));
      const found = isRoom ? await this.#next(owner, options) : undefined;
      if (found) return found;
      if (isRoom && most !== undefined) await this.#signs.forget(owner);
      if (!wait || wait.aborted) return undefined;
      if (!isRoom) await aborted(wait, roomMs);
    }
  }

  async #next(owner: string, options: LeaseOptions): Promise<Found | undefined> {
    const { wait, pool = "default", labels = {} } = options;
    if (options.run !== undefined) return this.#take(options.run, undefined, owner, options);
    const lanes = await this.#lanesFor(pool, labels);
    const stop = new AbortController();
    const end = () => stop.abort();
    // A lane that did not exist a moment ago may be for this worker.
    const news = wait && this.#server.onNews("lanes", end);
    wait?.addEventListener("abort", end);
    if (wait?.aborted) end();
    try {
      if (lanes.length === 0 && wait) await aborted(stop.signal, lookAgainMs);
      while (lanes.length > 0) {
        const work = await this.#server.pull(lanes, wait && stop.signal);
        const found = work && (await this.#take(work.run, work.handle, owner, options));
        if (found || !work) return found;
      }
      return undefined;
    } finally {
      news?.close();
      wait?.removeEventListener("abort", end);
    }
  }

  /** Undefined: it is somebody else's, or over. */
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
      const made = await this.#server.last("runs", `run.${word(run)}`);
      // A run is made before it is offered: where there is none any more, it was deleted.
      if (stands.is === "over" || (last.sequence === 0 && !made)) {
        await this.withdraw(handle);
        return undefined;
      }
      const version = made ? await this.#versionOf(run, made.data) : specVersion;
      if (version > specVersion) {
        onNewer?.(run, version);
        if (handle !== undefined) this.#server.hold(handle, lookAgainMs);
        return undefined;
      }
      if (stands.is === "hosted") {
        if (handle !== undefined) this.#server.hold(handle, stands.leftMs + laterMs);
        return undefined;
      }
      const written = await this.#claim(run, last, { worker, owner, ttlMs, now });
      if (!written) continue;
      await this.#signs.give(owner, { run, ttlMs });
      if (handle !== undefined) this.#server.hold(handle, ttlMs);
      if (last.head.owner !== undefined) await this.#signs.forget(last.head.owner);
      const lease = { run, token: tokenOf(owner, handle), position: positionOf(written), ttlMs };
      return { lease, last: written };
    }
  }

  async #versionOf(run: string, data: Uint8Array): Promise<number> {
    const made = await this.#payloads.unpack<{ spec: RunSpec }>(run, data);
    return made?.spec.version ?? 1;
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

  /** Whoever was handed the run keeps it to itself for so long. */
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
    // Those that nobody hosts are believed to wait; where they are few, they are looked at.
    const looked = [...runs].filter((run) => hosts.has(run) || runs.size - hosts.size <= fewRuns);
    const stands = await Promise.all(looked.map(async (run) => this.#standing(await this.#logs.last(run), now)));
    // Nobody was handed their messages yet, or a server that was killed had forgotten that it deleted them.
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

  /** Whoever may take runs of a lane makes it known to the server: who only sends them need not be allowed to. */
  async #lanesFor(pool: string, labels: Labels): Promise<Lane[]> {
    const keys = await this.#server.keys("state", `lane.${word(pool)}.*.*`);
    const lanes = keys.map((key) => key.slice("lane.".length) as Lane);
    const wanted = await Promise.all(lanes.map(async (lane) => ({ lane, labels: await this.#labels(lane) })));
    const own = wanted.filter((lane) => hasLabels(labels, lane.labels)).map(({ lane }) => lane);
    await Promise.all(own.map((lane) => this.#server.addLane(lane)));
    return own.sort(byUrgency);
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

function aborted(signal: AbortSignal, mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, mostMs);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
