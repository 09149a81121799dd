// A server of streams in memory that behaves as JetStream does, and its connections, which are slow, lose questions and answers, are
// cut, and hand messages out twice. What a process does about that is the engine's own code.

import { type Acknowledged, messageId, publishOnce, untilAnswered } from "../../../src/serve/engines/nats/retry.ts";
import {
  type DeliveredMessage,
  type Lane,
  type PublishOptions,
  type Server,
  type Stored,
  type StreamName,
  streamNames,
  type Work,
} from "../../../src/serve/engines/nats/server.ts";
import type { Dice, Timer, VirtualClock } from "./virtual-clock.ts";

const ackWaitMs = 15_000;
const answerMs = 5000;
const pullMs = 20_000;
const knownMs = 120_000;

export type Faults = {
  /** Of questions and of answers that get lost. */
  loss: number;
  /** Of those that take long. */
  delay: number;
  /** Of messages that are handed out to two workers. */
  twice: number;
  /** Of lists that are read from a replica that is behind, which is noticed. */
  stale: number;
};

/** A cluster compares the expected sequence with what its replicas have agreed on: what was written a moment ago is not seen. */
const agreedMs = 2;

class Stale extends Error {}
class Lost extends Error {}

type Message = Stored & { writer: string };
type Queued = { lane: Lane; run: string; number: number; timer?: Timer | undefined; isReady: boolean };
type Waiter = { lanes: readonly Lane[]; give(work: Work): void };

/** One key is looked up; filters go through the keys with the same first word. */
class Keys {
  sequence = 0;
  readonly #groups = new Map<string, Map<string, Message[]>>();
  readonly ids = new Map<string, { sequence: number; at: number }>();

  of(key: string): Message[] | undefined {
    return this.#groups.get(firstWord(key))?.get(key);
  }

  add(message: Message, keepOne: boolean): void {
    const word = firstWord(message.key);
    const group = this.#groups.get(word) ?? new Map<string, Message[]>();
    this.#groups.set(word, group);
    const list = group.get(message.key);
    if (list && !keepOne) list.push(message);
    else group.set(message.key, [message]);
  }

  matching(filter: string): [string, Message[]][] {
    const word = firstWord(filter);
    const groups = word === "*" || word === ">" ? [...this.#groups.values()] : [this.#groups.get(word) ?? new Map()];
    const pattern = new RegExp(`^${filter.replaceAll(".", "\\.").replaceAll("*", "[^.]+").replace(">", ".+")}$`);
    return groups.flatMap((group) => [...group].filter(([key]) => pattern.test(key)));
  }

  drop(key: string, keep: number): void {
    const group = this.#groups.get(firstWord(key));
    const list = group?.get(key);
    if (list && keep > 0) list.splice(0, Math.max(0, list.length - keep));
    else group?.delete(key);
  }
}

function firstWord(key: string): string {
  const end = key.indexOf(".");
  return end < 0 ? key : key.slice(0, end);
}

export class SimulatedServer {
  readonly clock: VirtualClock;
  readonly dice: Dice;
  readonly faults: Faults;
  readonly streams = Object.fromEntries(streamNames.map((name) => [name, new Keys()])) as Record<StreamName, Keys>;
  readonly connections = new Set<SimulatedConnection>();
  onStored: (stream: StreamName, message: Stored) => void = () => {};
  isDown = false;
  /** Streams that have no leader just now. */
  readonly leaderless = new Set<StreamName>();
  /** Streams whose new leader answers before it knows all that was stored: reads are as of a moment before the election. */
  readonly #behind = new Map<StreamName, { asOf: number; until: number }>();
  readonly #queued = new Map<number, Queued>();
  readonly #ready = new Map<Lane, Queued[]>();
  readonly #waiters: Waiter[] = [];
  #doneLately: { at: number; item: Queued }[] = [];

  constructor(clock: VirtualClock, dice: Dice, faults: Faults) {
    this.clock = clock;
    this.dice = dice;
    this.faults = faults;
  }

