// Streams of other CLIs as events: whole conversations made of every kind of line, then each of them with one field missing or of
// another type. test/sdk/decoded-streams.txt is the whole table.
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { drivers } from "../../src/sdk/drivers/index.ts";

type Line = Record<string, any>;
type Decode = (line: unknown) => object[];

const at = "2026-11-18T07:00:00.000Z";
const request = { prompt: "the prompt", cwd: "/w", permissionMode: "default", model: "asked" } as never;

const claudeUsage = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 };
const claudeResult = { type: "result", duration_ms: 9, duration_api_ms: 8, usage: claudeUsage };

const streams: Record<string, [() => Decode, Line[]]> = {
  claude: [
    () => drivers.claude.decoder(request),
    [
      {
        type: "system",
        subtype: "init",
        session_id: "s",
        cwd: "/c",
        permissionMode: "plan",
        apiKeySource: "env",
        model: "m",
        tools: ["Bash"],
        mcp_servers: [{ name: "x", status: "ok" }],
      },
      {
        type: "system",
        subtype: "api_retry",
        attempt: 2,
        error: "overloaded",
        error_status: 529,
        retry_delay_ms: 50,
        message: "m",
      },
      {
        type: "assistant",
        timestamp: at,
        message: {
          id: "1",
          content: [
            { type: "text", text: "Hello." },
            { type: "thinking", thinking: "hm" },
          ],
          usage: claudeUsage,
        },
      },
      {
        type: "assistant",
        message: {
          id: "1",
          content: [{ type: "tool_use", id: "c1", name: "Bash", input: { command: "ls" } }],
          usage: claudeUsage,
        },
      },
      {
        type: "user",
        timestamp: at,
        message: { content: [{ type: "tool_result", tool_use_id: "c1", content: "out" }] },
        tool_use_result: { stdout: "out", stderr: "", interrupted: false },
      },
      {
        type: "assistant",
        message: {
          id: "2",
          content: [{ type: "tool_use", id: "c2", name: "Write", input: { file_path: "/w/a", content: "x" } }],
        },
      },
      {
        type: "system",
        subtype: "permission_denied",
        tool_use_id: "c2",
        message: "PreToolUse:Write hook error: [x]: not here",
      },
      {
        type: "user",
        message: {
          content: [
            { type: "tool_result", tool_use_id: "c2", is_error: true, content: [{ type: "text", text: "not here" }] },
          ],
        },
      },
      {
        type: "assistant",
        message: { id: "3", content: [{ type: "tool_use", id: "c3", name: "Read", input: { file_path: "/w/b" } }] },
      },
      {
        type: "user",
        message: { content: [{ type: "tool_result", tool_use_id: "c3", is_error: true, content: "no" }] },
        tool_result_meta: [{ id: "c3", permission_decision: { decision: "reject" } }],
      },
      { type: "user", parent_tool_use_id: "c1", message: { content: "for the subagent" } },
      { type: "user", message: { content: "typed" } },
      { type: "user", message: { content: [{ type: "text", text: "typed too" }] } },
      {
        type: "assistant",
        parent_tool_use_id: "c1",
        message: { id: "4", content: [{ type: "text", text: "nested" }] },
      },
      { type: "system", subtype: "status", message: "compacting" },
      {
        ...claudeResult,
        subtype: "success",
        is_error: false,
        result: "All done.",
        total_cost_usd: 0.5,
        permission_denials: [{ tool_name: "Write", tool_use_id: "c2" }],
        structured_output: { a: 1 },
      },
      {
        ...claudeResult,
        subtype: "error_max_turns",
        is_error: true,
        errors: ["too", "many"],
        model_usage_since_last_result: { m: { costUSD: 0.25 }, n: { costUSD: 0.5 } },
        total_cost_usd: 9,
      },
      { ...claudeResult, subtype: "error_max_budget_usd", result: "spent" },
      { ...claudeResult, subtype: "error_max_structured_output_retries" },
      { ...claudeResult, subtype: "error_during_execution", api_error_status: 429 },
    ],
  ],
  "claude in pieces": [
    () => drivers.claude.decoder(request),
    [
      { type: "system", subtype: "init", session_id: "s" },
      {
        type: "stream_event",
        event: { type: "content_block_delta", delta: { type: "thinking_delta", thinking: "h" } },
      },
      { type: "stream_event", event: { type: "content_block_delta", delta: { type: "text_delta", text: "He" } } },
      { type: "stream_event", event: { type: "content_block_delta", delta: { type: "text_delta", text: "llo" } } },
      { type: "stream_event", event: { type: "message_delta", usage: claudeUsage } },
      {
        type: "stream_event",
        parent_tool_use_id: "p",
        event: { type: "content_block_delta", delta: { type: "text_delta", text: "no" } },
      },
      {
        type: "assistant",
        message: {
          id: "1",
          content: [
            { type: "text", text: "Hello" },
            { type: "thinking", thinking: "h" },
          ],
          usage: claudeUsage,
        },
      },
      { ...claudeResult, subtype: "success", is_error: false, result: "Hello" },
    ],
  ],
  codex: [
    () => drivers.codex.decoder(request),
    [
      { type: "thread.started", thread_id: "t" },
      { type: "turn.started" },
      { type: "error", message: "Reconnecting... 2/5 (stream closed)" },
      { type: "error", message: '{"error":{"message":"vendor said"}}' },
      { type: "item.completed", item: { id: "0", type: "reasoning", text: "hm" } },
      {
        type: "item.started",
        item: { id: "1", type: "command_execution", command: "bash -lc ls", status: "in_progress" },
      },
      {
        type: "item.completed",
        item: {
          id: "1",
          type: "command_execution",
          command: "bash -lc ls",
          aggregated_output: "a\n",
          exit_code: 0,
          status: "completed",
        },
      },
      {
        type: "item.completed",
        item: {
          id: "2",
          type: "command_execution",
          command: "false",
          aggregated_output: "",
          exit_code: 1,
          status: "failed",
        },
      },
      {
        type: "item.completed",
        item: { id: "2b", type: "command_execution", command: "rm", aggregated_output: "", status: "declined" },
      },
      {
        type: "item.completed",
        item: {
          id: "3",
          type: "file_change",
          status: "completed",
          changes: [
            { path: "a", kind: "add" },
            { path: "b", kind: "update" },
            { path: "c", kind: "delete" },
          ],
        },
      },
      {
        type: "item.completed",
        item: { id: "4", type: "file_change", status: "declined", changes: [{ path: "a", kind: "add" }] },
      },
      {
        type: "item.completed",
        item: {
          id: "5",
          type: "mcp_tool_call",
          server: "s",
          tool: "t",
          arguments: { q: 1 },
          status: "completed",
          result: { content: [{ type: "text", text: "r" }] },
        },
      },
      {
        type: "item.completed",
        item: { id: "6", type: "mcp_tool_call", server: "s", tool: "t", status: "failed", error: { message: "broke" } },
      },
      { type: "item.completed", item: { id: "7", type: "web_search", query: "q" } },
      {
        type: "item.updated",
        item: {
          id: "8",
          type: "todo_list",
          items: [
            { text: "one", completed: true },
            { text: "two", completed: false },
          ],
        },
      },
      { type: "item.completed", item: { id: "9", type: "error", message: "odd" } },
      { type: "item.completed", item: { id: "10", type: "agent_message", text: "Done." } },
      { type: "item.completed", item: { id: "11", type: "of tomorrow" } },
      {
        type: "turn.completed",
        usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 2, cache_write_input_tokens: 1 },
      },
      { type: "turn.failed", error: { message: '{"error":{"message":"over quota"}}' } },
      { type: "turn.failed" },
    ],
  ],
  gemini: [
    () => drivers.gemini.decoder(request),
    [
      { type: "init", session_id: "s", model: "g" },
      { type: "message", role: "user", content: "hi", timestamp: at },
      { type: "message", role: "assistant", content: "He", delta: true, timestamp: at },
      { type: "message", role: "assistant", content: "llo", delta: true },
      ...["run_shell_command", "read_file", "list_directory", "glob", "grep_search", "write_file"].flatMap(
        (tool_name, index) => [
          {
            type: "tool_use",
            tool_id: `c${index}`,
            tool_name,
            parameters: { command: "ls", path: "/w/a", pattern: "x" },
            timestamp: at,
          },
          { type: "tool_result", tool_id: `c${index}`, status: "success", output: `out ${index}`, timestamp: at },
        ],
      ),
      { type: "tool_use", tool_id: "d", tool_name: "replace", parameters: {} },
      { type: "tool_result", tool_id: "d", status: "error", error: { type: "policy_violation", message: "denied" } },
      { type: "tool_use", tool_id: "e", tool_name: "replace", parameters: {} },
      {
        type: "tool_result",
        tool_id: "e",
        status: "error",
        output: "said",
        error: { type: "tool_not_registered", message: "none" },
      },
      { type: "tool_use", tool_id: "f", tool_name: "replace", parameters: {} },
      { type: "tool_result", tool_id: "f", status: "error", error: { type: "other", message: "broke" } },
      { type: "message", role: "assistant", content: "Whole." },
      { type: "message", role: "system", content: "x" },
      { type: "error", message: "careful" },
      {
        type: "result",
        status: "success",
        timestamp: at,
        stats: { duration_ms: 5, input_tokens: 10, output_tokens: 2, cached: 4 },
      },
      { type: "result", status: "error", error: { message: "why" } },
      { type: "result" },
    ],
  ],
  opencode: [
    () => drivers.opencode.decoder({ ...(request as object), mcpServers: { git: {} } } as never),
    [
      { type: "step_start", sessionID: "s", part: {} },
      { type: "reasoning", part: { text: "hm" } },
      { type: "text", timestamp: 5, part: { text: "Hello." } },
      {
        type: "tool_use",
        part: {
          callID: "1",
          tool: "bash",
          state: { status: "completed", input: { command: "ls" }, output: "a", metadata: { exit: 0 } },
        },
      },
      {
        type: "tool_use",
        part: {
          callID: "2",
          tool: "bash",
          state: { status: "completed", input: { command: "false" }, output: "", metadata: { exit: 1 } },
        },
      },
      {
        type: "tool_use",
        part: {
          callID: "3",
          tool: "edit",
          state: {
            status: "completed",
            input: { filePath: "/w/a" },
            output: "ok",
            metadata: { diff: "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n" },
          },
        },
      },
      {
        type: "tool_use",
        part: { callID: "4", tool: "git_log", state: { status: "completed", input: {}, output: "l" } },
      },
      {
        type: "tool_use",
        part: {
          callID: "5",
          tool: "read",
          state: {
            status: "error",
            input: { filePath: "/x" },
            error: "The user rejected permission to use this tool.",
          },
        },
      },
      {
        type: "tool_use",
        part: { callID: "6", tool: "read", state: { status: "error", input: { filePath: "/x" }, error: "not found" } },
      },
      {
        type: "step_finish",
        part: {
          reason: "tool-calls",
          cost: 0.25,
          tokens: { input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } },
        },
      },
      { type: "step_finish", part: { reason: "stop", cost: 0.5, tokens: { input: 1, output: 1 } } },
      { type: "error", error: { name: "APIError", data: { message: "over", statusCode: 429 } } },
      { type: "error", error: { name: "Odd", data: { statusCode: 399 } } },
      { type: "error" },
    ],
  ],
  pi: [
    () => drivers.pi.decoder(request),
    [
      { type: "session", id: "s", cwd: "/p", timestamp: at },
      { type: "agent_start" },
      { type: "message_end", message: { role: "user", content: [{ type: "text", text: "hi" }] } },
      { type: "message_update", assistantMessageEvent: { type: "thinking_delta", delta: "h" } },
      { type: "message_update", assistantMessageEvent: { type: "thinking_end" } },
      { type: "message_update", assistantMessageEvent: { type: "text_delta", delta: "He" } },
      { type: "message_update", assistantMessageEvent: { type: "text_end", content: "Hello" } },
      { type: "tool_execution_start", toolCallId: "1", toolName: "bash", args: { command: "ls" } },
      { type: "tool_execution_end", toolCallId: "1", isError: false, result: { content: [{ text: "a" }] } },
      { type: "tool_execution_start", toolCallId: "2", toolName: "bash", args: { command: "false" } },
      {
        type: "tool_execution_end",
        toolCallId: "2",
        isError: true,
        result: { content: "out\n\nCommand exited with code 3" },
      },
      { type: "tool_execution_start", toolCallId: "3", toolName: "edit", args: { path: "a" } },
      {
        type: "tool_execution_end",
        toolCallId: "3",
        isError: false,
        result: { content: "ok", details: { patch: "@@ -1 +1 @@\n-x\n+y\n" } },
      },
      { type: "auto_retry_start", attempt: 2, delayMs: 100, errorMessage: "busy" },
      { type: "extension_error", error: "broke" },
      {
        type: "message_end",
        message: {
          role: "assistant",
          stopReason: "stop",
          usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: { total: 0.5 } },
        },
      },
      { type: "agent_settled" },
      {
        type: "message_end",
        message: { role: "assistant", stopReason: "error", errorMessage: "why", usage: { input: 1 } },
      },
      { type: "agent_settled" },
      { type: "message_end", message: { role: "assistant", stopReason: "aborted" } },
      { type: "agent_settled" },
    ],
  ],
};

