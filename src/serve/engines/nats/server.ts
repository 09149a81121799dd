// What the fleet needs from a server of streams, and nothing more: JetStream gives it, and so does the simulation.
// A stream holds messages under keys; a sequence is the number of a message in its stream.

/**
 * `log`: what happened, a key a run. `work`: a message for each run that is not over, handed out to workers. `say`: what hosts are
 * told. `lease`: the last sign of life of each host. `runs`: what runs shall be, in the order of their creation. `state`: the rest.
 */
export const streamNames = ["log", "work", "say", "lease", "runs", "state"] as const;
export type StreamName = (typeof streamNames)[number];

/** `at`: by the clock of the server. `head`: what a message says beside its data. */
export type Stored = { key: string; sequence: number; at: number; data: Uint8Array; head?: string };

/** `previous`: of the message before it with the same key. */
export type Heard = Stored & { previous: number };

/** A message of `work` that this process was handed. `handle` is good in every process. */
export type Work = { run: string; handle: string };

/** Runs that the same workers may take: a pool, a priority, a set of labels. Three words of a key. */
export type Lane = `${string}.${string}.${string}`;

/** Somebody else wrote first. */
export class Refused extends Error {}

export type PublishOptions = {
  head?: string;
  /** Only where this is the sequence of the last message with this key; 0: there is none. Else: Refused. */
  after?: number;
};

/** `runs`: something became of one. `lanes`: there is one that did not exist before. */
export type NewsKind = "runs" | "lanes";

export interface Server {
  /**
   * The same server for those who wait until it is back, however long it is away, or until they give up: then what is asked fails
   * with the reason of the signal. Others are told that it is away.
   */
  patient(giveUp?: AbortSignal): Server;
  /** The same server for who follows what happens, until it gives up, or the server is away for the time that was set. */
  reading(giveUp: AbortSignal): Server;
  /** Largest data of one message. */
  readonly maxBytes: number;
  /** Stored once, however often it must be sent. The sequence comes back. */
  publish(stream: StreamName, key: string, data: string, options?: PublishOptions): Promise<number>;
  last(stream: StreamName, key: string): Promise<Stored | undefined>;
  /** What is there by now, `from` and `to` included. */
  range(stream: StreamName, filter: string, from: number, limits?: { to?: number; most?: number }): Promise<Stored[]>;
  /** What is stored from now on. `onGap`: something may have been missed. */
  watch(
    stream: StreamName,
    filter: string,
    listeners: { onMessage(message: Heard): void; onGap(): void },
  ): { close(): void };
  keys(stream: StreamName, filter: string): Promise<string[]>;
  /** The last sequence. */
  end(stream: StreamName): Promise<number>;
  /** Deletes all but the newest `keep`. */
  purge(stream: StreamName, filter: string, keep?: number): Promise<void>;

  /** How much of the space of this fleet is used, from 0 to 1; 0 where nobody says. */
  fullness(): Promise<number>;

  addLane(lane: Lane): Promise<void>;
  /** The next message of the first of these lanes that has one; with a signal, waits for it. */
  pull(lanes: readonly Lane[], wait?: AbortSignal): Promise<Work | undefined>;
  /** It is not handed out to anybody else for so long. */
  hold(handle: string, ms: number): void;
  /** It is handed out again at once. */
  giveBack(handle: string): Promise<void>;
  /** It is never handed out again. */
  done(handle: string): Promise<void>;

  /** The clock of the server, not ahead of it. */
  now(): Promise<number>;
  /** When the server was found again, by its clock; 0: it was never lost. Known after `now`. */
  readonly foundAgainAt: number;

  /** `listener` is told when the server is lost, and when it is found again. */
  onReach(listener: (isReached: boolean) => void): void;
  /** Wakes everybody who waits for news of this kind. */
  tellNews(kind: NewsKind): void;
  onNews(kind: NewsKind, listener: () => void): { close(): void };

  putObject(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  getObject(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  dropObject(name: string): Promise<void>;
  close(): void;
}
