// Older and rarer forms of sessions of Codex, written by hand: each with what must come of it.
import { afterAll, describe, expect, it } from "vitest";
import { messagesOf } from "../../src/sdk/unified.ts";
import { outcomeOfResult } from "../../src/sdk/wire-calls.ts";
import { lines, losses, sessionFiles, texts } from "./session-files.ts";

const files = sessionFiles();
afterAll(() => files.remove());

describe("Codex sessions", () => {
  const message = (role: string, text: string) => ({
    type: "message",
    role,
    content: [{ type: role === "user" ? "input_text" : "output_text", text }],
  });
  const item = (payload: object) => ({ timestamp: "2025-10-29T00:59:38.317Z", type: "response_item", payload });
  const event = (payload: object) => ({ timestamp: "2025-10-29T00:59:38.317Z", type: "event_msg", payload });
  const meta = {
    timestamp: "2025-10-29T00:59:38.317Z",
    type: "session_meta",
    payload: { id: "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5", timestamp: "2025-10-29T00:59:38.308Z", cwd: "/p" },
  };

  it("in a Codex session, a command that patched files is an edit of each, with the changed lines", () => {
    const diff = "@@ -1,5 +1,5 @@\n zero\n-one\n+uno\n two\n-three\n+tres\n four\n@@ -9 +9,2 @@\n nine\n+ten\n";
    const changes = {
      "/p/new.txt": { type: "add", content: "a\nb\n" },
      "/p/old.txt": { type: "update", unified_diff: diff, move_path: null },
      "/p/gone.txt": { type: "delete", content: "x\n" },
    };
    const patch = { name: "exec_command", arguments: '{"cmd":"apply_patch <<EOP"}', call_id: "c1" };
    const output = "Wall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nA new.txt\n";
    const { messages } = files.read(
      lines([
        meta,
        item(message("user", "Change it")),
        item({ type: "function_call", ...patch }),
        event({ type: "item_completed", item: { type: "FileChange", id: "c1", changes, status: "completed" } }),
        item({ type: "function_call_output", call_id: "c1", output }),
      ]),
    );
    const calls = messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_use"));
    const results = messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_result"));
    expect(results.map((result) => result.tool_use_id)).toEqual(calls.map(({ id }) => id));
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ["Write", { path: "/p/new.txt", content: "a\nb\n" }],
      [
        "Edit",
        {
          path: "/p/old.txt",
          edits: [
            { oldText: "zero\none\ntwo", newText: "zero\nuno\ntwo" },
            { oldText: "two\nthree\nfour", newText: "two\ntres\nfour" },
            { oldText: "nine", newText: "nine\nten" },
          ],
        },
      ],
      ["Delete", { path: "/p/gone.txt" }],
    ]);
    const counts = calls.map(({ id, name, input }, index) => {
      const result = { type: "tool_result" as const, id, text: String(results[index]!.content), isError: false };
      const { value } = outcomeOfResult({ type: "tool_call", id, name, args: input }, result);
      const { linesAdded, linesRemoved } = value as { linesAdded?: number; linesRemoved?: number };
      return [linesAdded, linesRemoved];
    });
    expect(counts).toEqual([
      [2, 0],
      [3, 2],
      [undefined, undefined],
    ]);
  });

  it("a Codex session in the older form without envelopes is read", () => {
    const session = files.read(
      lines([
        {
          id: "5973b6c0-94b8-487b-a530-2aeb6098ae0e",
          timestamp: "2025-05-07T17:24:21.123Z",
          instructions: null,
          git: {},
        },
        { record_type: "state" },
        message("user", "<environment_context>x</environment_context>"),
        message("user", "Make a file"),
        { type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: "abc" },
        {
          type: "function_call",
          id: "fc",
          name: "shell",
          arguments: '{"command":["bash","-lc","touch x"]}',
          call_id: "c1",
        },
        {
          type: "function_call_output",
          call_id: "c1",
          output: '{"output":"boom\\n","metadata":{"exit_code":2,"duration_seconds":0.1}}',
        },
        {
          type: "local_shell_call",
          call_id: "c2",
          status: "completed",
          action: { type: "exec", command: ["ls"], timeout_ms: 100 },
        },
        { type: "function_call_output", call_id: "c2", output: { content: "x", success: false } },
        message("assistant", "Made."),
      ]),
    );
    expect(session.id).toBe("5973b6c0-94b8-487b-a530-2aeb6098ae0e");
    expect(session.createdAt).toBe(Date.parse("2025-05-07T17:24:21.123Z"));
    expect(texts(session)).toEqual(["u: Make a file", "a: Bash()", "u: =boom\n", "a: Bash()", "u: =x", "a: Made."]);
    expect(losses(session)).toEqual({ context: 1, thinking: 1 });
    const parts = messagesOf(session.messages).flatMap(({ parts }) => parts);
    expect(parts.filter((part) => part.type === "tool_call").map((part) => part.args)).toEqual([
      { command: "touch x" },
      { command: "ls", timeout: 100 },
    ]);
    expect(parts.filter((part) => part.type === "tool_result").map((part) => part.isError)).toEqual([true, true]);
  });

  it("patches, searches, images and undone turns of a Codex session are read", () => {
    const session = files.read(
      lines([
        meta,
        item({ type: "message", role: "developer", content: [{ type: "input_text", text: "rules" }] }),
        item(message("user", "# AGENTS.md instructions for /p\n\nrules")),
        item({
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "see" },
            { type: "input_image", image_url: "data:image/png;base64,AAAA" },
            { type: "input_image", image_url: "https://example.com/x.png" },
          ],
        }),
        item({ type: "custom_tool_call", call_id: "p1", name: "apply_patch", input: "*** Begin Patch" }),
        item({
          type: "custom_tool_call_output",
          call_id: "p1",
          output: '{"output":"Success","metadata":{"exit_code":0}}',
        }),
        item({ type: "web_search_call", status: "completed", action: { type: "search", query: "q" } }),
        item(message("assistant", "ok")),
        event({
          type: "token_count",
          info: { last_token_usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3 } },
        }),
        event({
          type: "token_count",
          info: { last_token_usage: { input_tokens: 99, cached_input_tokens: 4, output_tokens: 3 } },
        }),
        item(message("user", "wrong")),
        item(message("assistant", "oops")),
        event({ type: "thread_rolled_back", num_turns: 1 }),
        item(message("user", "right")),
        event({ type: "turn_aborted", reason: "interrupted" }),
        item({ type: "ghost_snapshot" }),
        item({ type: "brand_new" }),
      ]),
    );
    expect(texts(session)).toEqual(["u: see image", "a: apply_patch()", "u: =Success", "a: ok", "u: right"]);
    expect(losses(session)).toEqual({ context: 2, attachment: 1, hosted_call: 1, branch: 2, notice: 1, unknown: 1 });
    expect(session.messages[3]!.usage).toEqual({
      input_tokens: 10,
      cached_input_tokens: 4,
      output_tokens: 3,
      inputTokens: 6,
      outputTokens: 3,
      cacheReadTokens: 4,
      cacheWriteTokens: 0,
    });
  });

  it("for a Codex session whose summary only the vendor can read, the model gets the whole history", () => {
    const compacted = {
      timestamp: "2026-01-01T00:00:00Z",
      type: "compacted",
      payload: {
        message: "",
        replacement_history: [message("user", "a"), { type: "compaction", encrypted_content: "xyz" }],
      },
    };
    const session = files.read(
      lines([meta, item(message("user", "a")), item(message("assistant", "b")), compacted, item(message("user", "c"))]),
    );
    expect(session.context).toBeUndefined();
    expect(losses(session)).toEqual({ compaction: 1 });
    const plain = { ...compacted, payload: { message: "what was said" } };
    const older = files.read(
      lines([meta, item(message("user", "a")), item(message("assistant", "b")), plain, item(message("user", "c"))]),
    );
    expect(texts(older, "context")).toEqual(["u: what was said", "u: c"]);
    expect(texts(older)).toEqual(["u: a", "a: b", "u: c"]);
  });
});
