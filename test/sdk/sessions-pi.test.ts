// Sessions of pi: lines that each name the one they follow.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { listSessions, loadSession } from "../../src/sdk/sessions/library.ts";

const home = mkdtempSync(join(tmpdir(), "courser-pi-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const id = "01a1ed1f-1e7b-746c-bc07-9b3069c43cba";
const env = { HOME: home };
const at = "2026-01-01T00:00:00.000Z";
const said = (line: string, parentId: string | null, message: object) => ({
  type: "message",
  id: line,
  parentId,
  timestamp: at,
  message,
});
const usage = { input: 7, output: 3, cacheRead: 2, cacheWrite: 0 };
const call = { type: "toolCall", id: "call_1", name: "bash", arguments: { command: "echo hi" } };
const lines = [
  { type: "session", version: 3, id, timestamp: at, cwd: "/w" },
  { type: "model_change", id: "a", parentId: null, timestamp: at, modelId: "m" },
  said("s", "a", { role: "system", content: "" }),
  said("b", "s", { role: "user", content: [{ type: "text", text: "Say hi." }] }),
  said("old", "b", { role: "assistant", content: [{ type: "text", text: "Left behind." }], model: "m" }),
  said("c", "b", { role: "assistant", content: [{ type: "thinking", thinking: "Hm." }, call], model: "m", usage }),
  said("d", "c", { role: "toolResult", toolCallId: "call_1", content: [{ type: "text", text: "hi" }], isError: false }),
  said("e", "d", { role: "assistant", content: [{ type: "text", text: "I said hi." }], model: "m" }),
];
const folder = join(home, ".pi/agent/sessions/--w--");
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, `2026-01-01T00-00-00-000Z_${id}.jsonl`),
  lines.map((line) => JSON.stringify(line)).join("\n"),
);

test("the branch of a pi session's last line is read, and abandoned branches are counted", async () => {
  const session = await loadSession({ tool: "pi", sessionId: id, env });
  expect(session).toMatchObject({ id, workspace: "/w", model: "m", title: "Say hi." });
  expect(session.messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
    ["user", "text"],
    ["assistant", "thinking", "tool_use"],
    ["user", "tool_result"],
    ["assistant", "text"],
  ]);
  expect(session.messages[1]).toMatchObject({
    content: [{}, { name: "Bash", input: { command: "echo hi" } }],
    usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2 },
  });
  expect(session.losses.map(({ kind, count }) => [kind, count])).toContainEqual(["branch", 1]);
});

test("pi sessions are listed by id and workspace", async () => {
  expect(await listSessions({ tool: "pi", env })).toMatchObject([{ tool: "pi", id, title: "Say hi." }]);
  expect(await listSessions({ tool: "pi", cwd: "/elsewhere", env })).toEqual([]);
});
