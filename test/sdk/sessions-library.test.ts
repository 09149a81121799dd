// The sessions of every CLI on a machine: listed, loaded, searched.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isToolUseBlock, isUnifiedMessage } from "../../src/sdk/guards.ts";
import {
  listSessions,
  loadCursorSession,
  loadMessages,
  loadSession,
  searchSessions,
} from "../../src/sdk/sessions/library.ts";
import { textOf } from "../../src/sdk/unified.ts";
import { createChat } from "../../src/store/chats/open-chat.ts";
import { writeOriginalChat } from "../store/original-chat.ts";
import { repository } from "../support/run-cli.ts";
import { calls, chatId, result, says, user } from "./chat-record.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-library-")));
const home = join(base, "home");
const workspace = join(base, "work");
const env = { HOME: home };
const original = "99999999-8888-4777-8666-555555555555";
const ids = {
  claude: "c60a81f7-6814-4292-bfb1-b2ab1c2a684a",
  claudeCompacted: "6f61cca6-927c-4767-8f3f-233764704efb",
  codex: "01a1e276-27c1-7f52-ab39-1d98df314be4",
  codexCompacted: "01a1e277-d8a2-7a10-8272-7a4033e2747a",
  gemini: "9f9bcdb1-f979-41cf-8407-cd09b82df605",
};

