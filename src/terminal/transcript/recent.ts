// Selects the last turns of a conversation, so that a chat of thousands of turns resumes as fast as a short one.
import type { Recorded } from "../../protocol/run.ts";

const maxTurns = 50;

/** Returns the events of the most recent turns; `left` is the number of turns before them. */
export async function recentTurns(all: AsyncIterable<Recorded>): Promise<{ left: number; events: Recorded[] }> {
  /** The events before the first turn, followed by one array per turn. */
  const turns: Recorded[][] = [[]];
  let count = 0;
  for await (const recorded of all) {
    if (recorded.event.type === "user") {
      count++;
      turns.push([]);
      if (turns.length > maxTurns) turns.shift();
    }
    turns.at(-1)!.push(recorded);
  }
  return { left: Math.max(0, count - maxTurns), events: turns.flat() };
}
