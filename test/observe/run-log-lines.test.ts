// The lines of --log FILE, one for each thing that happened: levels, times, what is said of failures, and what is left out.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ModelAnswer, ModelCall, ModelRetry } from "../../src/observe/observer.ts";
import { openLog } from "../../src/observe/run-log.ts";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "courser-log-"));
  file = join(folder, "run.log");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

const lines = () =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const opened = (redact = (text: string) => text) => openLog({ file, started: { pid: 7 }, redact });

const usage = { inputTokens: 1 };
const ending = { durationMs: 30, apiDurationMs: 20, requestId: "r", usage };
const result = { event: "result", duration_ms: 30, model_ms: 20, request_id: "r", usage };
const toolEnd = (more: object) => ({ type: "tool_end", callId: "c", tool: "shell", ...more });

/** What happens, and the line of it without its time; nothing where there is none. */
const events: [what: string, event: object, line: object | undefined][] = [
  ["the start", { type: "init", model: "m" }, { level: "info", event: "init", model: "m" }],
  ["a prompt", { type: "user", text: "four" }, { level: "info", event: "prompt", characters: 4 }],
  ["a text", { type: "text", text: "x" }, undefined],
  ["a finished text", { type: "text_end", text: "x" }, undefined],
  [
    "a call",
    { type: "tool_start", callId: "c", tool: "read" },
    { level: "info", event: "tool_start", call: "c", tool: "read" },
  ],
  [
    "a call that succeeds",
    toolEnd({ outcome: { kind: "success", value: { exitCode: 0, reason: "none" } }, startedAt: 5, completedAt: 12 }),
    { level: "info", event: "tool_end", call: "c", tool: "shell", outcome: "success", duration_ms: 7, exit: 0 },
  ],
  [
    "a call that fails",
    toolEnd({ outcome: { kind: "failure", value: { exitCode: 3, message: "m" } }, startedAt: 5 }),
    { level: "warn", event: "tool_end", call: "c", tool: "shell", outcome: "failure", exit: 3, reason: "m" },
  ],
  [
    "a call that is refused",
    toolEnd({ outcome: { kind: "rejected", value: { reason: "a rule", message: "m" } }, completedAt: 5 }),
    { level: "warn", event: "tool_end", call: "c", tool: "shell", outcome: "rejected", reason: "a rule" },
  ],
  [
    "a call without an end",
    toolEnd({}),
    { level: "warn", event: "tool_end", call: "c", tool: "shell", outcome: "none" },
  ],
  [
    "a call with a text for its outcome",
    toolEnd({ outcome: { kind: "failure", value: "text" } }),
    { level: "warn", event: "tool_end", call: "c", tool: "shell", outcome: "failure" },
  ],
  [
    "a call with nothing for its outcome",
    toolEnd({ outcome: { kind: "failure", value: null } }),
    { level: "warn", event: "tool_end", call: "c", tool: "shell", outcome: "failure" },
  ],
  [
    "a question",
    { type: "ask", id: "q", kind: "trust", more: 1 },
    { level: "info", event: "ask", id: "q", kind: "trust" },
  ],
  ["an answer", { type: "answer", id: "q", kind: "trust" }, { level: "info", event: "answer", id: "q", kind: "trust" }],
  [
    "a warning",
    { type: "notice", kind: "warning", message: "w", fields: { server: "s" } },
    { level: "warn", event: "notice", kind: "warning", message: "w", server: "s" },
  ],
  [
    "another notice",
    { type: "notice", kind: "hook", message: "h" },
    { level: "info", event: "notice", kind: "hook", message: "h" },
  ],
  [
    "a success",
    { type: "done", text: "ok", denials: [1], background: [2], missingServers: [3], ...ending },
    { ...result, level: "info", status: "success", denials: [1], background: [2], missing_servers: [3] },
  ],
  [
    "a failure",
    { type: "fail", code: "MAX_TIME", message: "late", ...ending },
    { ...result, level: "error", status: "error", code: "MAX_TIME", message: "late" },
  ],
];

it.each(events)("the run log has the documented line for the event %s", (_what, event, expected) => {
  const log = opened();
  log.event({ event: event as AgentEvent }, 1000);
  const [start, ...rest] = lines();
  expect(start).toMatchObject({ level: "info", event: "start", pid: 7 });
  expect(rest).toEqual(expected ? [{ time: new Date(1000).toISOString(), ...expected }] : []);
});

it("the run log has each event's own time and its subagent", () => {
  const log = opened();
  log.event({ agent: "sub", event: { type: "user", text: "", at: 2000 } as AgentEvent }, 1000);
  expect(lines()[1]).toEqual({
    ...{ time: new Date(2000).toISOString(), level: "info", event: "prompt", agent: "sub", characters: 0 },
  });
});

