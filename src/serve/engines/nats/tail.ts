// tail: yields the messages of a stream from a sequence on, stored and future ones, each once and in order. The server pushes new
// messages; those it did not push, because the connection was lost or a reader was too slow, are read from the stream.
import type { DeliveredMessage, Server, Stored, StreamName } from "./server.ts";

const pageSize = 500;
/** After this long without messages the stream is read, in case some were missed. */
const lookAgainMs = 15_000;

/** Yields the messages from `from` on. `isWhole` means that the filter matches everything, so that sequences have no gaps. */
export async function* followStream(
  server: Server,
  stream: StreamName,
  { filter, from, isWhole = false, signal }: { filter: string; from: number; isWhole?: boolean; signal: AbortSignal },
): AsyncGenerator<Stored> {
  const received: DeliveredMessage[] = [];
  let isBehind = true;
  let wake = () => {};
  const notify = () => wake();
  const watching = server.watch(stream, filter, {
    onMessage: (message) => {
      received.push(message);
      notify();
    },
    onGap: () => {
      isBehind = true;
      notify();
    },
  });
  const reading = server.reading(signal);
  let last = from;
  try {
    while (!signal.aborted) {
      const next = received.shift();
      if (next && next.sequence <= last) continue;
      if (next && (isWhole ? next.sequence !== last + 1 : next.previous > last)) isBehind = true;
      if (next && !isBehind) {
        last = next.sequence;
        yield next;
      } else if (isBehind) {
        isBehind = false;
        const page = await reading.range(stream, filter, last + 1, { most: pageSize }).catch((error: unknown) => {
          if (signal.aborted) return [];
          throw error;
        });
        for (const each of page) {
          last = each.sequence;
          yield each;
          if (signal.aborted) return;
        }
        if (page.length === pageSize) isBehind = true;
      } else {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener("abort", notify, { once: true });
          timer = setTimeout(() => {
            isBehind = true;
            resolve();
          }, lookAgainMs);
          if (received.length > 0 || isBehind || signal.aborted) resolve();
        });
        clearTimeout(timer);
        signal.removeEventListener("abort", notify);
      }
    }
  } finally {
    watching.close();
  }
}
