// Unified messages: ours into them and back, names and arguments of tools of other CLIs.
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/protocol/message.ts";
import { unifiedToolName } from "../../src/sdk/tool-names.ts";
import { groupMessages, messagesOf, textOf, type UnifiedMessage, unifiedChat } from "../../src/sdk/unified.ts";
import { calls, chatId, recordOf, result, says, user } from "./chat-record.ts";

const picture = { mime: "image/png", base64: "iVBORw0KGgo=" };

const conversation: Message[] = [
  {
    role: "user",
    parts: [
      { type: "text", text: "look" },
      { type: "image", ...picture },
    ],
  },
  {
    role: "assistant",
    provider: "anthropic",
    parts: [
      { type: "thinking", text: "hm", opaque: { from: "anthropic", metadata: { anthropic: { signature: "x" } } } },
      { type: "text", text: "I look." },
      { type: "tool_call", id: "a", name: "Shell", args: { command: "ls" } },
      { type: "tool_call", id: "b", name: "LS", args: {}, opaque: { from: "google" } },
      { type: "tool_call", id: "c", name: "mcp__server__tool", args: "no object" },
    ],
  },
  {
    role: "user",
    parts: [
      { type: "tool_result", id: "a", text: "x.txt", isError: false },
      { type: "tool_result", id: "b", text: "denied", isError: true },
      { type: "tool_result", id: "c", text: "", isError: false, images: [picture] },
      { type: "text", text: "Instructions for what was touched." },
    ],
  },
  says("Done."),
];

describe("unified messages", () => {
  const record = recordOf([{ messages: conversation }]);
  const unified = unifiedChat(record);

  it("exported chats use the unified message format", () => {
    expect(unified.map((message) => message.role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(unified[0]).toMatchObject({
      id: `${chatId}-1`,
      tool: "cursor",
      timestamp: record.messages[0]!.at,
      content: [
        { type: "text", text: "look" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: picture.base64 } },
      ],
      _original: conversation[0],
    });
    expect(unified[1]!.content).toMatchObject([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "a", name: "Bash", input: { command: "ls" } },
      { type: "tool_use", id: "b", name: "Ls", input: {} },
      { type: "tool_use", id: "c", name: "mcp__server__tool", input: "no object" },
    ]);
    expect(unified[2]!.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "x.txt", is_error: false },
      { type: "tool_result", tool_use_id: "b", content: "denied", is_error: true },
      {
        type: "tool_result",
        tool_use_id: "c",
        content: [
          { type: "text", text: "" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: picture.base64 } },
        ],
        is_error: false,
      },
      { type: "text", text: "Instructions for what was touched." },
    ]);
    expect(unified[1]!.model).toBe("Some Model");
    expect(unified[0]).not.toHaveProperty("model");
    expect(unified.map(textOf)).toEqual(["look", "I look.", "Instructions for what was touched.", "Done."]);
  });

  it("our messages survive conversion to the unified format and back", () => {
    expect(messagesOf(unified)).toEqual(conversation);
    // Nothing is shared with what they were made from.
    messagesOf(unified)[1]!.parts.push({ type: "text", text: "more" });
    expect(conversation[1]!.parts).toHaveLength(5);
  });

  it("an exported session puts a turn's token usage on its last answer and takes message times from the events", () => {
    const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
    const record = recordOf([
      {
        messages: [user("a"), calls("Read", { path: "x" }), result("text"), says("b")],
        events: [
          { type: "init", sessionId: chatId, cwd: "/", permissionMode: "default", apiKeySource: "env", model: "Other" },
          { type: "user", text: "a", at: 100 },
          { type: "tool_start", callId: "call_1", tool: "read", args: {}, at: 200 },
          { type: "tool_end", callId: "call_1", tool: "read", args: {}, at: 300 },
          { type: "text_end", text: "b", at: 400 },
          { type: "done", text: "b", durationMs: 1, apiDurationMs: 1, usage },
        ],
      },
    ]);
    const unified = unifiedChat(record);
    expect(unified.map((message) => message.timestamp)).toEqual([100, 200, 300, 400]);
    expect(unified.map((message) => message.usage)).toEqual([undefined, undefined, undefined, usage]);
    expect(unified.map((message) => message.model)).toEqual([undefined, "Other", undefined, "Other"]);
  });
});

