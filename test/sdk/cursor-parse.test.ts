// parseCursorEvent and the functions on tool calls: every branch, every outcome, every tool.
import { describe, expect, it } from "vitest";
import { outcomeKinds } from "../../src/protocol/tool-calls.ts";
import {
  extractToolArgs,
  extractToolResult,
  hasError,
  isCursorDelta,
  isCursorResultEvent,
  isCursorSystemEvent,
  isCursorToolCallEvent,
  isImageBlock,
  isTextBlock,
  isThinkingBlock,
  isToolResultBlock,
  isToolUseBlock,
  isUnifiedMessage,
  normalizeToolName,
  parseCursorEvent,
} from "../../src/sdk/cursor/index.ts";
import { unifiedToolName } from "../../src/sdk/tool-names.ts";
import { streams } from "../streams/index.ts";

const session = "0c79b9f5-d4a6-433b-ab10-2212d47390af";
const parse = (line: object) => parseCursorEvent(JSON.stringify(line));
const init = {
  type: "system",
  subtype: "init",
  apiKeySource: "login",
  cwd: "/work",
  session_id: session,
  model: "Claude 4.5 Sonnet",
  permissionMode: "default",
};
const says = (role: "user" | "assistant", text: string, more: object = {}) => ({
  type: role,
  message: { role, content: [{ type: "text", text }] },
  session_id: session,
  ...more,
});
const call = (subtype: "started" | "completed", toolCall: object, more: object = { timestamp_ms: 1761699007048 }) => ({
  type: "tool_call",
  subtype,
  call_id: "toolu_1",
  tool_call: toolCall,
  model_call_id: "m",
  session_id: session,
  ...more,
});

describe("parseCursorEvent", () => {
  it("parseCursorEvent reads session and model from system lines", () => {
    const message = parse(init)!;
    expect(message).toMatchObject({
      role: "system",
      content: [{ type: "text", text: `Session: ${session}, Model: Claude 4.5 Sonnet` }],
      tool: "cursor",
      _original: init,
    });
    expect(message.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Math.abs(message.timestamp - Date.now())).toBeLessThan(5000);
    expect(parse({ ...init, model: undefined })!.content).toEqual([
      { type: "text", text: `Session: ${session}, Model: unknown` },
    ]);
    expect(parse({ type: "system", subtype: "task_notification", session_id: session })).toBeNull();
  });

  it("parseCursorEvent reads blocks from user and assistant lines, and the time of deltas", () => {
    const user = says("user", "what is 5+5?");
    expect(parse(user)).toMatchObject({ role: "user", content: user.message.content, _original: user });
    const answer = says("assistant", "10");
    expect(parse(answer)).toMatchObject({ role: "assistant", content: [{ type: "text", text: "10" }] });
    expect(Math.abs(parse(answer)!.timestamp - Date.now())).toBeLessThan(5000);
    expect(parse(says("assistant", "1", { timestamp_ms: 1761698920748 }))!.timestamp).toBe(1761698920748);
    expect(parse(answer)!.id).not.toBe(parse(answer)!.id);
  });

  it("a started call gives a tool use with the unified name and the call's id", () => {
    const line = call("started", { readToolCall: { args: { path: "/project/a.txt" } } });
    expect(parse(line)).toEqual({
      id: "toolu_1",
      role: "assistant",
      content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: { path: "/project/a.txt" } }],
      timestamp: 1761699007048,
      tool: "cursor",
      _original: line,
    });
  });

  it("a completed call gives a result with role system: JSON on success, text on error", () => {
    const success = { content: "Hello\n", isEmpty: false };
    const done = parse(call("completed", { readToolCall: { args: { path: "/a" }, result: { success } } }))!;
    expect(done).toMatchObject({ role: "system", timestamp: 1761699007048, tool: "cursor" });
    expect(done.id).not.toBe("toolu_1");
    expect(done.content).toEqual([
      { type: "tool_result", tool_use_id: "toolu_1", content: JSON.stringify(success), is_error: false },
    ]);
    const error = { errorMessage: "File not found" };
    // As it is documented: without a time.
    const failed = parse(call("completed", { readToolCall: { args: { path: "/a" }, result: { error } } }, {}))!;
    expect(failed.content).toMatchObject([{ content: "File not found", is_error: true }]);
    expect(Math.abs(failed.timestamp - Date.now())).toBeLessThan(5000);
  });

  it.each([
    [
      "result",
      { type: "result", subtype: "success", duration_ms: 1, is_error: false, result: "10", session_id: session },
    ],
    ["thinking", { type: "thinking", subtype: "delta", text: "hm", session_id: session, timestamp_ms: 1 }],
    ["a type that nobody knows", { type: "weather", sunny: true }],
    ["no type at all", { hello: 1 }],
  ])("parseCursorEvent gives null for a line of %s", (_, line) => expect(parse(line)).toBeNull());

  it("parseCursorEvent ignores blank lines, a byte order mark and kinds of line ends", () => {
    expect(["", "  ", "\r\n"].map(parseCursorEvent)).toEqual([null, null, null]);
    expect(parseCursorEvent(`\uFEFF${JSON.stringify(says("assistant", "10"))}\r\n`)!.role).toBe("assistant");
  });

  it("parseCursorEvent throws an error with a code for an invalid line", () => {
    const thrown = (line: string) => {
      try {
        parseCursorEvent(line);
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(["not json", "[1]", "null", '{"type":"user"'].map(thrown)).toEqual(Array(4).fill("FRAME_MALFORMED"));
    expect(thrown('{"type":"user"}')).toBe("FRAME_SCHEMA");
    expect(thrown('{"type":"assistant","message":{"role":"assistant","content":"x"}}')).toBe("FRAME_SCHEMA");
    expect(thrown('{"type":"tool_call","subtype":"started","tool_call":{"readToolCall":{}}}')).toBe("FRAME_SCHEMA");
    expect(thrown('{"type":"user","message":{"role":"user","content":[]},"timestamp_ms":"1"}')).toBe("FRAME_SCHEMA");
  });

  it.each(streams.map((stream) => [stream.name, stream] as const))(
    "the stream %s can be parsed",
    (_, { lines, rest }) => {
      for (const line of lines) {
        const message = parseCursorEvent(line);
        if (!message) continue;
        expect(isUnifiedMessage(message)).toBe(true);
        expect(message._original).toEqual(JSON.parse(line));
        for (const block of message.content.filter(isToolUseBlock)) expect(block.name).toMatch(/^([A-Z]\w+|look\w+)$/);
        expect(message.content).not.toMatchObject([{ name: "Unknown" }]);
      }
      if (rest !== "") expect(() => parseCursorEvent(rest)).toThrow();
    },
  );
});

