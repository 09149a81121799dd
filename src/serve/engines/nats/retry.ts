// What is done about answers that do not come: asked again until there is one. The server knows a message by its id, so that one
// that is sent twice is stored once.
import { Refused } from "./server.ts";

const firstPauseMs = 20;
const longestPauseMs = 500;

/** Tried again as long as what went wrong is passing, and somebody has the patience. */
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
 * The id under which the server knows a message. It compares the expected sequence before its replicas have agreed on the messages
 * that are on their way, so that two of them can pass; the id it compares when it stores them. Whoever writes behind the same message
 * therefore uses the same id: one is stored, the others are duplicates of it. The first message with a key has no predecessor, and is
 * compared where it is stored.
 */
export function messageId(key: string, writer: string, after: number | undefined): string {
  return after === undefined || after === 0 ? writer : `${key}.${after}`;
}

export type Publishing = {
  /** Marks this message, so that it is recognised if it was stored without an answer. */
  writer: string;
  send(): Promise<Acknowledged>;
  /** The server says that another message came first. */
  isOvertaken(error: unknown): boolean;
  /** The message with this sequence; without, the last one with the same key. */
  stored(sequence?: number): Promise<{ sequence: number; writer?: string | undefined } | undefined>;
};

/** Where another message came first: was that ours, stored before, and the answer never came? Else: Refused. */
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
