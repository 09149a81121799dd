// What keeping a chat costs: adding to a long one, resuming a long one, and a run beside one that nobody keeps.
import type { Message } from "../src/protocol/message.ts";
import type { ChatWriter } from "../src/store/chats/chat.ts";
import { createChat } from "../src/store/chats/open-chat.ts";
import { interleave, median, type Program } from "./measure.ts";

export type StoreFigures = {
  /** Time to add the 10,000th message over the time to add the 10th. */
  append: number;
  /** Milliseconds that resuming 10,000 messages takes above resuming a few. */
  resumeMs: number;
  /** What keeping a short run takes, as a share of an empty run of Node. */
  keep: number;
  floorMs: number;
};

const many = 10_000;

/** `run`: a program that runs the CLI with these arguments. `configDir`, `workspace`: where it keeps its chats. */
export async function storeFigures(
  place: { configDir: string; workspace: string },
  run: (...args: string[]) => Program,
  rounds: number,
): Promise<StoreFigures> {
  const long = fill(place, 1, many);
  const append = appendRatio(place, long);
  // As in life: long before a chat is that long, the model is told less of it.
  long.replace(long.messages.slice(-20));
  long.close();
  const short = fill(place, 2, 4);
  short.close();
  const offline = (...args: string[]) => run("-p", "--force", "--model", "offline", ...args, "what is 2+2?");
  const samples = await interleave(
    {
      floor: { ...run(), args: ["-e", "0"] },
      kept: offline(),
      ephemeral: offline("--no-persist"),
      long: offline("--resume", long.metadata.id),
      short: offline("--resume", short.metadata.id),
    },
    rounds,
  );
  const wall = (name: string) => median(samples[name]!.map((sample) => sample.wallMs));
  const floorMs = wall("floor");
  return {
    append,
    resumeMs: wall("long") - wall("short"),
    keep: (wall("kept") - wall("ephemeral")) / floorMs,
    floorMs,
  };
}

/** By turns, so that whatever else the machine does falls on both. */
function appendRatio(place: { configDir: string; workspace: string }, long: ChatWriter): number {
  const times = { few: [] as number[], many: [] as number[] };
  for (let round = 0; round < 40; round++) {
    const few = fill(place, 100 + round, 9);
    for (let index = 0; index < 5; index++) {
      times.few.push(timed(() => few.append(message(index))));
      times.many.push(timed(() => long.append(message(index))));
    }
    few.close();
  }
  return median(times.many) / median(times.few);
}

function fill(place: { configDir: string; workspace: string }, number: number, messages: number): ChatWriter {
  const id = `00000000-0000-4000-9000-${String(number).padStart(12, "0")}`;
  const chat = createChat(place, { id, mode: "default" });
  for (let index = 0; index < messages; index += 100)
    chat.append(...Array.from({ length: Math.min(100, messages - index) }, (_, each) => message(index + each)));
  return chat;
}

function message(number: number): Message {
  const text = `${number}: ${"A sentence of a usual length. ".repeat(20)}`;
  return { role: number % 2 === 0 ? "user" : "assistant", parts: [{ type: "text", text }] };
}

function timed(work: () => void): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}