it("the run log has model requests, retries and replies with their number, times and calls", () => {
  const log = opened();
  const request = { messages: [1, 2], tools: [1, 2, 3], model: "gpt" };
  const call = { number: 4, name: "GPT", provider: "p", startedAt: 1000, request } as unknown as ModelCall;
  log.asked(call);
  log.asked({ ...call, request: { ...request, agent: "sub", purpose: "title" } } as unknown as ModelCall);
  log.retried(call, { attempt: 2, reason: "busy", delayMs: 50 } as ModelRetry, 1500);
  const parts = [{ type: "text" }, { type: "tool_call" }, { type: "tool_call" }] as unknown as ModelAnswer["parts"];
  log.answered(call, { endedAt: 1300, firstAt: 1020, usage: usage as never, parts });
  log.answered(call, { endedAt: 1300, parts: [], cut: true });
  log.answered(call, { endedAt: 1300, parts: [], cut: true, error: { code: "AUTH", message: "no key" } });
  const base = { request: 4, provider: "p", model: "gpt", name: "GPT", messages: 2, tools: 3 };
  const reply = { request: 4, duration_ms: 300, tool_calls: 0 };
  expect(lines().slice(1)).toEqual([
    { time: new Date(1000).toISOString(), level: "info", event: "model_request", ...base },
    {
      time: new Date(1000).toISOString(),
      level: "info",
      event: "model_request",
      ...base,
      agent: "sub",
      purpose: "title",
    },
    {
      time: new Date(1500).toISOString(),
      level: "warn",
      event: "model_retry",
      request: 4,
      attempt: 2,
      delay_ms: 50,
      reason: "busy",
    },
    {
      ...{ time: new Date(1300).toISOString(), level: "info", event: "model_reply", ...reply },
      ...{ status: "ok", first_ms: 20, usage, tool_calls: 2 },
    },
    { time: new Date(1300).toISOString(), level: "info", event: "model_reply", ...reply, status: "cut" },
    {
      ...{ time: new Date(1300).toISOString(), level: "error", event: "model_reply", ...reply },
      ...{ status: "error", code: "AUTH", message: "no key" },
    },
  ]);
});

it("the run log has waits, notices and failures, with a stack only for bugs", () => {
  const log = opened();
  log.waited({ kind: "hook", name: "guard", since: 1000 }, 1400);
  log.said("a note", 1000);
  log.failed(new UserError("USAGE", "wrong word"), 1000);
  log.failed(new TypeError("a bug"), 1000);
  log.failed("a text", 1000);
  const found = lines().slice(1);
  expect(found.map(({ time: _time, stack: _stack, ...rest }) => rest)).toEqual([
    { level: "info", event: "hook", name: "guard", duration_ms: 400 },
    { level: "debug", event: "note", message: "a note" },
    { level: "error", event: "failed", code: "USAGE", message: "wrong word" },
    { level: "error", event: "failed", code: "INTERNAL", message: "a bug" },
    { level: "error", event: "failed", code: "INTERNAL", message: "a text" },
  ]);
  expect(found.map(({ stack }) => typeof stack)).toEqual([
    "undefined",
    "undefined",
    "undefined",
    "string",
    "undefined",
  ]);
});

it("a run log line stays JSON when a redacted secret was part of its syntax", () => {
  const log = opened((text) => text.replaceAll('"message":"tok', "[secret]"));
  log.said("plain", 1000);
  log.said("token", 1000);
  expect(lines().slice(1)).toEqual([
    { time: new Date(1000).toISOString(), level: "debug", event: "note", message: "plain" },
    {
      ...{ time: new Date(1000).toISOString(), level: "debug", event: "note" },
      redacted: expect.stringContaining('[secret]en"'),
    },
  ]);
});

it("the run log's file closes at the end, and nothing is written after it", async () => {
  const log = opened();
  expect(await log.end()).toBeUndefined();
  log.said("late", 1000);
  expect(lines().map(({ event }) => event)).toEqual(["start", "end"]);
  // The lowest free descriptor is the one that was closed.
  const first = openSync(file, "r");
  closeSync(first);
  const again = openLog({ file, started: {}, redact: (text) => text });
  await again.end();
  const second = openSync(file, "r");
  closeSync(second);
  expect(second).toBe(first);
});

it.runIf(process.platform === "linux")(
  "the run log reports a full disk once, at the end, and does not end the run",
  async () => {
    file = "/dev/full";
    const log = opened();
    log.said("more", 1000);
    expect(await log.end()).toMatch(/^--log \/dev\/full could not be written to its end: the disk is full$/);
  },
);
