// openLive with CLIs that cannot be spoken to while they work: the same LiveRun, one process for all turns or one for each,
// listed losses.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { UnifiedTool } from "../../src/sdk/index.ts";
import { openLive } from "../../src/sdk/live/open-live.ts";
import type { LiveOptions, LiveSession } from "../../src/sdk/live/session.ts";
import { follow } from "../run/run-support.ts";
import { createWorkspace, repository } from "../support/run-cli.ts";

const workspace = createWorkspace();
const sessions: LiveSession[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
});
afterAll(() => workspace.remove());

const peer = join(repository, "test/sdk/fixtures/peer-cli.mjs");
let logs = 0;

/** `calls`: what the program was asked, once for each turn. */
async function open(tool: UnifiedTool, more: LiveOptions = {}) {
  const log = join(workspace.home, `peer-${logs++}.log`);
  const session = await openLive({
    tool,
    cwd: workspace.path,
    executable: [process.execPath, peer, tool],
    env: { PEER_LOG: log },
    ...more,
  });
  sessions.push(session);
  const calls = () =>
    (existsSync(log) ? readFileSync(log, "utf8") : "")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { args: string[]; prompt: string; session: string; pid: number });
  return { session, calls };
}

describe.each<UnifiedTool>(["cursor", "claude", "codex", "gemini"])("%s", (tool) => {
  it("an agent CLI continues from turn to turn in one session with one event log", async () => {
    const { session, calls } = await open(tool);
    const seen = follow(session);
    const [one, two] = [session.send({ text: "first words" }), session.send({ text: "next words", data: "more" })];
    expect(await one.ending).toMatchObject({ type: "done", text: "You said: first words" });
    expect(session.chatId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await two.ending).toMatchObject({ type: "done", text: "You said: next words\n\nmore" });
    expect(calls().map((call) => call.session)).toEqual([session.chatId, session.chatId]);
    expect(new Set(calls().map((call) => call.pid)).size).toBe(tool === "claude" ? 1 : 2);
    const types: string[] = [];
    const numbers: number[] = [];
    for await (const { number, event } of session.events(1)) {
      if (!["notice", "other", "thinking_end"].includes(event.type)) types.push(event.type);
      numbers.push(number!);
      if (types.filter((type) => type === "done").length === 2) break;
    }
    expect(types).toEqual(["init", "user", "text_end", "done", "user", "text_end", "done"]);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    await session.close();
    await seen.followed;
    expect(await session.ended).toMatchObject({ exitCode: 0, signal: "" });
    expect(await session.send({ text: "late" }).ending).toMatchObject({ code: "INTERRUPTED" });
  });

  it("in a live session of another CLI, callers can interrupt a turn, withdraw a prompt and steer the next", async () => {
    const { session, calls } = await open(tool);
    const seen = follow(session);
    const waiting = session.send({ text: "wait" });
    const [two, three] = [session.send({ text: "second words" }), session.send({ text: "third words" })];
    await seen.until(({ type }) => type === "text_end" || type === "text");
    const steered = session.steer("steered words");
    expect(await two.withdraw()).toBe(true);
    session.interrupt("Not now.");
    expect(await waiting.ending).toMatchObject({ type: "fail", code: "INTERRUPTED", message: "Not now." });
    expect(await three.ending).toMatchObject({ type: "done" });
    expect([waiting.state, two.state, three.state, steered.state]).toEqual(["told", "dropped", "told", "told"]);
    expect(calls().map(({ prompt }) => prompt)).toEqual(["wait", "steered words", "third words"]);
    expect(new Set(calls().map((call) => call.session)).size).toBe(1);
    expect(new Set(calls().map((call) => call.pid)).size).toBe(tool === "claude" ? 1 : 3);
    expect(seen.notices()).toContain("queue");
    expect(await waiting.withdraw()).toBe(false);
  });
});

