// Sessions as events: a short one like a real one, and one of any length.
import { type AgentEvent, TimelineLog } from "../../src/studio/components/index.ts";
import { failedCommand, sampleCall, workspace } from "./sample-calls.ts";

const usage = { inputTokens: 7200, outputTokens: 2100, cacheReadTokens: 41_000, cacheWriteTokens: 0 };

export function callEvents(name: string, callId: string, at: number, took = 40): AgentEvent[] {
  const { tool, args, outcome } = name === "failed" ? failedCommand : sampleCall(name, "success");
  return [
    { type: "tool_start", callId, tool, args, at },
    { type: "tool_end", callId, tool, args, ...(outcome && { outcome }), at: at + took },
  ];
}

export function shortSession(): TimelineLog {
  const log = new TimelineLog();
  const start = Date.UTC(2026, 10, 17, 9);
  log.append({
    type: "init",
    sessionId: "s",
    cwd: workspace,
    model: "sonnet-4.5",
    permissionMode: "default",
    apiKeySource: "login",
  });
  log.append({
    type: "user",
    text: "The upload test fails about once in ten runs. Find out why and fix the cause.",
    at: start,
  });
  log.append(
    { type: "thinking", text: "It fails rarely, so it is probably a race. ", at: start + 100 },
    { type: "thinking_end", at: start + 3300 },
  );
  log.append({
    type: "text_end",
    text: "The failure is a race: the server answers before the temporary file is flushed. I will look at the writer.",
    at: start + 4000,
  });
  log.append(...callEvents("GrepTool", "g", start + 4000, 12), ...callEvents("ReadTool", "r", start + 5000, 3));
  log.append(...callEvents("EditTool", "e", start + 9000), ...callEvents("failed", "b", start + 12_000, 42_000));
  log.append(...callEvents("TodoTool", "t", start + 54_000), ...callEvents("TaskTool", "s", start + 55_000, 8200));
  log.append({
    type: "text_end",
    text: "The writer was never awaited. It is now, and **50 runs** pass:\n\n- `pipeline` waits for the last byte\n- the handle is closed before the answer",
    at: start + 90_000,
  });
  log.append({
    type: "done",
    text: "",
    durationMs: 102_000,
    apiDurationMs: 58_000,
    usage,
    costUsd: 0.08,
    at: start + 102_000,
  });
  log.append({ type: "user", text: "and add a test for the empty file", at: start + 200_000 });
  log.append(...callEvents("BashTool", "b2", start + 210_000, 2300));
  log.append({
    type: "tool_start",
    callId: "asked",
    tool: "shell",
    args: { command: "npm test -- upload --repeat 50", workingDirectory: workspace },
    at: start + 215_000,
  });
  return log;
}

/** `count` events: turns of about twenty, with calls of every kind. */
export function longSession(count: number): AgentEvent[] {
  const events: AgentEvent[] = [];
  const names = ["GrepTool", "ReadTool", "EditTool", "BashTool", "ListTool", "failed", "TodoTool", "GlobTool"];
  for (let turn = 1; events.length < count; turn++) {
    const at = turn * 100_000;
    events.push({ type: "user", text: `Turn ${turn}: do the next thing, and say what it was.`, at });
    for (let step = 0; step < 8 && events.length < count - 3; step++) {
      events.push({
        type: "text_end",
        text: `Step ${step} of turn ${turn}. ${"It goes on, word by word. ".repeat(step % 4)}`,
        at: at + step * 1000,
      });
      events.push(...callEvents(names[(turn + step) % names.length]!, `c${turn}-${step}`, at + step * 1000));
    }
    events.push({ type: "done", text: "", durationMs: 9000, apiDurationMs: 5000, usage, costUsd: 0.01, at: at + 9000 });
  }
  return events.slice(0, count);
}
