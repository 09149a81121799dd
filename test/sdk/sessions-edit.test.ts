// Stored sessions that are renamed, forked and deleted by functions.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { start } from "../../src/sdk/run.ts";
import { deleteSession, forkSession, renameSession } from "../../src/sdk/sessions/edit-session.ts";
import { listSessions, loadSession } from "../../src/sdk/sessions/library.ts";
import { cli, createWorkspace } from "../support/run-cli.ts";

const workspace = createWorkspace({ "a.txt": "hello\n" });
afterAll(() => workspace.remove());
const env = { HOME: workspace.home, CURSOR_CONFIG_DIR: workspace.config };

test("a forked session continues separately, and a deleted one is gone", async () => {
  const script = workspace.file(
    join(workspace.home, "script.json"),
    JSON.stringify([{ text: "one" }, { text: "two" }]),
  );
  const options = { cwd: workspace.path, executable: cli, trust: true, model: `script:${script}`, env };
  const { sessionId = "" } = await start({ ...options, prompt: "Say one." }).result;
  const named = { tool: "cursor", sessionId, env } as const;
  await renameSession({ ...named, title: " A\nnumber " });
  expect(await listSessions({ tool: "cursor", env })).toMatchObject([{ id: sessionId, title: "A number" }]);

  const copy = await forkSession(named);
  expect(await start({ ...options, prompt: "And now?", resume: copy }).result).toMatchObject({ sessionId: copy });
  expect((await loadSession({ ...named, sessionId: copy })).messages).toHaveLength(4);
  expect((await loadSession(named)).messages).toHaveLength(2);

  await deleteSession(named);
  expect(await listSessions({ tool: "cursor", env })).toMatchObject([{ id: copy }]);
  await expect(deleteSession(named)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});

test("deleting a Claude session removes the files beside it", async () => {
  const id = "11111111-2222-4333-8444-555555555555";
  const folder = join(workspace.home, ".claude/projects/-w");
  mkdirSync(join(folder, id, "subagents"), { recursive: true });
  const line = {
    type: "user",
    uuid: "u1",
    parentUuid: null,
    sessionId: id,
    cwd: "/w",
    message: { role: "user", content: "Hi" },
  };
  // Without a line break at its end, as after a crash.
  writeFileSync(join(folder, `${id}.jsonl`), JSON.stringify(line));
  const named = { tool: "claude", sessionId: id, env } as const;
  await renameSession({ ...named, title: "Greetings" });
  const copy = await forkSession(named);
  for (const sessionId of [id, copy])
    expect(await loadSession({ ...named, sessionId })).toMatchObject({ id: sessionId, title: "Greetings", losses: [] });
  await deleteSession(named);
  expect(readdirSync(folder)).toEqual([`${copy}.jsonl`]);
});

test("the SDK refuses to change sessions that only their own CLI can change, and says what to type", async () => {
  const named = { sessionId: "x", env };
  await expect(deleteSession({ ...named, tool: "codex" })).rejects.toThrow("Use: codex delete ID");
  await expect(renameSession({ ...named, tool: "gemini", title: "x" })).rejects.toMatchObject({
    code: "NOT_SUPPORTED",
  });
  await expect(renameSession({ ...named, tool: "cursor", title: " " })).rejects.toThrow("title must not be empty");
  await expect(forkSession({ ...named, tool: "cursor", at: 3 } as never)).rejects.toThrow(
    "forkSession: unknown option 'at'",
  );
  expect(existsSync(join(workspace.home, ".codex"))).toBe(false);
});
