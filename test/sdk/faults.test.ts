// The fault matrix: whatever a CLI does, a run ends in one typed outcome, in bounded time and memory, with no process left.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { RunOutcome, RunResult } from "../../src/sdk/outcome.ts";
import { type StartOptions, start } from "../../src/sdk/run.ts";
import { aliveWith, uniqueSleep } from "../agent/process-support.ts";

const program = join(import.meta.dirname, "fixtures/faulty-cli.mjs");

type Expected = {
  outcome: RunOutcome;
  code?: string;
  text?: string;
  /** Options of the run. */
  with?: Partial<StartOptions>;
  more?(result: RunResult, events: AgentEvent[]): void;
  withinMs?: number;
};

const answer = "Grüße ✓";
// Long enough for a busy machine to start a program.
const limits = { timeoutMs: 2500, graceMs: 600, resultGraceMs: 300 };

const matrix: Record<string, Expected> = {
  none: { outcome: "success", text: answer, more: (result) => expect(result.stages).toEqual([]) },
  "hangs-before-result": { outcome: "timeout", code: "CLI_TIMEOUT", text: "I am", with: limits },
  "hangs-before-anything": { outcome: "timeout", code: "CLI_TIMEOUT", with: { ...limits, idleMs: 600 } },
  "hangs-after-result": {
    outcome: "success",
    text: answer,
    with: { ...limits, timeoutMs: 60_000 },
    more: (result) => expect(result.stages).toEqual(["cancel", "SIGTERM"]),
  },
  "ignores-sigterm": {
    outcome: "timeout",
    code: "CLI_TIMEOUT",
    with: limits,
    more: (result) => expect(result).toMatchObject({ stages: ["cancel", "SIGTERM", "SIGKILL"], signal: "SIGKILL" }),
  },
  "ignores-sigterm-after-result": {
    outcome: "success",
    text: answer,
    with: limits,
    more: (result) => expect(result.stages).toContain("SIGKILL"),
  },
  grandchildren: { outcome: "success", text: answer },
  "grandchildren-without-result": { outcome: "error", code: "NO_OUTPUT" },
  "closes-stdout": { outcome: "error", code: "NO_RESULT", text: "I am", with: { ...limits, timeoutMs: 60_000 } },
  "killed-by-signal": {
    outcome: "crashed",
    text: "I am",
    more: (result) => expect(result.signal).toBe("SIGKILL"),
  },
  "exits-0-with-is-error": {
    outcome: "error",
    code: "CLI_FAILED",
    more: (result) => expect(result).toMatchObject({ exitCode: 0, error: { message: "The model is tired." } }),
  },
  "success-with-is-error": { outcome: "error", code: "CLI_FAILED" },
  "exits-1-after-success": {
    outcome: "success",
    text: answer,
    more: (result) =>
      expect(result).toMatchObject({ exitCode: 1, warnings: [expect.stringContaining("result stands")] }),
  },
  "exits-1-with-a-reason": { outcome: "error", code: "NOT_AUTHENTICATED" },
  "exits-1-with-a-code": { outcome: "error", code: "STORE_FULL" },
  "exits-3": {
    outcome: "crashed",
    code: "CLI_EXIT",
    more: (result) => expect(result).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("panic") }),
  },
  noise: { outcome: "error", code: "FRAME_MALFORMED" },
  "splits-utf8": { outcome: "success", text: answer, withinMs: 20_000 },
  "invalid-utf8": { outcome: "error", code: "FRAME_ENCODING" },
  "huge-line": { outcome: "error", code: "FRAME_TOO_LARGE" },
  "large-line": {
    outcome: "success",
    text: answer,
    more: (_result, events) =>
      expect(events.find((event) => event.type === "text_end")).toMatchObject({ text: "x".repeat(15_000_000) }),
  },
  "two-objects": { outcome: "success", text: answer },
  "two-results": { outcome: "success", text: answer, more: (result) => expect(result.ignored).toBe(2) },
  "no-result": { outcome: "error", code: "NO_RESULT", text: "I am", more: (result) => expect(result.exitCode).toBe(0) },
  "no-output": { outcome: "error", code: "NO_OUTPUT" },
  bom: { outcome: "success", text: answer },
  crlf: { outcome: "success", text: answer },
  "no-last-newline": { outcome: "success", text: answer },
  "cut-inside-a-line": { outcome: "error", code: "FRAME_TRUNCATED" },
  "unknown-events": {
    outcome: "success",
    text: answer,
    more(result, events) {
      expect(result.ignored).toBe(2);
      expect(events.flatMap((event) => (event.type === "other" ? [event.raw] : []))).toEqual([
        { type: "weather", is: "fine" },
        { type: "moon" },
      ]);
    },
  },
  "wrong-shape": { outcome: "error", code: "FRAME_SCHEMA" },
  "other-session": { outcome: "error", code: "FRAME_SESSION" },
  "open-call": {
    outcome: "crashed",
    code: "CLI_EXIT",
    more: (_result, events) => expect(events.at(-2)).toMatchObject({ type: "tool_end", callId: "c1" }),
  },
  "stderr-flood": { outcome: "success", more: (result) => expect(result.stderr.length).toBeLessThan(70_000) },
  "closes-stdin": { outcome: "success", with: { prompt: "x".repeat(1_000_000) } },
};

async function play(fault: string, { withinMs = 15_000, ...expected }: Expected): Promise<void> {
  const mark = uniqueSleep();
  const startedAt = performance.now();
  const run = start({ prompt: "go", executable: [process.execPath, program, fault, mark], ...expected.with });
  const events: AgentEvent[] = [];
  for await (const event of run.events) events.push(event);
  const result = await run.result;
  const { outcome } = result;
  const code = outcome === "success" ? undefined : result.error.code;
  expect({ outcome, code: expected.code ? code : undefined }, JSON.stringify(result)).toEqual({
    outcome: expected.outcome,
    code: expected.code,
  });
  if (expected.text !== undefined) expect(result.text).toBe(expected.text);
  expect(performance.now() - startedAt).toBeLessThan(withinMs);
  expect(aliveWith(mark)).toEqual([]);
  const endings = events.filter((event) => event.type === "done" || event.type === "fail");
  expect(endings).toEqual([events.at(-1)]);
  expect(endings[0]!.type).toBe(outcome === "success" ? "done" : "fail");
  expected.more?.(result as RunResult, events);
}

describe("faulty CLIs", () => {
  test.concurrent.each(Object.entries(matrix))(
    "a run of the SDK with the faulty CLI %s ends in one outcome",
    (fault, expected) => play(fault, expected),
    30_000,
  );

  test("the tests have a stand-in CLI for each fault", async () => {
    const source = await import("node:fs").then(({ readFileSync }) => readFileSync(program, "utf8"));
    const names = [...source.matchAll(/^ {2}"?([a-z][\w-]*)"?(?:: |\(\))/gm)].map(([, name]) => name);
    expect(Object.keys(matrix).filter((fault) => !names.includes(fault))).toEqual([]);
  });

  test("the SDK can skip and count noise lines of a CLI on request", () =>
    play("noise", {
      outcome: "success",
      text: answer,
      with: { onNoise: "skip" },
      more: (result) => expect(result.ignored).toBeGreaterThanOrEqual(2),
    }));

  test("the SDK does not hold a CLI's 100 MB line in memory", async () => {
    global.gc?.();
    const before = process.memoryUsage.rss();
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 5);
    await play("huge-line", matrix["huge-line"]!);
    clearInterval(timer);
    expect((peak - before) / 2 ** 20).toBeLessThan(100);
  });
});
