// What the adapter adds to a stream that is read anyway: a real program says many events, with and without it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CursorAgentModelAdapter } from "../src/adapter/adapter.ts";
import { RunningCli } from "../src/sdk/child.ts";
import { median } from "./measure.ts";

export type AdapterTimes = {
  events: number;
  /** Processor time of the adapter for 100 events, beyond reading and checking their frames. */
  msPer100: number;
  /** The same as a multiple of JSON.parse of the same lines. */
  timesParse: number;
};

export async function adapterTimes({ events = 20_000, rounds = 5 } = {}): Promise<AdapterTimes> {
  const folder = mkdtempSync(join(tmpdir(), "courser-adapter-bench-"));
  const file = join(folder, "stream.jsonl");
  const lines = streamOf(events);
  writeFileSync(file, `${lines.join("\n")}\n`);
  try {
    const samples: { bare: number; whole: number; parse: number }[] = [];
    // The first round warms everything up and is not counted.
    for (let round = 0; round <= rounds; round++) {
      const sample = {
        bare: await processorMs(() => readBare(file)),
        whole: await processorMs(() => readAsTurn(file)),
        parse: await processorMs(async () => {
          for (const line of lines) JSON.parse(line);
        }),
      };
      if (round > 0) samples.push(sample);
    }
    const added = median(samples.map(({ whole, bare }) => Math.max(0, whole - bare)));
    return {
      events,
      msPer100: (added / events) * 100,
      timesParse: median(samples.map(({ whole, bare, parse }) => Math.max(0, whole - bare) / parse)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Deltas and now and then a flush and a call of the CLI's own, as a long answer has them. */
function streamOf(events: number): string[] {
  const said = (text: string, more: object) =>
    JSON.stringify({
      type: "assistant",
      message: { role: "assistant", content: [{ type: "text", text }] },
      session_id: "c6b62c6f-7ead-4fd6-9922-e952131177ff",
      ...more,
    });
  const lines: string[] = [];
  let segment = "";
  for (let index = 0; lines.length < events - 1; index++) {
    const word = `word${index} `;
    segment += word;
    lines.push(said(word, { timestamp_ms: 1_700_000_000_000 + index }));
    if (index % 50 === 49) {
      lines.push(said(segment, { timestamp_ms: 1_700_000_000_000 + index, model_call_id: `m-${index}` }));
      segment = "";
    }
  }
  lines.push(JSON.stringify({ type: "done", data: { finishReason: "stop" } }));
  return lines;
}

async function readBare(file: string): Promise<void> {
  const cli = new RunningCli({ command: "cat", args: [file], cwd: tmpdir() });
  let count = 0;
  for await (const _frame of cli.frames) count++;
  await cli.ended;
  if (count === 0) throw new Error("nothing was read");
}

async function readAsTurn(file: string): Promise<void> {
  const models = { cat: { provider: "cursor-agent-cli", command: "cat", args: [file] } };
  const adapter = new CursorAgentModelAdapter({ models }, { cwd: tmpdir() });
  const turn = adapter.sendTurn(await adapter.createSession(), {
    messages: [{ role: "user", content: "hi" }],
    text: "new",
  });
  let last = "";
  for await (const { type } of turn) last = type;
  if (last !== "done") throw new Error(`the turn ended with ${last}`);
}

async function processorMs(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
