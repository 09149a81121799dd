// Implements the fleet's server with JetStream. Messages are sent again until the server acknowledges them; it stores each one
// once, by its id. Readers receive what was stored from the stream itself (republish), so they need no consumers.
import type { JetStreamAccountStats, StoredMsg } from "@nats-io/jetstream";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import { answerMs, type Connected } from "./connect.ts";
import { fleetError, isPassing, meaningOf, staleRead, unreachableError } from "./errors.ts";
import { lastWord } from "./keys.ts";
import { Objects } from "./objects.ts";
import { type Pulled, pullNext } from "./pulls.ts";
import { awayError, Reach } from "./reach.ts";
import { lastMessage, messageAt, readPages } from "./reads.ts";
import { removeMessages } from "./removal.ts";
import { messageId, publishOnce, untilAnswered } from "./retry.ts";
import {
  type DeliveredMessage,
  type Lane,
  type PublishOptions,
  Refused,
  type Server,
  type Stored,
  type StreamName,
  type Work,
} from "./server.ts";
import { ServerClock } from "./server-clock.ts";

const headHeader = "Courser-Head";
const writerHeader = "Courser-Writer";
/** How long a call retries before it fails because the server is away. */
const patienceMs = 60_000;
const roomGoodMs = 5000;
const pullMs = 20_000;
/** How long a leader whose disk is full may take to give way to a server that has room. */
const fullMs = 10_000;
/** How long a pull that does not wait gives a silent server. */
const askedMs = 1000;
/** Reserved for headers, which count towards the maximum payload. */
const headersBytes = 32 * 1024;
export const ackWaitMs = 15_000;
const nanoseconds = 1_000_000;

type Pulls = Parameters<typeof pullNext>;
type Watcher = { onMessage(message: DeliveredMessage): void; onGap(): void };

/** State that all users of one connection share. */
type Known = {
  /** How long readers retry. */
  readersMs: number;
  reach: Reach;
  clock: ServerClock;
  room?: { used: number; takenAt: number };
  lanes: Set<Lane>;
  watches: Map<string, { watchers: Set<Watcher>; subscription: { unsubscribe(): void } }>;
};

export class JetStream implements Server {
  readonly #connected: Connected;
  readonly #known: Known;
  readonly #patienceMs: number;
  readonly #giveUp: AbortSignal | undefined;
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #objects: Objects;

  /** `shared` is the state of another instance on the same connection. */
  constructor(
    connected: Connected,
    known: { readersMs: number } | { shared: Known; patienceMs: number; giveUp?: AbortSignal },
  ) {
    this.#connected = connected;
    this.#giveUp = "giveUp" in known ? known.giveUp : undefined;
    this.#giveUp?.addEventListener("abort", () => {
      for (const reject of [...this.#waiting]) reject(awayError());
    });
    this.#known = "shared" in known ? known.shared : this.#begin(known.readersMs);
    this.#patienceMs = "shared" in known ? known.patienceMs : patienceMs;
    this.#objects = new Objects(connected, (work) => this.#again(work));
  }