describe("normalizeToolName", () => {
  it.each([
    ["read", "Read"],
    ["edit", "Edit"],
    ["write", "Write"],
    ["shell", "Bash"],
    ["ls", "Ls"],
    ["grep", "Grep"],
    ["glob", "Glob"],
    ["delete", "Delete"],
    ["updateTodos", "TodoWrite"],
    ["webFetch", "WebFetch"],
    ["webSearch", "WebSearch"],
    ["semSearch", "SemanticSearch"],
    ["mcp", "Mcp"],
    ["task", "Task"],
    ["listMcpResources", "ListMcpResources"],
    ["await", "Await"],
    ["paintPicture", "PaintPicture"],
  ])("the key %sToolCall in the stream means the tool %s", (tool, name) => {
    expect(normalizeToolName({ [`${tool}ToolCall`]: { args: {} } })).toBe(name);
    // Wherever the key stands among its siblings.
    expect(normalizeToolName({ toolCallId: "x", startedAtMs: "1", [`${tool}ToolCall`]: {} })).toBe(name);
  });

  it("parseCursorEvent makes an edit a Write if the finished call shows there was no file", () => {
    const edit = (result?: object, args: object = { path: "/a" }) =>
      normalizeToolName({ editToolCall: { args, result } });
    const success = { path: "/a", afterFullFileContent: "x" };
    expect(edit()).toBe("Edit");
    expect(edit({ success })).toBe("Write");
    expect(edit({ success: { ...success, beforeFullFileContent: "" } })).toBe("Edit");
    expect(edit({ error: { errorMessage: "no" } })).toBe("Edit");
    expect(edit({ rejected: { reason: "no" } })).toBe("Edit");
    // 2025 did not tell what was there before, but a replacement has something to replace.
    expect(edit({ success }, { path: "/a", strReplace: { oldText: "a", newText: "b" } })).toBe("Edit");
  });

  it("an MCP tool is Mcp also in hook payloads", () => {
    expect(unifiedToolName("cursor", "MCP:report")).toBe("Mcp");
    expect(unifiedToolName("claude", "mcp__sdk__report")).toBe("mcp__sdk__report");
  });

  it("parseCursorEvent names a tool Unknown only if no field names it", () => {
    for (const nothing of [{}, { toolCallId: "x" }, { readToolCall: null }, { ToolCall: {} }, null, undefined, "read"])
      expect(normalizeToolName(nothing)).toBe("Unknown");
    expect(normalizeToolName({ function: { name: "web_fetch", arguments: "{}" } })).toBe("web_fetch");
  });
});

describe("extractToolArgs", () => {
  it("parseCursorEvent passes arguments on unchanged, and an empty object for missing ones", () => {
    for (const tool of ["read", "edit", "shell", "ls", "grep", "glob", "paintPicture"]) {
      const args = { path: "/a", __proto__: null, deep: { list: [1] } };
      expect(extractToolArgs({ [`${tool}ToolCall`]: { args } })).toBe(args);
    }
    expect([{}, { readToolCall: {} }, null, { readToolCall: { args: "x" } }].map(extractToolArgs)).toEqual([
      {},
      {},
      {},
      {},
    ]);
    expect(extractToolArgs({ function: { name: "x", arguments: '{"a":1}' } })).toEqual({ a: 1 });
  });
});

