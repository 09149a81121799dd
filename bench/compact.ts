// Making a conversation shorter: ten times as many messages must take about ten times as long.
import { makeRoom } from "../src/agent/compact/index.ts";
import type { Message } from "../src/protocol/message.ts";
import { median } from "./measure.ts";

/** Time for 10,000 messages over time for 1,000. */
export async function compactRatio(rounds: number): Promise<number> {
  const times = { few: [] as number[], many: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    const few = await timed(1000);
    const many = await timed(10_000);
    if (round < 0) continue;
    times.few.push(few);
    times.many.push(many);
  }
  return median(times.many) / median(times.few);
}

async function timed(messages: number): Promise<number> {
  const conversation = Array.from({ length: messages }, (_, number) => message(number));
  const started = performance.now();
  // No more than a third of it fits, so that every turn is looked at.
  await makeRoom(conversation, { room: messages * 50, windowTokens: messages * 60 });
  return performance.now() - started;
}

function message(number: number): Message {
  const text = `${number}: ${"A sentence of a usual length. ".repeat(20)}`;
  return { role: number % 2 === 0 ? "user" : "assistant", parts: [{ type: "text", text }] };
}