  #begin(readersMs: number): Known {
    const clock = new ServerClock(this.#connected);
    const reach = new Reach(this.#connected, () => clock.found());
    return { readersMs, reach, clock, lanes: new Set(), watches: new Map() };
  }

  patient(giveUp?: AbortSignal): Server {
    const patience = { shared: this.#known, patienceMs: Infinity, ...(giveUp && { giveUp }) };
    return new JetStream(this.#connected, patience);
  }

  reading(giveUp: AbortSignal): Server {
    return new JetStream(this.#connected, { shared: this.#known, patienceMs: this.#known.readersMs, giveUp });
  }

  get foundAgainAt(): number {
    return this.#known.clock.foundAgainAt;
  }

  get maxBytes(): number {
    return (this.#connected.connection.info?.max_payload ?? 1_048_576) - headersBytes;
  }

  publish(stream: StreamName, key: string, data: string, { head, after }: PublishOptions = {}): Promise<number> {
    const { jetstream, names, packages } = this.#connected;
    const writer = randomUuid();
    const msgID = messageId(key, writer, after);
    const subject = names.subject(stream, key);
    const expect = after === undefined ? {} : { expect: { lastSubjectSequence: after } };
    return this.#again(async () => {
      const headers = packages.transport.headers();
      if (head !== undefined) headers.set(headHeader, head);
      if (after !== undefined) headers.set(writerHeader, writer);
      return publishOnce({
        writer,
        send: async () => {
          const ack = await jetstream.publish(subject, data, { msgID, headers, timeout: answerMs, ...expect });
          return { sequence: ack.seq, isDuplicate: ack.duplicate && msgID !== writer };
        },
        isOvertaken: (error) => meaningOf(error) === "overtaken",
        stored: async (sequence) => {
          const last =
            sequence === undefined
              ? await this.#lastMessage(stream, key)
              : await messageAt(this.#connected, names.stream(stream), sequence);
          return last ? { sequence: last.seq, writer: last.header?.get(writerHeader) } : undefined;
        },
      });
    });
  }

  async last(stream: StreamName, key: string, atLeast = 0): Promise<Stored | undefined> {
    const found = await this.#again(async () => {
      const last = await this.#lastMessage(stream, key);
      if ((last?.seq ?? 0) < atLeast) throw staleRead();
      return last;
    });
    return found ? this.#toStored(stream, found) : undefined;
  }

  range(
    stream: StreamName,
    filter: string,
    from: number,
    limits: { to?: number; most?: number } = {},
  ): Promise<Stored[]> {
    const { names } = this.#connected;
    const source = { stream: names.stream(stream), subject: names.subject(stream, filter) };
    return this.#again(async () => {
      const all: Stored[] = [];
      for await (const page of readPages(this.#connected, source, { from, ...limits }))
        for (const each of page) all.push(this.#pulledToStored(stream, each));
      return all;
    });
  }

  /** Watchers of the same subject in this process share one subscription. */
  watch(stream: StreamName, filter: string, listener: Watcher): { close(): void } {
    const { connection, names } = this.#connected;
    const { watches } = this.#known;
    const subject = names.live(stream, filter);
    const watchers = watches.get(subject)?.watchers ?? new Set();
    if (watchers.size === 0) {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          const delivered = error ? undefined : this.#toDelivered(stream, message);
          for (const watcher of [...watchers]) {
            if (delivered) watcher.onMessage(delivered);
            else watcher.onGap();
          }
        },
      });
      watches.set(subject, { watchers, subscription });
    }
    watchers.add(listener);
    this.#known.reach.onGap.add(listener.onGap);
    return {
      close: () => {
        this.#known.reach.onGap.delete(listener.onGap);
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

  async purge(stream: StreamName, filter: string, keep = 0): Promise<void> {
    const { names } = this.#connected;
    const source = { stream: names.stream(stream), subject: names.subject(stream, filter) };
    await removeMessages(this.#connected, source, keep, (work) => this.#again(work));
  }

  /** Caches the result for a few seconds. Returns 0 if this user may not query the account. */
  async fullness(): Promise<number> {
    const knownRoom = this.#known.room;
    if (knownRoom && performance.now() - knownRoom.takenAt < roomGoodMs) return knownRoom.used;
    const { storage = 0, limits } = await this.#connected.manager
      .getAccountInfo()
      .catch(() => ({}) as Partial<JetStreamAccountStats>);
    const most = limits?.max_storage ?? -1;
    const used = most > 0 ? storage / most : 0;
    this.#known.room = { used, takenAt: performance.now() };
    return used;
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
      if (this.#known.reach.isAway || (wait && sources.length === 1)) break;
      const message = await this.#pull([source], { waitMs: askedMs, giveBack });
      if (message) return workIn(message);
    }
    if (!wait || wait.aborted) return undefined;
    // Pull again after a gap: a server that was away has forgotten its waiting pulls.
    const gap = new AbortController();
    const end = () => gap.abort();
    this.#known.reach.onGap.add(end);
    const signal = AbortSignal.any([wait, gap.signal]);
    try {
      const message = await this.#pull(sources, { waitMs: pullMs, signal, giveBack });
      return message && workIn(message);
    } finally {
      this.#known.reach.onGap.delete(end);
    }
  }

  async #pull(sources: Pulls[1], how: Pulls[2]): Promise<Pulled | undefined> {
    try {
      return await pullNext(this.#connected, sources, how);
    } catch (error) {
      throw fleetError(error, this.#connected.where);
    }
  }

  /** Sends a sign of life if `ms` is the time that the consumer grants anyway; any other time is sent as a delay. */
  hold(handle: string, ms: number): void {
    const delay = `-NAK ${JSON.stringify({ delay: Math.ceil(ms) * nanoseconds })}`;
    try {
      this.#connected.connection.publish(handle, ms === ackWaitMs ? "+WPI" : delay);
    } catch {} // the connection is closed
  }

  giveBack = (handle: string) => this.#settle(handle, "-NAK");
  done = (handle: string) => this.#settle(handle, "+ACK");

  async #settle(handle: string, how: string): Promise<void> {
    const { connection } = this.#connected;
    await this.#again(() => connection.request(handle, how, { timeout: answerMs }));
  }

  now = () => this.#known.clock.now((work) => this.#again(work));

  onReach(listener: (isReached: boolean) => void): void {
    this.#known.reach.onReach.add(listener);
  }

  tellLanes(): void {
    const { connection, names } = this.#connected;
    try {
      connection.publish(names.lanes);
    } catch {} // the connection is closed
  }

  onLanes(listener: () => void): void {
    this.#connected.connection.subscribe(this.#connected.names.lanes, { callback: listener });
    this.#known.reach.onGap.add(listener);
  }

  putObject = (name: string, bytes: AsyncIterable<Uint8Array>) => this.#objects.put(name, bytes);
  getObject = (name: string) => this.#objects.get(name);
  dropObject = (name: string) => this.#objects.drop(name);

  close(): void {
    void this.#connected.connection.close();
    this.#known.reach.wakeAll();
  }

  async #again<T>(work: () => Promise<T>): Promise<T> {
    const { where, connection } = this.#connected;
    const { reach } = this.#known;
    const giveUp = this.#giveUp;
    const fullUntil = performance.now() + (connection.info?.cluster === undefined ? 0 : fullMs);
    const mayPass = (error: unknown) => {
      const isLeaderFull = meaningOf(error) === "full" && performance.now() < fullUntil;
      if (connection.isClosed() || giveUp?.aborted || !(isPassing(error) || isLeaderFull)) return false;
      reach.unanswered();
      return true;
    };
    try {
      giveUp?.throwIfAborted();
      const ask = () => (reach.isAway ? Promise.reject(awayError()) : this.#unlessLost(work()));
      const answer = await untilAnswered(ask, { patienceMs: this.#patienceMs, isPassing: mayPass });
      reach.answered();
      return answer;
    } catch (error) {
      giveUp?.throwIfAborted();
      if (error instanceof Refused) throw error;
      if (connection.isClosed()) throw unreachableError(where, "the connection was closed");
      throw fleetError(error, where);
    }
  }

  /** Rejects when the server is lost, because its reply would never come, or when the caller gives up. */
  #unlessLost<T>(answer: Promise<T>): Promise<T> {
    const all = [this.#known.reach.onLost, this.#waiting];
    return new Promise((resolve, reject) => {
      for (const each of all) each.add(reject);
      answer.then(resolve, reject).finally(() => {
        for (const each of all) each.delete(reject);
      });
    });
  }

  #lastMessage(stream: StreamName, key: string): Promise<StoredMsg | null> {
    const { names } = this.#connected;
    return lastMessage(this.#connected, { stream: names.stream(stream), subject: names.subject(stream, key) });
  }

  #toStored(stream: StreamName, { subject, seq, time, data, header }: StoredMsg): Stored {
    const key = this.#connected.names.keyOf(stream, subject);
    return { key, sequence: seq, at: time.getTime(), data, ...headIn(header) };
  }

  #pulledToStored(stream: StreamName, { subject, sequence, at, data, headers }: Pulled): Stored {
    return { key: this.#connected.names.keyOf(stream, subject), sequence, at, data, ...headIn(headers) };
  }

  #toDelivered(stream: StreamName, { subject, data, headers }: Msg): DeliveredMessage {
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
