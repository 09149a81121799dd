// JetStream as the server of a fleet. What is sent is sent again until the server has answered; it stores each message once, by its
// id. Readers are told what was stored by the stream itself (republish): no consumer is kept for them.
import type { StoredMsg } from "@nats-io/jetstream";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import type { Connected } from "./connect.ts";
import { fleetError, isClosed, isPassing, isWrongSequence, unreachable } from "./errors.ts";
import { lastWord } from "./keys.ts";
import { dropObject, getObject, putObject } from "./objects.ts";
import { type Pulled, pullNext, pullNow } from "./pulls.ts";
import { publishOnce, untilAnswered } from "./retry.ts";
import {
  type Heard,
  type Lane,
  type NewsKind,
  type PublishOptions,
  Refused,
  type Server,
  type Stored,
  type StreamName,
  type Work,
} from "./server.ts";

const headHeader = "Courser-Head";
const idHeader = "Nats-Msg-Id";
/** An answer takes so long at most; then the question is put again. */
const answerMs = 5000;
/** Who asks is told that the server is away after this time. */
const patienceMs = 60_000;
const clockGoodMs = 30_000;
const pullMs = 20_000;
/** Who only asks does not wait for a server that says nothing. */
const askedMs = 1000;
/** Headers are counted with the data. */
const headersBytes = 32 * 1024;
const mostInPull = 500;
export const ackWaitMs = 15_000;
const nanoseconds = 1_000_000;

type Watcher = { onMessage(message: Heard): void; onGap(): void };

/** What is known of the connection, by everybody who uses it. */
type Known = {
  clock?: { offset: number; takenAt: number } | undefined;
  isAway: boolean;
  /** It was lost, and is there again: by the clock that is read next. */
  isFoundAgain: boolean;
  foundAgainAt: number;
  lanes: Set<Lane>;
  onGap: Set<() => void>;
  watches: Map<string, { watchers: Set<Watcher>; subscription: { unsubscribe(): void } }>;
  onReach: Set<(isReached: boolean) => void>;
  /** Of questions that were put to a server that is away now. */
  onLost: Set<(error: Error) => void>;
};

export class JetStream implements Server {
  readonly #connected: Connected;
  readonly #known: Known;
  readonly #patienceMs: number;
  readonly #giveUp: AbortSignal | undefined;
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #clockKey = `clock.${randomUuid()}`;

  constructor(connected: Connected, known?: Known, giveUp?: AbortSignal) {
    this.#connected = connected;
    this.#giveUp = giveUp;
    giveUp?.addEventListener("abort", () => {
      for (const reject of [...this.#waiting]) reject(awayError());
    });
    this.#known = known ?? {
      isAway: false,
      isFoundAgain: false,
      foundAgainAt: 0,
      lanes: new Set(),
      watches: new Map(),
      onGap: new Set(),
      onReach: new Set(),
      onLost: new Set(),
    };
    this.#patienceMs = known ? Infinity : patienceMs;
    if (!known) void this.#watchConnection();
  }

  patient(giveUp?: AbortSignal): Server {
    return new JetStream(this.#connected, this.#known, giveUp);
  }

  get foundAgainAt(): number {
    return this.#known.foundAgainAt;
  }

  get maxBytes(): number {
    return (this.#connected.connection.info?.max_payload ?? 1_048_576) - headersBytes;
  }

  publish(stream: StreamName, key: string, data: string, { head, after }: PublishOptions = {}): Promise<number> {
    const { jetstream, names, packages } = this.#connected;
    const id = randomUuid();
    const subject = names.subject(stream, key);
    return this.#again(async () => {
      const headers = packages.transport.headers();
      if (head !== undefined) headers.set(headHeader, head);
      const expect = after === undefined ? {} : { expect: { lastSubjectSequence: after } };
      const send = async () =>
        (await jetstream.publish(subject, data, { msgID: id, headers, timeout: answerMs, retries: 1, ...expect })).seq;
      return publishOnce(id, send, isWrongSequence, async () => {
        const last = await this.#last(stream, key);
        return last ? { sequence: last.seq, id: last.header?.get(idHeader) } : undefined;
      });
    });
  }

  async last(stream: StreamName, key: string): Promise<Stored | undefined> {
    const found = await this.#again(() => this.#last(stream, key));
    return found ? this.#stored(stream, found) : undefined;
  }

  range(
    stream: StreamName,
    filter: string,
    from: number,
    { to = Number.MAX_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER }: { to?: number; most?: number } = {},
  ): Promise<Stored[]> {
    return this.#again(() => this.#range(stream, filter, from, to, most));
  }

  async #range(stream: StreamName, filter: string, from: number, to: number, most: number): Promise<Stored[]> {
    const { manager, names, packages, connection } = this.#connected;
    const { AckPolicy, DeliverPolicy } = packages.jetstream;
    const name = names.stream(stream);
    const consumer = await manager.consumers.add(name, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Math.max(1, from),
      filter_subject: names.subject(stream, filter),
      inactive_threshold: answerMs * nanoseconds,
      mem_storage: true,
      num_replicas: 1,
    });
    const all: Stored[] = [];
    const source = { stream: name, consumer: consumer.name };
    // As many as there are now: a reader that went on as long as there is more would follow busy writers for ever.
    for (let left = Math.min(most, consumer.num_pending); left > 0; ) {
      const batch = Math.min(left, mostInPull, Math.max(1, to - from + 1));
      const page = await pullNow(connection, source, batch, answerMs);
      for (const each of page) if (each.sequence <= to) all.push(this.#pulled(stream, each));
      if (page.length < batch || page.at(-1)!.sequence >= to) break;
      left -= page.length;
    }
    void manager.consumers.delete(name, consumer.name).catch(() => {}); // it would go by itself
    return all;
  }

