// openLive with our own built CLI and scripted models: the whole of LiveRun, over pipes.
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Answer, Human, Question } from "../../src/protocol/run.ts";
import { tool } from "../../src/sdk/callbacks/tool.ts";
import { openLive } from "../../src/sdk/live/open-live.ts";
import type { LiveOptions, LiveSession } from "../../src/sdk/live/session.ts";
import { isCall } from "../../src/sdk/run-event.ts";
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

describe("turns of openLive", () => {
  it("in a live session tool calls have the SDK's names, and prompts may be objects", async () => {
    const session = await open([shell("echo hi"), { text: "Done." }]);
    const names: unknown[] = [];
    const reading = (async () => {
      for await (const { event } of session.events())
        if (isCall(event, "Bash")) names.push([event.type, event.cliName, event.args.command]);
    })();
    const wrong = session.send("go" as never);
    expect(await wrong.ending).toMatchObject({ code: "USAGE", message: expect.stringContaining("send({ text:") });
    expect(wrong.state).toBe("dropped");
    expect(await session.send({ text: "go" }).ending).toMatchObject({ type: "done", text: "Done." });
    await session.close();
    await reading;
    expect(names).toEqual([
      ["tool_start", "Shell", "echo hi"],
      ["tool_end", "Shell", "echo hi"],
    ]);
  });

  it("a live session answers turns one after the other in one process, which ends on close", async () => {
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

describe("questions of openLive", () => {
  it("a live session asks for trust before anything starts", async () => {
    const workspace = create();
    const options = { permissionMode: "default" } as const;
    const script = [{ text: "Hi." }];
    await expect(open(script, options, workspace)).rejects.toMatchObject({ name: "UserError", code: "UNTRUSTED" });
    const refusing = human({ type: "no" });
    await expect(open(script, { ...options, human: refusing }, workspace)).rejects.toMatchObject({ code: "UNTRUSTED" });
    const deaf = { ...human({ type: "yes" }), answers: ["permission"] as const };
    await expect(open(script, { ...options, human: deaf }, workspace)).rejects.toMatchObject({ code: "UNTRUSTED" });
    const trusting = human({ type: "yes" });
    const session = await open(script, { ...options, human: trusting }, workspace);
    expect(trusting.asked).toMatchObject([{ type: "trust", workspace: workspace.path }]);
    expect(await session.send({ text: "hi" }).ending).toMatchObject({ type: "done" });
    expect([refusing.asked.length, deaf.asked.length]).toEqual([1, 0]);
    // It is remembered.
    await open(script, options, workspace);
  });

  it("a live session reports a question that closed before its answer as withdrawn", async () => {
    let signal: AbortSignal | undefined;
    const slow = human((_question, given) => {
      signal = given;
      return new Promise(() => {});
    });
    const more = { permissionMode: "default", trust: true, extraArgs: ["--sandbox", "disabled"], human: slow } as const;
    const session = await open([shell("touch a.txt"), { text: "Next." }], more);
    const seen = follow(session);
    const sent = session.send({ text: "go" });
    await seen.until(({ type }) => type === "tool_start");
    await until(() => signal !== undefined);
    session.interrupt();
    expect(await sent.ending).toMatchObject({ code: "INTERRUPTED" });
    await until(() => signal!.aborted);
    expect(existsSync(join(session.path, "a.txt"))).toBe(false);
  });
});

describe("events of openLive", () => {
  it("a live session's subagent events carry the subagent's id, and output arrives live", async () => {
    const task = { name: "Task", args: { description: "look", prompt: "look around", subagent_type: "explore" } };
    const script = [
      { calls: [task] },
      { text: "I looked." },
      shell("echo one; sleep 0.3; echo two"),
      { text: "Done." },
    ];
    for (const isWanted of [true, false]) {
      const session = await open(script, { subagents: isWanted, toolOutput: isWanted });
      const agents = new Set<string>();
      let output = "";
      const reading = (async () => {
        for await (const { agent, event } of session.events()) {
          if (agent !== undefined && event.type === "text_end") agents.add(`${agent.length} ${event.text}`);
          if (event.type === "tool_output") output += event.chunk;
        }
      })();
      expect(await session.send({ text: "go" }).ending).toMatchObject({ type: "done", text: "Done." });
      await session.close();
      await reading;
      expect([...agents]).toEqual(isWanted ? ["36 I looked."] : []);
      expect(output).toBe(isWanted ? "one\ntwo\n" : "");
    }
  });

  it("only the first reader of a live session can slow down the process", async () => {
    const piece = "x".repeat(1000);
    const session = await open([{ text: Array.from({ length: 6000 }, () => piece) }]);
    const reader = session.events()[Symbol.asyncIterator]();
    await reader.next();
    const late = session.events(1)[Symbol.asyncIterator]();
    await late.next();
    const sent = session.send({ text: "go" });
    const isHeld = await Promise.race([
      sent.ending.then(() => false),
      new Promise((done) => setTimeout(done, 1500, true)),
    ]);
    expect(isHeld).toBe(true);
    // Who asks is served, though nobody reads.
    expect((await session.context()).used).toBeGreaterThan(0);
    let count = 0;
    for (let next = await reader.next(); next.value?.event.type !== "done"; next = await reader.next()) count++;
    expect(count).toBeGreaterThan(6000);
    expect(await sent.ending).toMatchObject({ type: "done" });
    await session.close();
    const rest = [];
    for (let next = await late.next(); !next.done; next = await late.next()) rest.push(next.value.event.type);
    expect(rest.filter((type) => type !== "text")).toEqual(["user", "text_end", "done"]);
  });

  it("a live session can be closed while events are unread", async () => {
    const session = await open([{ text: Array.from({ length: 6000 }, () => "x".repeat(1000)) }]);
    const reader = session.events()[Symbol.asyncIterator]();
    await reader.next();
    const sent = session.send({ text: "go" });
    await new Promise((done) => setTimeout(done, 500));
    await session.close();
    expect(sent.state).toBe("told");
    expect(isRunning(session.pid)).toBe(false);
  });
});

describe("the process behind openLive", () => {
  it("when its process is killed during a turn, a live session settles everything that is open", async () => {
    const session = await open([shell("sleep 60")]);
    const seen = follow(session);
    const [one, two] = [session.send({ text: "one" }), session.send({ text: "two" })];
    await seen.until(({ type }) => type === "tool_start");
    const aside = session.aside("well?");
    process.kill(session.pid, "SIGKILL");
    await expect(aside).rejects.toMatchObject({ name: "UserError" });
    expect(await one.ending).toMatchObject({ type: "fail", code: "CLI_EXIT" });
    expect(await two.ending).toMatchObject({ type: "fail", code: "CLI_EXIT" });
    expect([one.state, two.state]).toEqual(["told", "dropped"]);
    await seen.followed;
    expect(seen.events.slice(-2)).toMatchObject([{ type: "tool_end" }, { type: "fail", code: "CLI_EXIT" }]);
    const end = await session.ended;
    expect(end).toMatchObject({ signal: "SIGKILL", error: { outcome: "crashed", code: "CLI_EXIT" } });
    await session.close();
    expect(await session.send({ text: "late" }).ending).toMatchObject({ code: "CLI_EXIT" });
  });

  it("a live session ends a process that falls silent in a turn; between turns it may be silent", async () => {
    const session = await open([{ text: "Hi." }, long], { idleMs: 800 });
    expect(await session.send({ text: "one" }).ending).toMatchObject({ type: "done" });
    await new Promise((done) => setTimeout(done, 1800));
    const [sent, next] = [session.send({ text: "two" }), session.send({ text: "three" })];
    expect(await sent.ending).toMatchObject({ type: "fail", code: "CLI_TIMEOUT" });
    expect(await next.ending).toMatchObject({ type: "fail", code: "CLI_TIMEOUT" });
    expect(await session.ended).toMatchObject({ error: { outcome: "timeout" } });
    expect(isRunning(session.pid)).toBe(false);
  });

  it.each([
    ["no JSON at all", "FRAME_MALFORMED"],
    ['{"type":"result","is_error":"maybe"}', "FRAME_SCHEMA"],
    ['{"type":"assistant","message":{"role":"assistant","content":[]},"session_id":"another"}', "FRAME_SESSION"],
    ['{"type":"assistant","message":{"role":"assistant","content":[]}}', "NO_RESULT"],
    ["", "NO_OUTPUT"],
  ])("a live session whose process prints %j and exits fails its turns with %s", async (said, code) => {
    const init = { type: "system", subtype: "init", session_id: "s", cwd: "/", model: "m", permissionMode: "default" };
    const greeting = { type: "control", subtype: "hello", version: 1, session_id: "s", event_number: 1 };
    const user = { type: "user", message: { role: "user", content: [] }, session_id: "s", event_number: 2 };
    const program = create().file(
      "courser.cjs",
      `if (process.argv[2] === "about") { console.log('{"package":"courser-agent"}'); process.exit(); }
      const say = (line) => console.log(typeof line === "string" ? line : JSON.stringify(line));
      let count = 0;
      require("node:readline").createInterface({ input: process.stdin }).on("line", () => {
        if (count++ === 0) { say(${JSON.stringify(init)}); say(${JSON.stringify(greeting)}); return; }
        if (count > 2) return;
        say(${JSON.stringify(user)});
        say(${JSON.stringify(said)});
        setTimeout(() => process.exit(0), 50);
      });`,
    );
    const session = await openLive({ executable: program });
    const [one, two] = [session.send({ text: "one" }), session.send({ text: "two" })];
    expect(await one.ending).toMatchObject({ type: "fail", code });
    expect(await two.ending).toMatchObject({ type: "fail", code });
    expect([one.state, two.state]).toEqual(["told", "dropped"]);
    await session.close();
    expect((await session.ended).error).toMatchObject({ code });
  });

  it("an abort signal ends a live session's process, early or late", async () => {
    await expect(open([long], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "INTERRUPTED" });
    const abort = new AbortController();
    const session = await open([long], { signal: abort.signal });
    const seen = follow(session);
    const sent = session.send({ text: "go" });
    await seen.until(({ type }) => type === "text");
    abort.abort(new Error("The user left."));
    const message = "The run was cancelled: The user left.";
    expect(await sent.ending).toMatchObject({ code: "INTERRUPTED", message });
    await session.ended;
    expect(isRunning(session.pid)).toBe(false);
  });

  it("a live session does not wait forever for a silent process", async () => {
    const place = create();
    const executable = place.file(
      join(place.home, "silent"),
      `#!/bin/sh\n[ "$1" = about ] && exec '${process.execPath}' '${cli}' "$@"\nexec cat >/dev/null\n`,
    );
    chmodSync(executable, 0o755);
    await expect(openLive({ executable, idleMs: 500 })).rejects.toMatchObject({
      code: "CLI_TIMEOUT",
      message: expect.stringContaining("printed nothing for 500 ms"),
    });
  });

  it("an exception in a callback ends a live session's process", async () => {
    const broken = () => {
      throw new Error("mine");
    };
    for (const callback of ["onStart", "onStdout"] as const)
      await expect(open([long], { [callback]: broken })).rejects.toMatchObject({
        code: "CALLBACK_FAILED",
        message: `${callback} failed: mine`,
        cause: new Error("mine"),
      });
  });

  it("an unused live session can be closed, and refuses invalid requests itself", async () => {
    const session = await open([{ text: "Hi." }]);
    expect(await session.send({ text: " " }).ending).toMatchObject({ code: "USAGE" });
    const picture = { mime: "image/svg+xml", base64: Buffer.from("<svg/>").toString("base64") };
    expect(await session.send({ text: "look", images: [picture] }).ending).toMatchObject({ code: "FILE_UNREADABLE" });
    expect(() => session.setMode("wild" as "ask")).toThrow("must be one of default");
    await expect(session.rewind(0)).rejects.toMatchObject({ code: "USAGE" });
    await expect(session.aside("")).rejects.toMatchObject({ code: "USAGE" });
    await session.close();
    expect((await session.ended).error).toBeUndefined();
    const events = [];
    for await (const { event } of session.events(1)) events.push(event.type);
    expect(events).toEqual(["init"]);
  });

  it("a live session can continue or fork a stored session", async () => {
    const workspace = create();
    const first = await open([{ text: "One." }], {}, workspace);
    await first.send({ text: "one", data: "/not a command", images: [] }).ending;
    await first.close();
    const again = await open([{ expect: ["two"], text: "Two." }], { resume: first.chatId }, workspace);
    expect(again.chatId).toBe(first.chatId);
    expect(await again.send({ text: "two" }).ending).toMatchObject({ text: "Two." });
    await again.close();
    const fork = await open([{ text: "Three." }], { resume: first.chatId, fork: true }, workspace);
    expect(fork.chatId).not.toBe(first.chatId);
    await expect(open([{ text: "x" }], { resume: "no-such" }, workspace)).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    await expect(openLive({ executable: "/no/such/cli" })).rejects.toMatchObject({ code: "CLI_NOT_FOUND" });
  });

  it("functions of the program that uses the SDK work as tools and hooks", async () => {
    const heard: string[] = [];
    const add = tool({
      name: "add",
      description: "Adds.",
      schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
      run: ({ a, b }) => `${Number(a) + Number(b)}`,
    });
    const script = [{ calls: [{ name: "sdk-add", args: { a: 2, b: 3 } }] }, { expect: ["5"], text: "Five." }];
    const hooks = { preToolUse: () => void heard.push("hook") };
    const session = await open(script, { tools: [add], hooks });
    expect(await session.send({ text: "go" }).ending).toMatchObject({ text: "Five." });
    expect(heard.length).toBeGreaterThan(0);
  });
});

async function until(test: () => boolean): Promise<void> {
  while (!test()) await new Promise((done) => setTimeout(done, 20));
}