describe("options that cannot be carried over", () => {
  it("a live session lists what its CLI cannot do before anything starts", async () => {
    const human = { ask: async () => ({ type: "yes" as const }) };
    const { session } = await open("codex", { human, appendSystemPrompt: "Be brief." });
    const options = session.losses.map(({ option }) => option);
    expect(options).toEqual(
      expect.arrayContaining(["steer", "background", "compact", "rewind", "aside", "context", "names", "human"]),
    );
    expect(options).toEqual(expect.arrayContaining(["subagents", "toolOutput", "appendSystemPrompt"]));
    expect(session.losses.every(({ reason }) => reason.length > 20)).toBe(true);
    const calls = [
      session.background("x"),
      session.compact(),
      session.rewind(1),
      session.aside("well?"),
      session.context(),
      session.names(),
      session.setModel("m", "max"),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ name: "UserError", code: "NOT_SUPPORTED" });
    expect(() => session.setMode("ask")).toThrow("plan");
    const image = { mime: "image/png", base64: Buffer.from("\x89PNG\r\n\x1a\n", "latin1").toString("base64") };
    expect(await session.send({ text: "look", images: [image] }).ending).toMatchObject({ code: "NOT_SUPPORTED" });
    await expect(open("codex", { allowedTools: ["Read"] })).rejects.toMatchObject({ code: "USAGE" });
  });

  it("a live session's new mode and model apply from the next turn on", async () => {
    const { session, calls } = await open("claude");
    const seen = follow(session);
    await session.send({ text: "one word" }).ending;
    session.setMode("plan");
    await session.setModel("opus");
    await expect(session.setModel("--force")).rejects.toMatchObject({ code: "USAGE" });
    await session.send({ text: "two words" }).ending;
    expect(calls()[1]!.args.join(" ")).toContain("--permission-mode plan --model opus");
    expect(seen.notices().filter((kind) => kind.endsWith("_change"))).toEqual(["mode_change", "model_change"]);
  });

  it("if a CLI's process ends in the middle of a turn, that turn fails, and the next one resumes in a new process", async () => {
    const { session, calls } = await open("claude");
    follow(session);
    await session.send({ text: "one word" }).ending;
    expect(await session.send({ text: "crash" }).ending).toMatchObject({ type: "fail", code: "CLI_EXIT" });
    expect(await session.send({ text: "two words" }).ending).toMatchObject({ text: "You said: two words" });
    const [first, , last] = calls();
    expect(last).toMatchObject({ session: first!.session, args: expect.arrayContaining(["--resume", first!.session]) });
    expect(last!.pid).not.toBe(first!.pid);
  });

  it("a live session reports a process that cannot start or is closed while working", async () => {
    const { session } = await open("claude", { cwd: join(workspace.path, "gone") });
    expect(await session.send({ text: "one word" }).ending).toMatchObject({ type: "fail", code: "CWD_MISSING" });
    const pids: number[] = [];
    const other = await open("gemini", { onStart: ({ pid }) => void pids.push(pid) });
    const seen = follow(other.session);
    const [sent, next] = [other.session.send({ text: "wait" }), other.session.send({ text: "never said" })];
    await seen.until(({ type }) => type === "text");
    await other.session.close();
    expect(await sent.ending).toMatchObject({ code: "INTERRUPTED", message: "The run was closed." });
    expect(await next.ending).toMatchObject({ code: "INTERRUPTED" });
    expect([sent.state, next.state]).toEqual(["told", "dropped"]);
    expect(() => process.kill(pids[0]!, 0)).toThrow();
  });
});

it("a live session with an older version of our CLI starts a process for each turn", async () => {
  for (const answer of ["refuses", "is silent"]) {
    const old = workspace.file(
      join(answer, "courser.cjs"),
      `const { spawnSync } = require("node:child_process");
      const args = process.argv.slice(2);
      if (args[0] === "about") { console.log('{"package":"courser-agent"}'); process.exit(); }
      const init = { type: "system", subtype: "init", session_id: "s", cwd: "/", model: "m", permissionMode: "default", apiKeySource: "env" };
      if (!args.includes("--input-format")) {
        process.exit(spawnSync(process.execPath, [${JSON.stringify(peer)}, "cursor", ...args], { stdio: "inherit" }).status);
      }
      console.log(JSON.stringify(init));
      if (${JSON.stringify(answer)} === "refuses") {
        console.log(JSON.stringify({ type: "result", subtype: "error", is_error: true, duration_ms: 1, result: "Error: Line 1 of stdin", session_id: "s", error_code: "FRAME_SCHEMA" }));
        process.exitCode = 1;
      } else process.stdin.resume();`,
    );
    const session = await openLive({ cwd: workspace.path, executable: old });
    sessions.push(session);
    expect(session.losses[0]).toMatchObject({ option: "live" });
    expect(await session.send({ text: "some words" }).ending).toMatchObject({ text: "You said: some words" });
  }
});