  publish(
    stream: StreamName,
    key: string,
    data: string,
    writer: string,
    { head, after }: PublishOptions,
  ): Acknowledged {
    const keys = this.streams[stream];
    const id = messageId(key, writer, after);
    const known = keys.ids.get(id);
    if (known && this.clock.now - known.at < knownMs) return { sequence: known.sequence, isDuplicate: id !== writer };
    const messages = keys.of(key) ?? [];
    const agreed = messages.findLast(({ at }) => this.clock.now - at >= agreedMs);
    const seen = after === 0 ? [messages.at(-1)] : [messages.at(-1), agreed];
    if (after !== undefined && !seen.some((message) => (message?.sequence ?? 0) === after)) throw new Stale();
    const sequence = ++keys.sequence;
    keys.ids.set(id, { sequence, at: this.clock.now });
    const message = {
      key,
      sequence,
      at: this.clock.now,
      data: Buffer.from(data),
      writer,
      ...(head !== undefined && { head }),
    };
    keys.add(message, stream === "lease" || stream === "runs" || stream === "state");
    this.#behind.delete(stream); // what it stores itself comes after all the rest
    if (stream === "work") this.#offer(key, sequence);
    this.onStored(stream, message);
    return { sequence, isDuplicate: false };
  }

  /** What the leader of the stream takes for the last message of the key. */
  last(stream: StreamName, key: string): Message | undefined {
    const { asOf, until } = this.#behind.get(stream) ?? { asOf: 0, until: 0 };
    const messages = this.streams[stream].of(key);
    return this.clock.now < until ? messages?.findLast(({ at }) => at <= asOf) : messages?.at(-1);
  }

  #offer(key: string, number: number): void {
    const words = key.split(".");
    const item: Queued = { lane: words.slice(0, 3).join(".") as Lane, run: words[3]!, number, isReady: false };
    this.#queued.set(number, item);
    this.#makeReady(item);
  }

  #makeReady(item: Queued, isFirst = false): void {
    if (item.isReady || !this.#queued.has(item.number)) return;
    if (item.timer) item.timer.fire = undefined;
    item.isReady = true;
    const line = this.#ready.get(item.lane) ?? [];
    this.#ready.set(item.lane, line);
    if (isFirst) line.unshift(item);
    else line.push(item);
    const at = this.#waiters.findIndex(({ lanes }) => lanes.includes(item.lane));
    if (at >= 0) this.#waiters.splice(at, 1)[0]!.give(this.next([item.lane])!);
  }

