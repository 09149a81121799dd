// start and execute, with our own built CLI and a scripted model.
import { join } from "node:path";
import * as v from "valibot";
import { afterAll, describe, expect, test } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { execute, executeCursor, executeCursorStreaming } from "../../src/sdk/execute.ts";
import { RunError } from "../../src/sdk/outcome.ts";
import { type StartOptions, start } from "../../src/sdk/run.ts";
import type { UnifiedMessage } from "../../src/sdk/unified.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { cli, createWorkspace } from "../support/run-cli.ts";

const workspace = createWorkspace({ "a.txt": "hello\n" });
afterAll(() => workspace.remove());

let scripts = 0;
/** Options of a run that is answered by these replies. */
function scripted(
  replies: unknown,
  more: Partial<StartOptions> = {},
): Omit<StartOptions, "schema" | "onStdout" | "onStderr"> {
  const file = workspace.file(join(workspace.home, `script-${scripts++}.json`), JSON.stringify(replies));
  return {
    prompt: "go",
    cwd: workspace.path,
    executable: cli,
    permissionMode: "force",
    model: `script:${file}`,
    env: { HOME: workspace.home, CURSOR_CONFIG_DIR: workspace.config },
    ...more,
  };
}

const work = [
  { text: "I look. ", calls: [{ name: "Read", args: { path: "a.txt" } }] },
  { thinking: "so it is", text: "It says hello." },
];

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe("start", () => {
  test("any reader of an SDK run gets its events, messages and text at any time, with one result", async () => {
    const run = start(scripted(work));
    const [events, messages, pieces] = await Promise.all([all(run.events), all(run.messages), all(run.text)]);
    const result = await run.result;
    expect(result).toMatchObject({
      outcome: "success",
      text: "I look. It says hello.",
      data: undefined,
      exitCode: 0,
      turns: 2,
      stages: [],
      ignored: 0,
      losses: [],
    });
    expect(await all(run.events)).toEqual(events);
    expect(await all(run.messages)).toEqual(messages);
    expect(await run.text).toBe(result.text);
    expect(pieces.join("")).toBe(result.text);
    expect(events[0]).toMatchObject({ type: "init", sessionId: result.sessionId });
    expect(events.filter((event) => event.type === "done")).toEqual([events.at(-1)]);
    expect(messages.map(({ role, content }) => [role, content.map((block) => block.type).join()])).toEqual([
      ["system", "text"],
      ["user", "text"],
      ["assistant", "text"],
      ["assistant", "tool_use"],
      ["system", "tool_result"],
      ["assistant", "thinking,text"],
    ]);
    expect(messages.at(-1)!.usage).toEqual(result.usage);
    expect(run.session.id).toBe(result.sessionId);
  });

  test("follow-ups of an SDK run continue its session in order, and a fork uses a copy", async () => {
    const run = start(scripted([{ text: "one" }]));
    const { model } = scripted([{ text: "two" }]);
    const second = run.session.send("and now?", { model: model! });
    const third = second.session.send("and then?", { model: model! });
    const fourth = run.session.send("at last?", { model: model! });
    const order: string[] = [];
    for (const [name, each] of Object.entries({ run, second, third, fourth }))
      void each.result.then(() => order.push(name));
    const fork = run.session.fork("or else?", { model: model! });
    const [one, two, three, four] = await Promise.all([run.result, second.result, third.result, fork.result]);
    expect([one.text, two.text, three.text, four.text]).toEqual(["one", "two", "two", "two"]);
    expect(two.sessionId).toBe(one.sessionId);
    expect(three.sessionId).toBe(one.sessionId);
    expect((await fourth.result).sessionId).toBe(one.sessionId);
    expect(order).toEqual(["run", "second", "third", "fourth"]);
    expect(four.outcome).toBe("success");
    expect(four.sessionId).not.toBe(one.sessionId);
    const resumed = await start({ ...scripted([{ text: "again" }]), resume: one.sessionId! }).result;
    expect(resumed).toMatchObject({ outcome: "success", sessionId: one.sessionId });
    expect(await start({ ...scripted([{ text: "x" }]), resume: "no-such-chat" }).result).toMatchObject({
      outcome: "error",
      error: { code: "SESSION_NOT_FOUND" },
    });
  });

  test("cancel() and abort signals end an SDK run, even one aborted before its start", async () => {
    const slow = [{ calls: [{ name: "Shell", args: { command: "sleep 60" } }] }, { text: "x" }];
    const run = start(scripted(slow));
    for await (const event of run.events) if (event.type === "tool_start") void run.cancel();
    const abort = new AbortController();
    const other = start(scripted(slow, { signal: abort.signal }));
    const follow = other.session.send("never").cancel();
    setTimeout(() => abort.abort(), 300);
    const cancelled = { outcome: "cancelled", error: { code: "INTERRUPTED" } };
    expect(await run.result).toMatchObject(cancelled);
    expect(await other.result).toMatchObject(cancelled);
    expect(await follow).toMatchObject({ outcome: "cancelled" });
    const early = await start(scripted(work, { signal: AbortSignal.abort("No longer needed.") })).result;
    expect(early).toMatchObject({
      ...cancelled,
      error: { message: "The run was cancelled: No longer needed." },
    });
    await expect(async () => await run.text).rejects.toThrow(RunError);
    expect((await all(run.events)).filter(({ type }) => type === "tool_end")).toHaveLength(1);
  });

  test("an SDK run that cannot start gives an error with its reason", async () => {
    expect(await start({ prompt: "go", executable: "/no/such/cli" }).result).toMatchObject({
      outcome: "error",
      error: { code: "CLI_NOT_FOUND", message: expect.stringContaining("/no/such/cli") },
    });
    expect(await start(scripted(work, { cwd: join(workspace.path, "gone") })).result).toMatchObject({
      outcome: "error",
      error: { code: "CWD_MISSING" },
    });
    expect(await start(scripted(work, { permissionMode: "default" })).result).toMatchObject({
      outcome: "error",
      error: { code: "UNTRUSTED" },
    });
    expect(() => start({ prompt: "go", tool: "basic" as "cursor" })).toThrow(
      /cursor, claude, codex, gemini, opencode, pi/,
    );
    expect(() => start({} as StartOptions)).toThrow(/prompt/);
    expect(() => start({ prompt: "go", schema: { tpye: "object" } })).toThrow(/type/);
  });

  test("the SDK never passes a prompt as an option, however it looks and however long it is", async () => {
    for (const prompt of ["status", "--version", "- a", `${"x ".repeat(100_000)}.`]) {
      const events = await all(start(scripted([{ text: "ok" }], { prompt })).events);
      expect(events.find(({ type }) => type === "user")).toEqual({ type: "user", text: prompt });
      expect(events.at(-1)).toMatchObject({ type: "done", text: "ok" });
    }
  });

  test("option values of the SDK never become flags of the CLI", () => {
    for (const wrong of [{ resume: "--force" }, { model: "-f" }, { resume: "" }])
      expect(() => start({ prompt: "go", ...wrong }), JSON.stringify(wrong)).toThrow(/cannot be/);
  });

  test("a callback that throws ends the SDK run and leaves no process", async () => {
    const broken = () => {
      throw new Error("mine");
    };
    let pid = 0;
    for (const callbacks of [{ onStart: broken }, { onStdout: broken }]) {
      const run = start(scripted([{ calls: [{ name: "Shell", args: { command: "sleep 60" } }] }], callbacks));
      expect(await run.result).toMatchObject({
        outcome: "error",
        error: { code: "CALLBACK_FAILED", cause: new Error("mine") },
      });
      expect((await all(run.events)).at(-1)).toMatchObject({ type: "fail" });
    }
    const options = { ...scripted(work), onStart: (facts: { pid: number }) => void (pid = facts.pid) };
    await expect(execute({ ...options, onStdout: broken })).rejects.toThrow("mine");
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test("budgets of the SDK limit replies, tokens and time", async () => {
    const endless = {
      calls: [{ name: "Read", args: { path: "a.txt" } }],
      usage: { inputTokens: 600, outputTokens: 10 },
    };
    const many = Array.from({ length: 30 }, () => endless);
    const turns = await start(scripted(many, { budget: { turns: 3 }, extraArgs: ["--max-turns", "99"] })).result;
    expect(turns).toMatchObject({ outcome: "error", error: { code: "MAX_TURNS" } });
    const sleepy = [{ calls: [{ name: "Shell", args: { command: "sleep 60" } }] }];
    const time = await start(scripted(sleepy, { budget: { timeMs: 900 } })).result;
    expect(time).toMatchObject({ outcome: "error", error: { code: "MAX_TIME" } });
    const run = start(scripted([{ text: "long" }], { budget: { tokens: 1 } }));
    // What is over is over: the limit counts for what would come next.
    expect(await run.result).toMatchObject({ outcome: "success" });
  });
});

describe("structured answers", () => {
  const schema = v.object({ verdict: v.picklist(["good", "bad"]), score: v.number() });

  test("the SDK takes a structured answer from the text after the last call, else from before it", async () => {
    const call = { calls: [{ name: "LS", args: {} }] };
    const draft = '{"verdict":"bad","score":1}';
    const last = start({
      ...scripted([{ text: draft, ...call }, { text: 'Now {"verdict":"good","score":9}.' }]),
      schema,
    });
    expect((await last.result) as object).toMatchObject({ data: { verdict: "good", score: 9 } });
    const before = start({ ...scripted([{ text: draft, ...call }, { text: "That was it." }]), schema });
    expect((await before.result) as object).toMatchObject({ data: { verdict: "bad", score: 1 } });
  });

  test("the SDK validates and types a structured answer", async () => {
    const run = start({ ...scripted([{ text: 'Here:\n```json\n{"verdict":"good","score":3}\n```' }]), schema });
    const result = await run.result;
    expect(result.outcome).toBe("success");
    if (result.outcome !== "success") return;
    const score: number = result.data.score;
    expect([score, result.data.verdict]).toEqual([3, "good"]);
  });

  test("when an answer does not fit the schema, the SDK asks once more in the same session", async () => {
    const server = await modelServer([{ text: '{"verdict":"good"}' }, { text: '{"verdict":"bad","score":1}' }]);
    const model = { model: "loopback", extraArgs: ["-e", `${server.url}/v1`] };
    // What the CLI checks itself is less than what the program wants.
    const jsonSchema = { type: "object", required: ["verdict"] };
    const run = start({ ...scripted([]), ...model, schema, jsonSchema });
    const events = await all(run.events);
    await server.stop();
    expect(await run.result).toMatchObject({ outcome: "success", data: { verdict: "bad", score: 1 }, turns: 2 });
    expect(events.filter(({ type }) => type === "done" || type === "fail")).toEqual([events.at(-1)]);
    const asked = events.flatMap((event) => (event.type === "user" ? [event.text] : []));
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain("could not be used: score");
    expect(events.some((event) => event.type === "notice" && event.kind === "repair")).toBe(true);
  });

  test("when no answer fits the schema, the SDK's result is an error", async () => {
    const given = { type: "object", required: ["a"], properties: { a: { type: "number" } } };
    const result = await start({ ...scripted([{ text: "no" }, { text: '{"a":"x"}' }]), schema: given }).result;
    expect(result).toMatchObject({ outcome: "error", error: { code: "OUTPUT_SCHEMA" } });
  });
});

describe("execute", () => {
  test("the SDK calls all callbacks in order", async () => {
    const heard: string[] = [];
    const messages: UnifiedMessage[] = [];
    const events: AgentEvent[] = [];
    let stdout = "";
    const result = await execute({
      ...scripted(work),
      tool: "cursor",
      onStart: ({ pid }) => void heard.push(pid > 0 ? "start" : "none"),
      onEvent: (event) => void events.push(event),
      onMessage: (message) => void messages.push(message),
      onToolUse: ({ name, input }) => void heard.push(`${name} ${(input as { path: string }).path}`),
      onStdout: (text) => void (stdout += text),
      onError: () => void heard.push("error"),
      onClose: (exitCode) => void heard.push(`close ${exitCode}`),
      onComplete: () => void heard.push("complete"),
    });
    expect(heard).toEqual(["start", `Read ${join(workspace.path, "a.txt")}`, "close 0", "complete"]);
    expect(result).toMatchObject({ success: true, outcome: "success", text: "I look. It says hello.", exitCode: 0 });
    expect(result.messages).toEqual(messages);
    expect(result.toolUses).toEqual([expect.objectContaining({ name: "Read" })]);
    expect(stdout.trim().split("\n").at(-1)).toContain('"type":"result"');
    expect(events.at(-1)!.type).toBe("done");
  });

  test("executeCursor resumes by sessionId, and executeCursorStreaming times tokens", async () => {
    const { prompt: _prompt, ...options } = scripted([{ text: "first" }]);
    const first = await executeCursor("hello", options);
    const tokens: [string, number][] = [];
    const second = await executeCursorStreaming("more", {
      ...options,
      sessionId: first.sessionId!,
      onToken: (token, timestamp) => void tokens.push([token, timestamp]),
    });
    expect(second.sessionId).toBe(first.sessionId);
    expect(tokens.map(([token]) => token).join("")).toBe(second.text);
    expect(tokens.every(([, timestamp]) => Math.abs(Date.now() - timestamp) < 60_000)).toBe(true);
  });

  test("an SDK run reports a failure in its result, and throws an exception of a callback", async () => {
    let told: unknown;
    const failed = await execute({ ...scripted([]), onError: (error) => void (told = error) });
    expect(failed).toMatchObject({ success: false, outcome: "error", data: undefined });
    expect(told).toBe(failed.error);
    const thrown = execute({
      ...scripted([{ calls: [{ name: "Shell", args: { command: "sleep 60" } }] }]),
      onToolUse() {
        throw new Error("mine");
      },
    });
    await expect(thrown).rejects.toThrow("mine");
  });
});