  /** However many watch the same in this process: the server tells it once. */
  watch(stream: StreamName, filter: string, listener: Watcher): { close(): void } {
    const { connection, names } = this.#connected;
    const { watches } = this.#known;
    const subject = names.live(stream, filter);
    const watchers = watches.get(subject)?.watchers ?? new Set();
    if (watchers.size === 0) {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          const heard = error ? undefined : this.#heard(stream, message);
          for (const watcher of [...watchers]) {
            if (heard) watcher.onMessage(heard);
            else watcher.onGap();
          }
        },
      });
      watches.set(subject, { watchers, subscription });
    }
    watchers.add(listener);
    this.#known.onGap.add(listener.onGap);
    return {
      close: () => {
        this.#known.onGap.delete(listener.onGap);
        watchers.delete(listener);
        if (watchers.size > 0) return;
        watches.get(subject)?.subscription.unsubscribe();
        watches.delete(subject);
      },
    };
  }

  async keys(stream: StreamName, filter: string): Promise<string[]> {
    const { manager, names } = this.#connected;
    const options = { subjects_filter: names.subject(stream, filter) };
    const info = await this.#again(() => manager.streams.info(names.stream(stream), options));
    return Object.keys(info.state.subjects ?? {}).map((subject) => names.keyOf(stream, subject));
  }

  async end(stream: StreamName): Promise<number> {
    const { manager, names } = this.#connected;
    return (await this.#again(() => manager.streams.info(names.stream(stream)))).state.last_seq;
  }

  async purge(stream: StreamName, filter: string, keep?: number): Promise<void> {
    const { manager, names } = this.#connected;
    const options = { filter: names.subject(stream, filter), ...(keep !== undefined && { keep }) };
    await this.#again(() => manager.streams.purge(names.stream(stream), options));
  }

  async addLane(lane: Lane): Promise<void> {
    if (this.#known.lanes.has(lane)) return;
    const { manager, names, packages } = this.#connected;
    await this.#again(() =>
      manager.consumers.add(names.stream("work"), {
        durable_name: consumerOf(lane),
        ack_policy: packages.jetstream.AckPolicy.Explicit,
        ack_wait: ackWaitMs * nanoseconds,
        filter_subject: names.subject("work", `${lane}.*`),
        max_ack_pending: -1,
        max_waiting: 10_000,
      }),
    );
    this.#known.lanes.add(lane);
  }

  async pull(lanes: readonly Lane[], wait?: AbortSignal): Promise<Work | undefined> {
    const { connection, names } = this.#connected;
    const sources = lanes.map((lane) => ({ stream: names.stream("work"), consumer: consumerOf(lane) }));
    const giveBack = ({ reply }: Pulled) => connection.publish(reply, "-NAK");
    for (const source of sources) {
      if (this.#known.isAway) break;
      const message = await pullNext(connection, [source], { waitMs: askedMs, giveBack });
      if (message) return workIn(message);
    }
    if (!wait || wait.aborted) return undefined;
    // A server that was away has forgotten who waits.
    const gap = new AbortController();
    const end = () => gap.abort();
    this.#known.onGap.add(end);
    const signal = AbortSignal.any([wait, gap.signal]);
    const message = await pullNext(connection, sources, { waitMs: pullMs, signal, giveBack });
    this.#known.onGap.delete(end);
    return message && workIn(message);
  }

  /** For the time that the consumer grants anyway a sign of life will do; another one is told as a delay. */
  hold(handle: string, ms: number): void {
    const delay = `-NAK ${JSON.stringify({ delay: Math.ceil(ms) * nanoseconds })}`;
    try {
      this.#connected.connection.publish(handle, ms === ackWaitMs ? "+WPI" : delay);
    } catch {} // closed
  }

  giveBack = (handle: string) => this.#settle(handle, "-NAK");
  done = (handle: string) => this.#settle(handle, "+ACK");

  async #settle(handle: string, how: string): Promise<void> {
    const { connection } = this.#connected;
    await this.#again(() => connection.request(handle, how, { timeout: answerMs }));
  }

  async now(): Promise<number> {
    const known = this.#known;
    if (!known.clock || performance.now() - known.clock.takenAt > clockGoodMs) {
      await this.publish("lease", this.#clockKey, "");
      const stored = await this.last("lease", this.#clockKey);
      // The answer took its time: this is never ahead of the server.
      const takenAt = performance.now();
      known.clock = { offset: (stored?.at ?? 0) - takenAt, takenAt };
      if (known.isFoundAgain) known.foundAgainAt = takenAt + known.clock.offset;
      known.isFoundAgain = false;
    }
    return performance.now() + known.clock.offset;
  }

  onReach(listener: (isReached: boolean) => void): void {
    this.#known.onReach.add(listener);
  }

  tellNews(kind: NewsKind): void {
    const { connection, names } = this.#connected;
    try {
      connection.publish(names.news(kind));
    } catch {} // closed
  }

  onNews(kind: NewsKind, listener: () => void): { close(): void } {
    const { connection, names } = this.#connected;
    const subscription = connection.subscribe(names.news(kind), { callback: listener });
    this.#known.onGap.add(listener);
    return {
      close: () => {
        this.#known.onGap.delete(listener);
        subscription.unsubscribe();
      },
    };
  }

  putObject = (name: string, bytes: AsyncIterable<Uint8Array>) => putObject(this.#connected, name, bytes);
  getObject = (name: string) => this.#again(() => getObject(this.#connected, name));
  dropObject = (name: string) => dropObject(this.#connected, name);

  close(): void {
    void this.#connected.connection.close();
    this.#wakeAll();
  }

  async #again<T>(work: () => Promise<T>): Promise<T> {
    const { where, connection } = this.#connected;
    const giveUp = this.#giveUp;
    try {
      giveUp?.throwIfAborted();
      return await untilAnswered(() => (this.#known.isAway ? Promise.reject(awayError()) : this.#unlessLost(work())), {
        patienceMs: this.#patienceMs,
        isPassing: (error) => !connection.isClosed() && !giveUp?.aborted && isPassing(error),
      });
    } catch (error) {
      giveUp?.throwIfAborted();
      if (error instanceof Refused) throw error;
      if (isClosed(error) || connection.isClosed()) throw unreachable(where, "the connection was closed");
      throw fleetError(error, where);
    }
  }

  /** An answer from a server that was lost never comes, and who has given up does not wait for one. */
  #unlessLost<T>(answer: Promise<T>): Promise<T> {
    const all = [this.#known.onLost, this.#waiting];
    return new Promise((resolve, reject) => {
      for (const each of all) each.add(reject);
      answer.then(resolve, reject).finally(() => {
        for (const each of all) each.delete(reject);
      });
    });
  }

  async #watchConnection(): Promise<void> {
    for await (const { type } of this.#connected.connection.status()) {
      if (type === "disconnect") {
        this.#known.isAway = true;
        for (const tell of this.#known.onReach) tell(false);
        for (const reject of [...this.#known.onLost]) reject(awayError());
      }
      if (type !== "reconnect") continue;
      this.#known.isAway = false;
      this.#known.clock = undefined;
      this.#known.isFoundAgain = true;
      for (const tell of this.#known.onReach) tell(true);
      this.#wakeAll();
    }
  }

  #wakeAll(): void {
    for (const each of [...this.#known.onGap]) each();
  }

  async #last(stream: StreamName, key: string): Promise<StoredMsg | null> {
    const { manager, names } = this.#connected;
    return manager.direct.getMessage(names.stream(stream), { last_by_subj: names.subject(stream, key) });
  }

  #stored(stream: StreamName, { subject, seq, time, data, header }: StoredMsg): Stored {
    const key = this.#connected.names.keyOf(stream, subject);
    return { key, sequence: seq, at: time.getTime(), data, ...headIn(header) };
  }

  #pulled(stream: StreamName, { subject, sequence, at, data, headers }: Pulled): Stored {
    return { key: this.#connected.names.keyOf(stream, subject), sequence, at, data, ...headIn(headers) };
  }

  #heard(stream: StreamName, { subject, data, headers }: Msg): Heard {
    return {
      key: this.#connected.names.keyOfLive(stream, subject),
      sequence: Number(headers?.get("Nats-Sequence")),
      previous: Number(headers?.get("Nats-Last-Sequence")),
      at: 0,
      data,
      ...headIn(headers),
    };
  }
}

function awayError(): Error {
  return Object.assign(new Error("the connection was lost"), { name: "ConnectionError" });
}

function headIn(headers: MsgHdrs | undefined): { head?: string } {
  const head = headers?.get(headHeader);
  return head ? { head } : {};
}

function consumerOf(lane: Lane): string {
  return lane.replaceAll(".", "_").replaceAll("=", "-");
}

function workIn({ subject, reply }: Pulled): Work {
  return { run: lastWord(subject), handle: reply };
}