  next(lanes: readonly Lane[]): Work | undefined {
    for (const lane of lanes) {
      const item = this.#ready.get(lane)?.shift();
      if (!item) continue;
      item.isReady = false;
      this.#arm(item, ackWaitMs);
      if (this.dice.isIn(this.faults.twice))
        this.clock.after(this.dice.between(0, 4), () => this.#makeReady(item, true));
      return { run: item.run, handle: String(item.number) };
    }
    return undefined;
  }

  wait(waiter: Waiter): () => void {
    this.#waiters.push(waiter);
    return () => {
      const at = this.#waiters.indexOf(waiter);
      if (at >= 0) this.#waiters.splice(at, 1);
    };
  }

  #arm(item: Queued, ms: number): void {
    if (item.timer) item.timer.fire = undefined;
    item.timer = this.clock.after(ms, () => this.#makeReady(item, true));
  }

  hold(handle: string, ms: number): void {
    const item = this.#queued.get(Number(handle));
    if (item && !item.isReady) this.#arm(item, ms);
  }

  giveBack(handle: string): void {
    const item = this.#queued.get(Number(handle));
    if (item) this.#makeReady(item, true);
  }

  done(handle: string): void {
    const item = this.#queued.get(Number(handle));
    if (!item) return;
    if (item.timer) item.timer.fire = undefined;
    this.#queued.delete(item.number);
    const line = this.#ready.get(item.lane);
    if (item.isReady && line) line.splice(line.indexOf(item), 1);
    item.isReady = false;
    this.#doneLately.push({ at: this.clock.now, item });
    this.#doneLately = this.#doneLately.filter(({ at }) => this.clock.now - at < 500);
  }

  /** The leader of some streams dies; others elect another one after a while, and tell, which some do not hear. */
  elect(streams: readonly StreamName[], ms: number): void {
    for (const stream of streams) this.leaderless.add(stream);
    if (streams.includes("work")) this.#waiters.length = 0;
    const electedAt = this.clock.now;
    this.clock.after(ms, () => {
      for (const stream of streams) {
        this.leaderless.delete(stream);
        const until = this.clock.now + this.dice.between(0, 1000);
        this.#behind.set(stream, { asOf: electedAt - this.dice.between(0, 500), until });
      }
      for (const connection of this.connections) if (!this.dice.isIn(0.02)) connection.foundAgain();
    });
  }

  /** Killed: who waits is forgotten, and so is what was deleted a moment ago; some messages are handed out again too early. */
  stop(): void {
    this.isDown = true;
    this.#waiters.length = 0;
  }

  start(): void {
    this.isDown = false;
    for (const { item } of this.#doneLately.splice(0)) {
      this.#queued.set(item.number, item);
      this.#makeReady(item);
    }
    for (const item of [...this.#queued.values()])
      if (!item.isReady) {
        if (this.dice.isIn(0.2))
          this.#makeReady(item, true); // what was handed out before goes first
        else this.#arm(item, ackWaitMs);
      }
    for (const connection of this.connections) connection.foundAgain();
  }
}

/** One process. Frozen: it does nothing until it is thawed. Dead: nothing any more. */
export class SimulatedConnection implements Server {
  readonly maxBytes = 1_000_000;
  /** Hosts in the simulation never give up, which is harder for the others. */
  readonly patient = (): Server => this;
  readonly reading = (): Server => this;
  foundAgainAt = 0;
  isDead = false;
  isCut = false;
  #isFrozen = false;
  readonly #asleep: (() => void)[] = [];
  readonly #server: SimulatedServer;
  readonly #onGap = new Set<() => void>();
  readonly #onLanes = new Set<() => void>();
  #ids = 0;
  readonly #name: string;

  constructor(server: SimulatedServer, name: string) {
    this.#server = server;
    this.#name = name;
    server.connections.add(this);
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const act of this.#asleep.splice(0)) act();
  }

  die(): void {
    this.isDead = true;
    this.#server.connections.delete(this);
  }

  /** What this process does, when it can. */
  act(what: () => void): void {
    if (this.isDead) return;
    if (this.#isFrozen) this.#asleep.push(what);
    else what();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#server.clock.after(ms, () => this.act(resolve)));
  }

  foundAgain(): void {
    this.foundAgainAt = this.#server.clock.now;
    for (const tell of [...this.#onGap]) this.act(tell);
  }

  publish(stream: StreamName, key: string, data: string, options: PublishOptions = {}): Promise<number> {
    const writer = `${this.#name}-${this.#ids++}`;
    return this.#again(() =>
      publishOnce({
        writer,
        send: () => this.#ask(stream, () => this.#server.publish(stream, key, data, writer, options)),
        isOvertaken: (error) => error instanceof Stale,
        stored: (sequence) =>
          this.#ask(stream, () => {
            const messages = this.#server.streams[stream].of(key) ?? [];
            return sequence === undefined ? messages.at(-1) : messages.find((each) => each.sequence === sequence);
          }),
      }),
    );
  }

  last = (stream: StreamName, key: string, atLeast = 0): Promise<Stored | undefined> =>
    this.#again(() =>
      this.#ask(stream, () => {
        const found = this.#server.last(stream, key);
        if ((found?.sequence ?? 0) < atLeast) throw new Lost();
        return found;
      }),
    );