beforeAll(() => {
  const recordings = join(repository, "test/recordings/sessions");
  cpSync(join(recordings, "claude"), join(home, ".claude/projects/-home-user-project"), { recursive: true });
  cpSync(join(recordings, "codex"), join(home, ".codex/sessions/2026/11/16"), { recursive: true });
  cpSync(join(recordings, "gemini"), join(home, ".gemini/tmp/project"), { recursive: true });
  writeFileSync(join(home, ".gemini/tmp/project/.project_root"), "/home/user/project\n");
  // Files that are none of theirs, or broken, keep nobody from the others.
  writeFileSync(join(home, ".claude/projects/-home-user-project/notes.jsonl"), "not json\n");
  mkdirSync(workspace);
  const place = { configDir: join(home, ".cursor"), workspace };
  const chat = createChat(place, { id: chatId, mode: "default", model: "M", title: "Ours" });
  chat.record({ type: "user", text: "go", at: 1000 });
  chat.append(
    user("go"),
    calls("Shell", { command: "ls zebra" }, "c1", "I look."),
    result("a.txt", "c1"),
    says("Done."),
  );
  chat.record({ type: "done", text: "I look.Done.", durationMs: 1, apiDurationMs: 1, at: 5000 });
  chat.close();
  writeOriginalChat(place, { id: original, prompts: ["what is a zebra?", "and a gnu?"] });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("listSessions", () => {
  it("the sessions of all agent CLIs are listed, newest first", async () => {
    const sessions = await listSessions({ env });
    expect(sessions.map(({ tool, id }) => [tool, id]).sort()).toEqual(
      [
        ["cursor", chatId],
        ["cursor", original],
        ["claude", ids.claude],
        ["claude", ids.claudeCompacted],
        ["codex", ids.codex],
        ["codex", ids.codexCompacted],
        ["gemini", ids.gemini],
      ].sort(),
    );
    const times = sessions.map((session) => session.updatedAt);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(sessions.find(({ id }) => id === ids.claude)).toMatchObject({
      title: "Fix the greeting in hello.txt",
      workspace: "/home/user/project",
      model: "claude-opus-5-5",
      path: expect.stringMatching(/\.jsonl$/),
    });
    expect(sessions.find(({ id }) => id === chatId)).toMatchObject({ title: "Ours", workspace });
    expect(sessions.find(({ id }) => id === original)).toMatchObject({ title: "what is a zebra?" });
  });

  it("sessions can be filtered by CLI, workspace and number", async () => {
    const tools = async (options: object) => (await listSessions({ env, ...options })).map(({ tool }) => tool).sort();
    expect(await tools({ tool: "codex" })).toEqual(["codex", "codex"]);
    expect(await tools({ tool: ["gemini", "cursor"] })).toEqual(["cursor", "cursor", "gemini"]);
    expect(await tools({ cwd: workspace })).toEqual(["cursor", "cursor"]);
    expect(await tools({ cwd: "/home/user/project" })).toEqual(["claude", "claude", "codex", "codex", "gemini"]);
    expect(await tools({ cwd: "/nowhere" })).toEqual([]);
    expect(await tools({ limit: 3 })).toHaveLength(3);
    expect(await listSessions({ env: { HOME: join(base, "nobody") } })).toEqual([]);
    await expect(listSessions({ env, tool: "emacs" as "claude" })).rejects.toThrow(/one of cursor, claude/);
  });
});

it("an older Gemini CLI's folder is found by the hash of the project path", async () => {
  const hash = createHash("sha256").update("/home/user/other").digest("hex");
  const folder = join(home, ".gemini/tmp", hash);
  cpSync(join(repository, "test/recordings/sessions/gemini"), folder, { recursive: true });
  expect(await listSessions({ env, tool: "gemini", cwd: "/home/user/other" })).toHaveLength(1);
  rmSync(folder, { recursive: true });
});

describe("loadMessages", () => {
  it.each(["claude", "codex", "gemini"] as const)(
    "%s: messages of listed sessions are unified and in order",
    async (tool) => {
      const messages = await loadMessages({ tool, sessionId: ids[tool], env });
      expect(messages.length).toBeGreaterThan(4);
      expect(messages.every((message) => isUnifiedMessage(message) && message.tool === tool)).toBe(true);
      expect(messages[0]).toMatchObject({ role: "user" });
      const times = messages.map((message) => message.timestamp);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      const uses = messages.flatMap(({ content }) => content.filter(isToolUseBlock));
      expect(uses.map(({ name }) => name)).toContain("Bash");
      expect(await loadMessages({ tool, sessionId: ids[tool].slice(0, 13), env, cwd: "/elsewhere" })).toEqual(messages);
    },
  );

  it("chats of ours and the original are found by id from anywhere", async () => {
    const ours = await loadCursorSession(chatId, { cwd: workspace, env });
    expect(ours.map(textOf)).toEqual(["go", "I look.", "", "Done."]);
    expect(ours[1]!.content[1]).toMatchObject({ type: "tool_use", name: "Bash", input: { command: "ls zebra" } });
    const theirs = await loadCursorSession(original, { env });
    expect(theirs.map(textOf)).toEqual(["what is a zebra?", "Answer 1.", "and a gnu?", "Answer 2."]);
    expect(await loadMessages({ tool: "cursor", sessionId: original.slice(0, 8), env })).toEqual(theirs);
  });

  it("a missing session is reported, and an id is never used as a path", async () => {
    for (const tool of ["cursor", "claude", "codex", "gemini"] as const)
      for (const sessionId of [crypto.randomUUID(), join(home, ".claude"), "../../etc/passwd", "", "x"])
        await expect(loadMessages({ tool, sessionId, env }), `${tool} ${sessionId}`).rejects.toMatchObject({
          code: "SESSION_NOT_FOUND",
          message: expect.stringMatching(/^Session not found/),
        });
  });

  it("a session id that fits several sessions means the one of this workspace", async () => {
    await expect(loadMessages({ tool: "codex", sessionId: "01a1e27", env })).rejects.toThrow(/2 session ids of codex/);
    const copy = join(home, ".claude/projects/-other", `${ids.claude}.jsonl`);
    cpSync(join(home, ".claude/projects/-home-user-project", `${ids.claude}.jsonl`), copy);
    utimesSync(copy, 1, 1);
    const session = await loadSession({ tool: "claude", sessionId: ids.claude, env, cwd: "/home/user/project" });
    expect(session).toMatchObject({ id: ids.claude, losses: expect.any(Array) });
    rmSync(copy);
  });
});

describe("searchSessions", () => {
  it("session search finds words in messages, calls and results, with the place", async () => {
    const found = async (text: string, options: object = {}) =>
      (await searchSessions(text, { env, ...options })).map(({ tool, snippet }) => `${tool}: ${snippet}`);
    expect((await found("zebra")).length).toBe(2);
    expect((await found("greeting hello.txt")).map((hit) => hit.split(":")[0])).toEqual(
      expect.arrayContaining(["claude", "codex", "gemini"]),
    );
    expect((await found('"the greeting in hello"', { tool: "claude" }))[0]).toMatch(/greeting in hello/);
    expect(await found('"greeting the in"')).toEqual([]);
    expect(await found("zebra", { cwd: "/home/user/project" })).toEqual([]);
    expect(await found("zebra", { cwd: workspace, limit: 1 })).toHaveLength(1);
    expect(await found("  ")).toEqual([]);
    expect(await found("no such words anywhere xyzzy")).toEqual([]);
  });
});

describe("projectPath", () => {
  it("projectPath limits session lists, searches and ids", async () => {
    const here = "/home/user/project";
    const claude = { tool: "claude", sessionId: ids.claude, env } as const;
    expect((await loadMessages({ ...claude, projectPath: here })).length).toBeGreaterThan(0);
    await expect(loadMessages({ ...claude, projectPath: workspace })).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    expect((await loadCursorSession(chatId, { projectPath: workspace, env })).length).toBeGreaterThan(0);
    await expect(loadCursorSession(chatId, { projectPath: here, env })).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    expect((await listSessions({ projectPath: workspace, env })).map(({ tool }) => tool)).toEqual(["cursor", "cursor"]);
    expect(await searchSessions("zebra", { projectPath: here, env })).toEqual([]);
  });
});