describe("tool outcomes", () => {
  const finished = (result: unknown) => ({ toolCallId: "x", shellToolCall: { args: {}, result }, completedAtMs: "1" });

  const ok = ["success", "startSuccess", "saveSuccess", "discardSuccess", "async"];
  const failed = ["error", "failure", "timeout", "spawnError", "fileNotFound", "notFile", "notFound", "fileBusy"];
  const refused = ["rejected", "permissionDenied", "readPermissionDenied", "writePermissionDenied"];

  it("every outcome in the recorded streams has a known kind", () =>
    expect([...ok, ...failed, ...refused].sort()).toEqual([...outcomeKinds].sort()));

  it.each(ok)("the outcome %s of a call is not an error, and its value is JSON", (kind) => {
    const call = finished({ isBackground: false, [kind]: { a: 1 }, pid: 7 });
    expect({ error: hasError(call), result: extractToolResult(call) }).toEqual({ error: false, result: '{"a":1}' });
  });

  it.each([...failed, ...refused])("the outcome %s of a call is an error", (kind) => {
    expect(hasError(finished({ isBackground: false, [kind]: {}, pid: 7 }))).toBe(true);
    expect(extractToolResult(finished({ [kind]: {} })).length).toBeGreaterThan(0);
  });

  it.each([
    [{ error: { errorMessage: "File not found" } }, "File not found"],
    [{ error: { path: "", error: "File not found: /a" } }, "File not found: /a"],
    [{ error: { clientVisibleError: "busy" } }, "busy"],
    [{ error: { modelVisibleError: "no match" } }, "no match"],
    [{ error: "plain" }, "plain"],
    [{ rejected: { command: "rm", reason: "not allowed" } }, "not allowed"],
    [{ spawnError: { command: "x", error: "ENOENT" } }, "ENOENT"],
    [{ fileNotFound: { path: "/a" } }, "fileNotFound"],
  ])("the outcome %j of a call gives a reason", (result, text) =>
    expect(extractToolResult(finished(result))).toBe(text),
  );

  it("parseCursorEvent makes a command with a non-zero exit code an error, with its output as the result", () => {
    const failure = { command: "false", exitCode: 1, stdout: "out", stderr: "err" };
    const call = finished({ failure, isBackground: false });
    expect({ error: hasError(call), result: JSON.parse(extractToolResult(call)) }).toEqual({
      error: true,
      result: failure,
    });
  });

  it("parseCursorEvent makes a failed MCP tool inside a success an error", () => {
    const success = { content: [{ text: { text: "boom" } }], isError: true };
    const call = { mcpToolCall: { args: {}, result: { success } } };
    expect({ error: hasError(call), result: extractToolResult(call) }).toEqual({
      error: true,
      result: JSON.stringify(success),
    });
  });

  it("parseCursorEvent makes a call without a result no error, with empty text", () => {
    for (const call of [finished(undefined), finished({}), finished(null), {}, null])
      expect({ error: hasError(call), result: extractToolResult(call) }).toEqual({ error: false, result: "" });
    const strange = finished({ somethingNew: { a: 1 }, isBackground: true });
    expect({ error: hasError(strange), result: extractToolResult(strange) }).toEqual({
      error: false,
      result: '{"a":1}',
    });
  });
});

describe("type guards", () => {
  it("type guards of the SDK distinguish the kinds of content blocks", () => {
    const blocks = [
      { type: "text", text: "a" },
      { type: "thinking", thinking: "b" },
      { type: "tool_use", id: "1", name: "Read", input: {} },
      { type: "tool_result", tool_use_id: "1", content: "", is_error: false },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "" } },
    ];
    const guards = [isTextBlock, isThinkingBlock, isToolUseBlock, isToolResultBlock, isImageBlock];
    for (const [index, guard] of guards.entries())
      expect(blocks.map(guard), guard.name).toEqual(blocks.map((_, at) => at === index));
    for (const guard of guards)
      for (const wrong of [null, "text", {}, { type: "text" }]) expect(guard(wrong)).toBe(false);
  });

  it("type guards distinguish lines, and refuse incomplete ones", () => {
    expect(isCursorSystemEvent(init)).toBe(true);
    expect(isCursorSystemEvent({ ...init, subtype: "notice" })).toBe(false);
    expect(isCursorDelta(says("assistant", "a", { timestamp_ms: 1 }))).toBe(true);
    expect(isCursorDelta(says("assistant", "a", { timestamp_ms: 1, model_call_id: "m" }))).toBe(false);
    expect(isCursorDelta(says("assistant", "a"))).toBe(false);
    expect(isCursorToolCallEvent(call("started", {}))).toBe(true);
    expect(isCursorToolCallEvent({ ...call("started", {}), call_id: 1 })).toBe(false);
    expect(isCursorResultEvent({ type: "result" })).toBe(false);
  });
});
