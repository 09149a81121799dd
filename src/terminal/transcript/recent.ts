// The last turns of a conversation: enough to go on from. A chat of thousands of turns is resumed as fast as a short one looks.
import type { Recorded } from "../../protocol/run.ts";

const mostTurns = 50;

/** `left`: turns before those whose events come back. */
export async function recentTurns(all: AsyncIterable<Recorded>): Promise<{ left: number; events: Recorded[] }> {
  /** What stands before the first turn, then the turns. */
  const turns: Recorded[][] = [[]];
  let count = 0;
  for await (const recorded of all) {
    if (recorded.event.type === "user") {
      count++;
      turns.push([]);
      if (turns.length > mostTurns) turns.shift();
    }
    turns.at(-1)!.push(recorded);
  }
  return { left: Math.max(0, count - mostTurns), events: turns.flat() };
}
