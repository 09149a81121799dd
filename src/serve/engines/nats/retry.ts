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

/** `isStale`: the server says that another message came first. Was that ours, stored before, and the answer never came? */
export async function publishOnce(
  id: string,
  send: () => Promise<number>,
  isStale: (error: unknown) => boolean,
  last: () => Promise<{ sequence: number; id: string | undefined } | undefined>,
): Promise<number> {
  try {
    return await send();
  } catch (error) {
    if (!isStale(error)) throw error;
    const found = await last();
    if (found?.id === id) return found.sequence;
    throw new Refused();
  }
}