  range(stream: StreamName, filter: string, from: number, { to = Infinity, most = Infinity } = {}): Promise<Stored[]> {
    return this.#again(() =>
      this.#ask(stream, () => {
        if (this.#server.dice.isIn(this.#server.faults.stale)) throw new Lost();
        const found = this.#server.streams[stream].matching(filter).flatMap(([, messages]) => messages);
        const inside = found.filter(({ sequence }) => sequence >= from && sequence <= to);
        return inside.sort((one, other) => one.sequence - other.sequence).slice(0, most);
      }),
    );
  }

  watch(
    _stream: StreamName,
    _filter: string,
    _listeners: { onMessage(message: DeliveredMessage): void; onGap(): void },
  ): never {
    throw new Error("nobody watches in the simulation");
  }

  keys = (stream: StreamName, filter: string) =>
    this.#again(() => this.#ask(stream, () => this.#server.streams[stream].matching(filter).map(([key]) => key)));

  end = (stream: StreamName) => this.#again(() => this.#ask(stream, () => this.#server.streams[stream].sequence));

  purge(stream: StreamName, filter: string, keep = 0): Promise<void> {
    return this.#again(() =>
      this.#ask(stream, () => {
        const keys = this.#server.streams[stream];
        for (const [key] of keys.matching(filter)) keys.drop(key, keep);
      }),
    );
  }

  fullness = () => Promise.resolve(0);
  addLane = () => Promise.resolve();

  async pull(lanes: readonly Lane[], wait?: AbortSignal): Promise<Work | undefined> {
    const now = await this.#ask("work", () => this.#server.next(lanes)).catch(() => undefined);
    if (now || !wait || wait.aborted) return now;
    return new Promise((resolve) => {
      let cancel = () => {};
      const end = (work?: Work) => {
        cancel();
        timer.fire = undefined;
        wait.removeEventListener("abort", onAbort);
        this.#onGap.delete(onAbort);
        this.act(() => resolve(work));
      };
      const onAbort = () => end();
      const timer = this.#server.clock.after(pullMs, onAbort);
      wait.addEventListener("abort", onAbort);
      this.#onGap.add(onAbort);
      if (this.#isUnreachable() || this.#server.leaderless.has("work")) return;
      cancel = this.#server.wait({ lanes, give: (work) => this.#travel(() => end(work)) });
    });
  }

  hold(handle: string, ms: number): void {
    this.#travel(() => this.#server.hold(handle, ms));
  }

  giveBack = (handle: string) => this.#again(() => this.#ask("work", () => this.#server.giveBack(handle)));
  done = (handle: string) => this.#again(() => this.#ask("work", () => this.#server.done(handle)));
  now = () => Promise.resolve(this.#server.clock.now - 1);

  onReach(): void {}

  tellLanes(): void {
    this.#travel(() => {
      for (const connection of this.#server.connections)
        for (const listener of connection.#onLanes) connection.act(listener);
    });
  }

  onLanes(listener: () => void): void {
    this.#onLanes.add(listener);
  }

  putObject = () => Promise.resolve();
  getObject = () => Promise.resolve(undefined);
  dropObject = () => Promise.resolve();
  close = () => this.die();

  #again<T>(work: () => Promise<T>): Promise<T> {
    return untilAnswered(work, { patienceMs: Infinity, isPassing: (error) => error instanceof Lost });
  }

  #isUnreachable(): boolean {
    return this.isCut || this.#server.isDown;
  }

  /** There, if it arrives. */
  #travel(arrive: () => void): void {
    const { clock, dice, faults } = this.#server;
    if (dice.isIn(faults.loss) || this.#isUnreachable()) return;
    const ms = dice.isIn(faults.delay) ? dice.between(20, 400) : dice.between(0.1, 2);
    clock.after(ms, () => {
      if (!this.#isUnreachable()) arrive();
    });
  }

  /** A question and its answer, either of which may never arrive. */
  #ask<T>(stream: StreamName, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const { clock } = this.#server;
      const timer = clock.after(answerMs, () => this.act(() => reject(new Lost())));
      const answered = (settle: () => void) =>
        this.#travel(() => {
          timer.fire = undefined;
          this.act(settle);
        });
      this.#travel(() => {
        try {
          if (this.#server.leaderless.has(stream)) throw new Lost();
          const result = work();
          answered(() => resolve(result));
        } catch (error) {
          answered(() => reject(error));
        }
      });
    });
  }
}
