// Pulls messages from a consumer: one or many, at once or as soon as there is one.
import type { MsgHdrs } from "@nats-io/transport-node";
import type { Connected } from "./connect.ts";

type Connection = Pick<Connected, "connection" | "onRefused">;

export type Pulled = {
  subject: string;
  /** The subject to acknowledge the message on. */
  reply: string;
  sequence: number;
  /** The time of storage, by the server's clock. */
  at: number;
  /** How many messages are still to come. */
  pending: number;
  data: Uint8Array;
  headers?: MsgHdrs;
};

type Source = { stream: string; consumer: string };

/** How long the server searches for a message that was just deleted before it reports that there are no more. */
const overMs = 500;
const againMs = 500;

/** Returns the messages that are there now, at most `batch`. */
export function pullNow(connected: Connection, source: Source, batch: number, timeoutMs: number): Promise<Pulled[]> {
  return new Promise((resolve, reject) => {
    const got: Pulled[] = [];
    const end = (error?: Error) => {
      clearTimeout(timer);
      subscription.unsubscribe();
      if (error) reject(error);
      else resolve(got);
    };
    const silent = () => end(Object.assign(new Error("the server is silent"), { name: "TimeoutError" }));
    let timer = setTimeout(silent, timeoutMs);
    const subscription = ask(
      connected,
      [source],
      { batch, no_wait: true, expires: overMs * 1_000_000 },
      (message, status) => {
        if (status instanceof Error) return end(status);
        if (status !== undefined) {
          if (status === 503) return end(Object.assign(new Error("no server answers"), { name: "NoRespondersError" }));
          return end();
        }
        got.push(message!);
        clearTimeout(timer);
        if (got.length === batch || message!.pending === 0) end();
        else timer = setTimeout(silent, timeoutMs);
      },
    );
  });
}

/** Returns the next message of any source; undefined after `waitMs` or on abort. `giveBack` is called with one that came too late. */
export function pullNext(
  connected: Connection,
  sources: readonly Source[],
  { waitMs, signal, giveBack }: { waitMs: number; signal?: AbortSignal; giveBack(message: Pulled): void },
): Promise<Pulled | undefined> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    const end = (message?: Pulled, error?: Error) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      // Drain instead of unsubscribing if the server may deliver more until it hears of the end.
      if (message && sources.length === 1) subscription.unsubscribe();
      else void subscription.drain().catch(() => {});
      if (error) reject(error);
      else resolve(message);
    };
    const onAbort = () => end();
    let timer = setTimeout(end, waitMs + 1000);
    // Without waiting, the request has no expiry: with one, the server would wait that long.
    const how = signal ? { expires: waitMs * 1_000_000 } : { no_wait: true };
    const subscription = ask(connected, sources, { batch: 1, ...how }, (message, status) => {
      if (status instanceof Error) end(undefined, status);
      else if (!message) {
        if (status === 404 || status === 408 || !signal) return end();
        // Too many pulls wait already, or the consumer has no leader: the caller asks again shortly.
        clearTimeout(timer);
        timer = setTimeout(end, againMs);
      } else if (isSettled) giveBack(message);
      else end(message);
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) end();
  });
}

function ask(
  { connection, onRefused }: Connection,
  sources: readonly Source[],
  request: object,
  onAnswer: (message: Pulled | undefined, status: number | Error | undefined) => void,
): { unsubscribe(): void; drain(): Promise<void> } {
  const inbox = `_INBOX.${globalThis.crypto.randomUUID().replaceAll("-", "")}`;
  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      if (error) return onAnswer(undefined, 503);
      const status = message.headers?.code;
      if (status) return status === 100 ? undefined : onAnswer(undefined, status);
      onAnswer(parseDelivery(message.subject, message.reply ?? "", message.data, message.headers), undefined);
    },
  });
  const subjects = sources.map(({ stream, consumer }) => `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`);
  const refused = (error: Error, subject: string) => subjects.includes(subject) && onAnswer(undefined, error);
  onRefused.add(refused);
  void subscription.closed.then(() => onRefused.delete(refused));
  for (const subject of subjects) connection.publish(subject, JSON.stringify(request), { reply: inbox });
  return subscription;
}

/** Parses $JS.ACK.[domain.account.]stream.consumer.delivered.sequence.sequence-of-consumer.time.pending[.random] */
function parseDelivery(subject: string, reply: string, data: Uint8Array, headers: MsgHdrs | undefined): Pulled {
  const words = reply.split(".");
  const base = words.length > 9 ? 6 : 4;
  const number = (index: number) => Number(words[base + index]);
  return {
    subject,
    reply,
    sequence: number(1),
    at: Math.floor(number(3) / 1_000_000),
    pending: number(4),
    data,
    ...(headers && { headers }),
  };
}
