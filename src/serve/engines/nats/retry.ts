// Retries requests until the server answers. The server knows each message by its id, so a message that is sent twice is stored once.
import { Refused } from "./server.ts";

const firstPauseMs = 20;
const longestPauseMs = 500;

/** Retries while the error is `passing` and the total wait is within `patienceMs`. */
export async function untilAnswered<T>(
  work: () => Promise<T>,
  { patienceMs, isPassing }: { patienceMs: number; isPassing(error: unknown): boolean },
): Promise<T> {
  let waitedMs = 0;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const startedAt = performance.now();
    try {
      return await work();
    } catch (error) {
      waitedMs += performance.now() - startedAt + pauseMs;
      if (error instanceof Refused || !isPassing(error) || waitedMs > patienceMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

export type Acknowledged = { sequence: number; isDuplicate: boolean };

/**
 * Returns the id by which the server recognises a message. The server checks the expected sequence before its replicas have agreed
 * on messages in flight, so two of them can pass; the id is checked when they are stored. All writers behind the same message
 * therefore use the same id: one is stored, the others are its duplicates. The first message with a key has no predecessor, and
 * is checked when it is stored.
 */
export function messageId(key: string, writer: string, after: number | undefined): string {
  return after === undefined || after === 0 ? writer : `${key}.${after}`;
}

export type Publishing = {
  /** Marks this message, so that it is recognised if it was stored but the reply was lost. */
  writer: string;
  send(): Promise<Acknowledged>;
  /** Tells whether the server reported that another message came first. */
  isOvertaken(error: unknown): boolean;
  /** Returns the message with this sequence, or the last one with the same key. */
  stored(sequence?: number): Promise<{ sequence: number; writer?: string | undefined } | undefined>;
};

/** Publishes a message once. Throws Refused if another one came first, unless that is this one, whose reply was lost. */
export async function publishOnce({ writer, send, isOvertaken, stored }: Publishing): Promise<number> {
  let first: number | undefined;
  try {
    const { sequence, isDuplicate } = await send();
    if (!isDuplicate) return sequence;
    first = sequence;
  } catch (error) {
    if (!isOvertaken(error)) throw error;
  }
  const found = await stored(first);
  if (found?.writer === writer) return found.sequence;
  throw new Refused();
}