/** Without what is carried along unread. */
function told(decode: Decode, lines: readonly Line[]): string[] {
  const clean = (key: string, value: unknown) => (key === "carried" || key === "raw" ? undefined : value);
  return lines.map((line) => JSON.stringify(decode(line), clean));
}

function* fieldsOf(line: Line, path: readonly string[] = []): Generator<readonly string[]> {
  for (const [key, value] of Object.entries(line)) {
    yield [...path, key];
    if (path.length < 4 && value && typeof value === "object") yield* fieldsOf(value, [...path, key]);
  }
}

function changed(line: Line, [key, ...rest]: readonly string[], value: unknown): Line {
  const copy: Line = Array.isArray(line) ? [...line] : { ...line };
  if (rest.length > 0) copy[key!] = changed(line[key!], rest, value);
  else if (value === undefined) delete copy[key!];
  else copy[key!] = value;
  return copy;
}

// Some of them do not say how long they took: a clock that stands still does.
beforeAll(() => void vi.useFakeTimers({ now: Date.parse(at), toFake: ["Date"] }));
afterAll(() => void vi.useRealTimers());

it("the SDK decodes lines of other CLIs as listed in the table", async () => {
  const rows: string[] = [];
  for (const [name, [open, lines]] of Object.entries(streams)) {
    const whole = told(open(), lines);
    rows.push(`== ${name}`, ...whole.map((events, index) => `${index} ${events}`));
    for (const [index, line] of lines.entries())
      for (const path of fieldsOf(line)) {
        const ways = [undefined, 7, "x"].map((value) => {
          const other = told(open(), lines.with(index, changed(line, path, value)));
          const differs = other.flatMap((events, at) =>
            events === whole[at] ? [] : [at === index ? events : `(${at})`],
          );
          return differs.join(" ") || "same";
        });
        if (ways.some((way) => way !== "same"))
          rows.push(`${name} ${index} ${path.join(".")}: ${ways.join(" | ")}`.slice(0, 400));
      }
  }
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "decoded-streams.txt"));
});
