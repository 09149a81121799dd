// A case of the group `frames` through the adapter: a real program says the bytes, and what comes out is looked at.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CursorAgentModelAdapter } from "../../src/adapter/adapter.ts";
import { runTurn } from "../../src/adapter/run-turn.ts";
import { createToolRouter } from "../../src/adapter/tools/router.ts";
import { contractSchemas } from "../../src/protocol/turn-contract.ts";
import { bareNodeMb, type FrameCase, judgeFrames, readsOf, type Seen } from "../protocol/frames-driver.ts";
import type { CaseResult } from "../support/case.ts";

const player = join(import.meta.dirname, "fixtures/player.mjs");
/** Ends of a turn that the CLI itself says: how it fails after them is another matter. */
const terminal = new Set(["result", "done", "error"]);

export async function runFrameCaseByAdapter(given: FrameCase): Promise<CaseResult> {
  const folder = mkdtempSync(join(tmpdir(), "courser-frames-"));
  try {
    writePlan(folder, given);
    return judgeFrames(given, await play(folder, given));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function play(folder: string, { config, input }: FrameCase): Promise<Seen> {
  const events: string[] = [];
  let result: string | undefined;
  let sessionId: string | undefined;
  const known = config.tools ?? [];
  const executed: string[] = [];
  const adapter = new CursorAgentModelAdapter(
    {
      models: {
        player: {
          provider: "cursor-agent-cli",
          command: process.execPath,
          args: [player, folder],
          framing: config.framing ?? "ndjson",
          timeoutMs: input.exit === null && !input.signal ? 1500 : 30_000,
          stopMs: { cancel: 100, term: 300, result: 300 },
        },
      },
    },
    {
      ...(config.maxLineBytes !== undefined && { maxLineBytes: config.maxLineBytes }),
      ...(config.supported && { supportedVersions: config.supported }),
      debug(line) {
        const { kind, type, value } = JSON.parse(line) as { kind: string; type: string; value: Record<string, any> };
        sessionId ??= value["session_id"];
        if (kind === "other") return;
        events.push(type);
        if (type === "result") result = value["result"];
      },
    },
  );
  const router = createToolRouter(
    known.map((tool) => {
      const { name, schema } = typeof tool === "string" ? { name: tool, schema: undefined } : tool;
      const run = async () => `run ${executed.push(name)}`;
      return { name, schema: (schema ?? contractSchemas.get(name) ?? { type: "object" }) as object, run };
    }),
  );
  const startRss = process.memoryUsage.rss();
  let peakRss = startRss;
  const watch = setInterval(() => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  }, 10);
  const startTime = Date.now();
  const texts: string[] = [];
  let finish: string | undefined;
  const sendTurn: typeof adapter.sendTurn = (session, request) => {
    const sent = adapter.sendTurn(session, request);
    const events = sent[Symbol.asyncIterator]();
    // The runtime keeps the end of a step that called tools to itself.
    sent[Symbol.asyncIterator] = async function* () {
      for await (const event of events) {
        if (event.type === "done") finish = event.data.finishReason;
        yield event;
      }
    };
    return sent;
  };
  const turn = runTurn({ sendTurn }, await adapter.createSession(), {
    messages: [{ role: "user", content: "hi" }],
    tools: router,
    maxSteps: 1,
  });
  for await (const event of turn) if (event.type === "assistant_delta") texts.push(event.data.content);
  clearInterval(watch);
  const attempt = turn.attempts[0]!;
  const saidSo = events.some((type) => terminal.has(type));
  const isOk = attempt.outcome === "ok" || saidSo;
  return {
    ending: {
      outcome: isOk ? "ok" : "fail_closed",
      finish: finish ?? (saidSo ? "error" : undefined),
      ...(!isOk && { error: attempt.error! }),
      ignored: attempt.ignored,
      warnings: [...attempt.warnings],
    },
    events,
    texts,
    result,
    executed,
    sessionId,
    peakRssMb: (Math.max(peakRss, process.memoryUsage.rss()) - startRss) / 2 ** 20 + bareNodeMb,
    milliseconds: Date.now() - startTime,
    wasKilled: attempt.stages.length > 0 || (attempt.exitCode === null && !input.signal),
  };
}

/** Small reads become files; what is made while it is read is made by the program. */
function writePlan(folder: string, { input }: FrameCase): void {
  const parts: object[] = [];
  const write = (bytes: Uint8Array) => {
    const file = `part-${parts.length}`;
    writeFileSync(join(folder, file), bytes);
    // A pause of its own for each read, unless there are very many of them.
    parts.push({ file, pauseMs: parts.length < 200 ? 2 : 0 });
  };
  for (const chunk of input.chunks) {
    if (!chunk.gen) {
      for (const bytes of readsOf({ ...input, chunks: [chunk] })) write(bytes);
      continue;
    }
    const { prefix = "", byte = "", repeat_line, count, suffix = "" } = chunk.gen;
    const unit = repeat_line === undefined ? byte : repeat_line.endsWith("\n") ? repeat_line : `${repeat_line}\n`;
    if (prefix) write(Buffer.from(prefix));
    if (unit) parts.push({ fill: unit, count });
    if (suffix) write(Buffer.from(suffix));
  }
  const { exit, signal, stderr } = input;
  writeFileSync(join(folder, "plan.json"), JSON.stringify({ parts, exit, signal, stderr }));
}
