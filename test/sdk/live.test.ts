// openLive with our own built CLI and scripted models: the whole of LiveRun, over pipes.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Answer, Human, Question } from "../../src/protocol/run.ts";
import { openLive } from "../../src/sdk/live/open-live.ts";
import type { LiveOptions, LiveSession } from "../../src/sdk/live/session.ts";
import { follow } from "../run/run-support.ts";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

const workspaces: Workspace[] = [];
const sessions: LiveSession[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
});
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

function create(): Workspace {
  const workspace = createWorkspace();
  workspaces.push(workspace);
  return workspace;
}

let scripts = 0;
/** A session that is answered by these replies. `pid`: of its process. */
async function open(script: unknown, more: LiveOptions = {}, workspace = create()) {
  const file = workspace.file(join(workspace.home, `script-${scripts++}.json`), JSON.stringify(script));
  let pid = 0;
  const session = await openLive({
    cwd: workspace.path,
    executable: cli,
    permissionMode: "force",
    model: `script:${file}`,
    env: { HOME: workspace.home, CURSOR_CONFIG_DIR: workspace.config },
    onStart: (facts) => void (pid = facts.pid),
    ...more,
  });
  sessions.push(session);
  return Object.assign(session, { pid, path: workspace.path });
}

const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });
const write = (path: string, content: string) => ({ calls: [{ name: "Write", args: { path, content } }] });
const long = { steps: [{ text: "I begin" }, { delayMs: 60_000 }] };

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** A human that gives this answer, and remembers what it was asked. */
function human(answer: Answer | ((question: Question, signal: AbortSignal) => Promise<Answer>)) {
  const asked: Question[] = [];
  const ask: Human["ask"] = async (question, signal) => {
    asked.push(question);
    return typeof answer === "function" ? answer(question, signal) : answer;
  };
  return { asked, ask };
}

describe("turns", () => {
  it("are answered one after the other in one process, which ends when it is closed", async () => {
    const session = await open([{ text: "One." }, { text: "Two." }]);
    const seen = follow(session);
    const [one, two] = [session.send({ text: "one" }), session.send({ text: "two" })];
    expect(two.state).toBe("waiting");
    expect(await one.ending).toMatchObject({ type: "done", text: "One." });
    expect(await two.ending).toMatchObject({ type: "done", text: "Two." });
    expect([one.state, two.state, session.losses]).toEqual(["told", "told", []]);
    expect(isRunning(session.pid)).toBe(true);
    await session.close();
    await seen.followed;
    expect(isRunning(session.pid)).toBe(false);
    expect(await session.ended).toMatchObject({ exitCode: 0, signal: "", stages: [] });
    expect(seen.events[0]).toMatchObject({ type: "init", sessionId: session.chatId });
    expect(seen.events.filter(({ type }) => type === "done")).toHaveLength(2);
    const late = session.send({ text: "late" });
    expect(await late.ending).toMatchObject({ type: "fail", code: "INTERRUPTED" });
    expect(late.state).toBe("dropped");
    await expect(session.context()).rejects.toMatchObject({ code: "INTERRUPTED" });
  });
});
