// Sessions of opencode, from a database as its version 1.18 makes it.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deleteSession, listSessions, loadSession, searchSessions } from "../../src/sdk/index.ts";
import { openDatabase } from "../../src/store/sqlite.ts";

const home = mkdtempSync(join(tmpdir(), "courser-opencode-"));
const env = { HOME: home };
const folder = join(home, ".local/share/opencode");
const id = "ses_e10dbd626ffeRKRKvkHvYl7Vkm";
afterAll(() => rmSync(home, { recursive: true, force: true }));

const messages = [
  { id: "msg_1", data: { role: "user", model: { providerID: "p", modelID: "m" } } },
  {
    id: "msg_2",
    data: {
      role: "assistant",
      providerID: "p",
      modelID: "m",
      tokens: { input: 10, output: 2, reasoning: 1, cache: { read: 4, write: 5 } },
    },
  },
  { id: "msg_3", data: { role: "assistant", providerID: "p", modelID: "m" } },
  { id: "msg_4", data: { role: "user" } },
];
const parts: [message: string, data: object][] = [
  ["msg_1", { type: "text", text: "Look at it." }],
  ["msg_1", { type: "text", text: "a file, read by the CLI", synthetic: true }],
  ["msg_1", { type: "file", url: "data:image/png;base64,AAAA" }],
  ["msg_1", { type: "file", url: "file:///a.pdf" }],
  ["msg_2", { type: "step-start" }],
  ["msg_2", { type: "reasoning", text: "Hm." }],
  [
    "msg_2",
    {
      type: "tool",
      tool: "bash",
      callID: "call_1",
      state: { status: "completed", input: { command: "ls" }, output: "a\n" },
    },
  ],
  [
    "msg_2",
    { type: "tool", tool: "edit", callID: "call_2", state: { status: "error", input: {}, error: "No such file." } },
  ],
  ["msg_2", { type: "tool", tool: "read", callID: "call_3", state: { status: "running", input: {} } }],
  ["msg_2", { type: "dream" }],
  ["msg_3", { type: "text", text: "Seen." }],
  ["msg_4", { type: "text", text: "taken back" }],
];

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  const database = openDatabase(join(folder, "opencode.db"));
  const times = "time_created integer, time_updated integer";
  database.exec(`CREATE TABLE session (id text, parent_id text, directory text, title text, revert text, ${times})`);
  database.exec(`CREATE TABLE message (id text, session_id text, data text, ${times})`);
  database.exec(`CREATE TABLE part (id text, message_id text, session_id text, data text, ${times})`);
  const session = database.prepare("INSERT INTO session VALUES (?, ?, ?, ?, ?, 1000, 9000)");
  session.run(id, null, "/work", "Looking", '{"messageID":"msg_4"}');
  session.run("ses_child", id, "/work", "Of a subagent", null);
  for (const [index, { id: message, data }] of messages.entries())
    database.prepare("INSERT INTO message VALUES (?, ?, ?, ?, 0)").run(message, id, JSON.stringify(data), 2000 + index);
  for (const [index, [message, data]] of parts.entries()) {
    const row = [`prt_${String(index).padStart(2, "0")}`, message, id, JSON.stringify(data)];
    database.prepare("INSERT INTO part VALUES (?, ?, ?, ?, 3000, 0)").run(...row);
  }
  database.close();
  const other = openDatabase(join(folder, "opencode-dev.db"));
  other.exec("CREATE TABLE session (name text)");
  other.close();
});

test("an opencode session is read whole: texts, thoughts, images, calls, results and usage", async () => {
  const session = await loadSession({ tool: "opencode", sessionId: id.slice(0, 12), env });
  expect(session).toMatchObject({
    id,
    title: "Looking",
    workspace: "/work",
    model: "p/m",
    createdAt: 1000,
    updatedAt: 9000,
  });
  expect(session.messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
    ["user", "text", "image"],
    ["assistant", "thinking", "tool_use", "tool_use", "tool_use"],
    ["user", "tool_result", "tool_result"],
    ["assistant", "text"],
  ]);
  const [, answer, results] = session.messages;
  expect(answer!.content.flatMap((block) => (block.type === "tool_use" ? [block.name] : []))).toEqual([
    "Bash",
    "Edit",
    "Read",
  ]);
  expect(answer!.usage).toEqual({ inputTokens: 10, outputTokens: 3, cacheReadTokens: 4, cacheWriteTokens: 5 });
  expect(results!.content).toMatchObject([
    { content: "a\n", is_error: false },
    { content: "No such file.", is_error: true },
  ]);
  const losses = Object.fromEntries(session.losses.map(({ kind, count }) => [kind, count]));
  expect(losses).toEqual({ context: 1, attachment: 1, unknown: 1, branch: 1, open_call: 1, subagent: 1 });
});

test("opencode sessions are listed and searched without those of subagents, and only opencode may change them", async () => {
  expect(await listSessions({ tool: "opencode", env })).toMatchObject([{ tool: "opencode", id, workspace: "/work" }]);
  expect(await listSessions({ tool: "opencode", cwd: "/other", env })).toEqual([]);
  expect(await searchSessions("seen", { tool: "opencode", env })).toMatchObject([
    { id, snippet: expect.stringContaining("Seen") },
  ]);
  await expect(deleteSession({ tool: "opencode", sessionId: id, env })).rejects.toThrow("opencode session delete ID");
});