describe("messages of other CLIs", () => {
  const base = { timestamp: 1, _original: {} };

  it("in the unified format an answer is one message, and a round of tool results another", () => {
    const use = (id: string): UnifiedMessage => ({
      ...base,
      id: `m${id}`,
      role: "assistant",
      tool: "claude",
      content: [{ type: "tool_use", id, name: "Bash", input: { command: `echo ${id}` } }],
    });
    const answer = (id: string, role: "user" | "system"): UnifiedMessage => ({
      ...base,
      id: `r${id}`,
      role,
      tool: "claude",
      content: [{ type: "tool_result", tool_use_id: id, content: id, is_error: false }],
    });
    const prompt: UnifiedMessage = {
      ...base,
      id: "p",
      role: "user",
      tool: "claude",
      content: [{ type: "text", text: "p" }],
    };
    // A live stream has results as `system`, and says there what is for nobody.
    const system: UnifiedMessage = {
      ...prompt,
      id: "s",
      role: "system",
      content: [{ type: "text", text: "Session: x" }],
    };
    const groups = groupMessages([
      system,
      prompt,
      use("1"),
      use("2"),
      answer("1", "user"),
      answer("2", "system"),
      prompt,
      prompt,
    ]);
    expect(groups.map(({ message, from }) => [message.role, message.parts.length, from.length])).toEqual([
      ["user", 1, 1],
      ["assistant", 2, 2],
      ["user", 2, 2],
      ["user", 1, 1],
      ["user", 1, 1],
    ]);
  });

  const respelled: [tool: "claude" | "codex" | "gemini", name: string, input: unknown, ours: [string, unknown]][] = [
    [
      "claude",
      "Bash",
      { command: "ls", description: "List", run_in_background: true },
      ["Shell", { command: "ls", isBackground: true, description: "List" }],
    ],
    ["claude", "Read", { file_path: "/a", limit: 3 }, ["Read", { path: "/a", limit: 3 }]],
    [
      "claude",
      "Edit",
      { file_path: "/a", old_string: "x", new_string: "y", replace_all: true },
      ["Edit", { path: "/a", edits: [{ oldText: "x", newText: "y", replaceAll: true }] }],
    ],
    [
      "claude",
      "MultiEdit",
      { file_path: "/a", edits: [{ old_string: "x", new_string: "y" }] },
      ["Edit", { path: "/a", edits: [{ oldText: "x", newText: "y" }] }],
    ],
    ["claude", "Read", { constructor: 1, file_path: "/a" }, ["Read", { constructor: 1, path: "/a" }]],
    ["claude", "Edit", { file_path: "/a", notebook: 1 }, ["Edit", { path: "/a", notebook: 1 }]],
    [
      "claude",
      "TodoWrite",
      { todos: [{ content: "a", status: "completed", activeForm: "b" }] },
      ["TodoWrite", { todos: [{ id: "1", content: "a", status: "completed" }] }],
    ],
    ["claude", "Agent", { prompt: "p" }, ["Task", { prompt: "p" }]],
    ["claude", "NotebookEdit", { x: 1 }, ["NotebookEdit", { x: 1 }]],
    ["codex", "exec_command", { cmd: "ls -l", workdir: "/a" }, ["Shell", { command: "ls -l", workingDirectory: "/a" }]],
    [
      "codex",
      "shell",
      { command: ["bash", "-lc", "ls | wc"], timeout_ms: 5 },
      ["Shell", { command: "ls | wc", timeout: 5 }],
    ],
    [
      "codex",
      "shell",
      { command: ["git", "commit", "-m", "it's"] },
      ["Shell", { command: "git commit -m 'it'\\''s'" }],
    ],
    ["codex", "apply_patch", { input: "*** Begin Patch" }, ["apply_patch", { input: "*** Begin Patch" }]],
    [
      "codex",
      "update_plan",
      { plan: [{ step: "a", status: "odd" }] },
      ["TodoWrite", { todos: [{ id: "1", content: "a", status: "pending" }] }],
    ],
    [
      "gemini",
      "run_shell_command",
      { command: "ls", dir_path: "sub" },
      ["Shell", { command: "ls", workingDirectory: "sub" }],
    ],
    ["gemini", "read_file", { absolute_path: "/a" }, ["Read", { path: "/a" }]],
    [
      "gemini",
      "replace",
      { file_path: "/a", old_string: "x", new_string: "y" },
      ["Edit", { path: "/a", edits: [{ oldText: "x", newText: "y" }] }],
    ],
    ["gemini", "list_directory", { dir_path: "/a" }, ["LS", { path: "/a" }]],
    ["gemini", "search_file_content", { pattern: "x", include: "*.ts" }, ["Grep", { pattern: "x", glob: "*.ts" }]],
  ];

  it.each(respelled)(
    "the unified tool call %s %s is imported as a call of ours",
    (tool, name, input, [ownName, args]) => {
      const message: UnifiedMessage = {
        ...base,
        id: "m",
        role: "assistant",
        tool,
        content: [{ type: "tool_use", id: "1", name: unifiedToolName(tool, name), input }],
      };
      expect(messagesOf([message])[0]!.parts).toEqual([{ type: "tool_call", id: "1", name: ownName, args }]);
    },
  );
});
