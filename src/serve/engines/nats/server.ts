// The interface that the fleet needs from a server of streams; JetStream and the simulation implement it.
// A stream holds messages under keys; a sequence is the number of a message in its stream.

/**
 * `log`: the events of runs, one key per run. `work`: one message per run that is not over, handed out to workers. `say`: messages
 * to hosts. `lease`: the last sign of life of each host. `runs`: the requests of runs, in order of creation. `state`: the rest.
 */
export const streamNames = ["log", "work", "say", "lease", "runs", "state"] as const;
export type StreamName = (typeof streamNames)[number];

/** `at` is the server's time. `head` is a header beside the data. */
export type Stored = { key: string; sequence: number; at: number; data: Uint8Array; head?: string };

/** `previous` is the sequence of the previous message with the same key. */
export type DeliveredMessage = Stored & { previous: number };

/** A `work` message that was handed to this process. `handle` is valid in every process. */
export type Work = { run: string; handle: string };

/** Names runs that the same workers may take: a pool, a priority and a set of labels, as three words of a key. */
export type Lane = `${string}.${string}.${string}`;

/** Thrown when another writer came first. */
export class Refused extends Error {}

export type PublishOptions = {
  head?: string;
  /** Stores the message only if this is the sequence of the key's last message; 0 means none. Otherwise Refused is thrown. */
  after?: number;
};

export interface Server {
  /**
   * Returns a view of the server whose calls wait until it is back, however long that takes, or until `giveUp` is aborted; then they
   * fail with the reason of the signal. Other calls fail after a while.
   */
  patient(giveUp?: AbortSignal): Server;
  /** Returns a view for readers, whose calls wait until `giveUp` is aborted or the configured timeout has passed. */
  reading(giveUp: AbortSignal): Server;
  /** The maximum size of one message's data. */
  readonly maxBytes: number;
  /** Stores the message once, however often it must be sent. Returns its sequence. */
  publish(stream: StreamName, key: string, data: string, options?: PublishOptions): Promise<number>;
  /** `atLeast` is the sequence of a message known to be stored: a leader that was just elected may not know it yet, and is asked again. */
  last(stream: StreamName, key: string, atLeast?: number): Promise<Stored | undefined>;
  /** Returns the messages that exist now; `from` and `to` are inclusive. */
  range(stream: StreamName, filter: string, from: number, limits?: { to?: number; most?: number }): Promise<Stored[]>;
  /** Reports messages that are stored from now on. `onGap` is called when some may have been missed. */
  watch(
    stream: StreamName,
    filter: string,
    listeners: { onMessage(message: DeliveredMessage): void; onGap(): void },
  ): { close(): void };
  keys(stream: StreamName, filter: string): Promise<string[]>;
  /** Returns the last sequence of the stream. */
  end(stream: StreamName): Promise<number>;
  /** Deletes all but the newest `keep` messages. */
  purge(stream: StreamName, filter: string, keep?: number): Promise<void>;

  /** The used share of the fleet's space, from 0 to 1; 0 if it is unknown. */
  fullness(): Promise<number>;

  addLane(lane: Lane): Promise<void>;
  /** Returns the next message of the first of these lanes that has one; with a signal, waits for one. */
  pull(lanes: readonly Lane[], wait?: AbortSignal): Promise<Work | undefined>;
  /** Keeps the message from being handed out again for `ms`. */
  hold(handle: string, ms: number): void;
  /** Lets the message be handed out again at once. */
  giveBack(handle: string): Promise<void>;
  /** Removes the message for good. */
  done(handle: string): Promise<void>;

  /** The server's time, never ahead of it. */
  now(): Promise<number>;
  /** When the server was last found again, by its clock; 0 if it was never lost. */
  readonly foundAgainAt: number;

  /** `listener` is called when the server is lost, and when it is found again. */
  onReach(listener: (isReached: boolean) => void): void;
  /** Tells all listeners that a lane was created. They are listened for until the connection is closed. */
  tellLanes(): void;
  onLanes(listener: () => void): void;

  putObject(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  getObject(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  dropObject(name: string): Promise<void>;
  close(): void;
}
