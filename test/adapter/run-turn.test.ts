// The runtime end to end: our own CLI in both styles, with the scripted model, the offline model and a model server.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { CursorAgentModelAdapter } from "../../src/adapter/adapter.ts";
import type { AdapterModel } from "../../src/adapter/config.ts";
import { type RuntimeEvent, runTurn } from "../../src/adapter/run-turn.ts";
import { createExecTool } from "../../src/adapter/tools/exec.ts";
import { type AdapterTool, createToolRouter } from "../../src/adapter/tools/router.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { cli, createWorkspace } from "../support/run-cli.ts";
import { adapterOf, hello, model, note, textOf } from "./support.ts";

const workspace = createWorkspace();
afterAll(() => workspace.remove());
const { path: cwd, home, config } = workspace;
const user = (content: string) => [{ role: "user", content }];

/** Our CLI as a model, in its own home. */
function courser(args: readonly string[], more: Partial<AdapterModel> = {}): CursorAgentModelAdapter {
  const entry = { provider: "cursor-agent-cli", command: cli, args, authProfiles: ["test"], ...more };
  const env = { HOME: home, CURSOR_CONFIG_DIR: config, XDG_CONFIG_HOME: null };
  return new CursorAgentModelAdapter({ models: { ours: entry }, profiles: { test: { env } } }, { cwd });
}

function script(replies: readonly object[]): string {
  return `script:${workspace.file(`${Math.random().toString(36).slice(2)}.json`, JSON.stringify(replies))}`;
}

function noting(): { notes: unknown[]; tool: AdapterTool } {
  const notes: unknown[] = [];
  const run = async (args: { text: string }) => {
    notes.push(args);
    return `noted ${args.text}`;
  };
  return { notes, tool: { ...note, run } };
}

async function play(adapter: CursorAgentModelAdapter, content: string, tools: readonly AdapterTool[] = []) {
  const session = await adapter.createSession();
  const turn = runTurn(adapter, session, { messages: user(content), tools: createToolRouter(tools) });
  const events: RuntimeEvent[] = [];
  for await (const event of turn) events.push(event);
  return { turn, events, types: events.map(({ type }) => type), last: events.at(-1)!, text: textOf(events) };
}

describe("our CLI with the prompt as an argument", () => {
  const args = ["-p", "--output-format", "stream-json", "--stream-partial-output"];

  test("runTurn delivers text once despite deltas and flushes, and skips tools that the CLI ran itself", async () => {
    const replies = [
      { text: ["Let me ", "look."], calls: [{ name: "Shell", args: { command: "echo hi > made.txt; cat made.txt" } }] },
      { text: ["It says ", "hi."] },
    ];
    const adapter = courser([...args, "--model", script(replies)], { promptAsArg: true });
    const { text, types, turn, last } = await play(adapter, "look");
    expect(text).toBe("Let me look.It says hi.");
    expect(new Set(types)).toEqual(new Set(["assistant_delta", "usage", "done"]));
    expect(last).toEqual({ type: "done", data: { finishReason: "stop" } });
    expect(turn.attempts).toMatchObject([{ via: "argument", ownTools: ["shell"], exitCode: 0, stages: [] }]);
  });

  test("runTurn gives the same answer for a long prompt, which goes through stdin", async () => {
    const prompt = `${"x ".repeat(60_000)}end`;
    const adapter = courser([...args, "--model", script([{ expect: ["x x end"], text: "ok" }])], { promptAsArg: true });
    const { text, turn } = await play(adapter, prompt);
    expect(text).toBe("ok");
    expect(turn.attempts[0]!.via).toBe("stdin");
  });

  test("runTurn reports failures with their error codes", async () => {
    const failing = script([{ error: { code: "MODEL_AUTH_ERROR", message: "token expired" } }]);
    const { last } = await play(courser([...args, "--model", failing], { promptAsArg: true }), "hi");
    expect(last).toMatchObject({
      type: "error",
      data: { code: "MODEL_AUTH_ERROR", message: expect.stringContaining("token expired") },
    });
  });
});

describe("our CLI with turn JSON on stdin", () => {
  test("runTurn executes tool calls and sends their results with the next turn until the model is done", async () => {
    const { notes, tool } = noting();
    const replies = [
      {
        text: "First. ",
        calls: [
          { name: "note", args: { text: "a" } },
          { name: "note", args: { text: "b" } },
        ],
      },
      { expect: ["noted a", "noted b"], calls: [{ name: "note", args: { text: "c" } }] },
      { expect: ["noted c"], text: ["All ", "noted."] },
    ];
    const { turn, types, text, last } = await play(
      courser(["auto", "--stream-json", "--model", script(replies)]),
      "note it",
      [tool],
    );
    expect(last, JSON.stringify(last)).toEqual({ type: "done", data: { finishReason: "stop" } });
    expect(notes).toEqual([{ text: "a" }, { text: "b" }, { text: "c" }]);
    expect(text).toBe("First. All noted.");
    expect(types.filter((type) => type !== "usage")).toEqual([
      "assistant_delta",
      "tool_call",
      "tool_result",
      "tool_call",
      "tool_result",
      "tool_call",
      "tool_result",
      "assistant_delta",
      "assistant_delta",
      "done",
    ]);
    expect(turn.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(turn.messages[2]).toEqual({ role: "tool", name: "note", tool_call_id: "call_1_1", content: "noted a" });
    expect(turn.attempts).toHaveLength(3);
  });

  test("the adapter's offline model calls exec when asked to run something", async () => {
    const tools = [createExecTool({ workspace: cwd, home, allow: ["Shell(echo)"] })];
    const { text, turn } = await play(courser(["auto"]), "run echo hello", tools);
    expect(turn.messages[1]).toMatchObject({ tool_calls: [{ name: "exec", args: { command: "echo hello" } }] });
    expect(text).toContain("hello");
    const named = await play(courser(["auto"]), 'call the tool exec with {"command": "echo hello again"}', tools);
    expect(named.turn.messages[1]).toMatchObject({ tool_calls: [{ name: "exec" }] });
    expect(named.text).toContain("hello again");
  });

  test("runTurn sends tools and results to a model server in the server's own wire format", async () => {
    const server = await modelServer((request) =>
      request.json.messages.some((message: { role: string }) => message.role === "tool")
        ? { text: "It was noted." }
        : { toolCalls: [{ name: "note", args: { text: "x" } }] },
    );
    try {
      const { notes, tool } = noting();
      const adapter = courser(["auto", "-e", `${server.url}/v1`, "--model", "any"]);
      const { text, last } = await play(adapter, "note x", [tool]);
      expect(last, JSON.stringify(last)).toMatchObject({ type: "done" });
      expect(text).toBe("It was noted.");
      expect(notes).toEqual([{ text: "x" }]);
      const posts = server.requests.filter(({ method }) => method === "POST");
      expect(posts).toHaveLength(2);
      expect(posts[0]!.json.tools).toMatchObject([{ function: { name: "note" } }]);
      expect(posts[1]!.json.messages.at(-1)).toMatchObject({ role: "tool", content: "noted x" });
    } finally {
      await server.stop();
    }
  });
});

test("when the user allows a command while the turn is being stopped, it does not run", async () => {
  const abort = new AbortController();
  const ask = async () => {
    abort.abort();
    return true;
  };
  const router = createToolRouter([createExecTool({ workspace: cwd, home, configDir: config, ask })]);
  const call = () => router.call("exec", { command: "touch made-late" }, { signal: abort.signal });
  const stopped = { content: "Not run: the turn was stopped.", isError: true };
  expect([await call(), await call()]).toEqual([stopped, stopped]);
  expect(existsSync(join(cwd, "made-late"))).toBe(false);
});

describe("runTurn", () => {
  test("runTurn's result sums the usage of all steps and contains every event", async () => {
    const adapter = adapterOf({ a: model("stream") });
    const result = await runTurn(adapter, await adapter.createSession(), { messages: hello }).result();
    expect(result).toMatchObject({
      text: "Hello world",
      finishReason: "stop",
      usage: { promptTokens: 6, completionTokens: 2 },
      messages: [...hello, { role: "assistant", content: "Hello world" }],
      attempts: [{ outcome: "ok" }],
    });
    expect(result.error).toBeUndefined();
  });

  test("the text of runTurn over several segments equals the result of the stream", async () => {
    for (const [scenario, text] of [
      ["segments", "haha!"],
      ["flushes", "one two"],
      ["only-result", "Hello world"],
    ] as const) {
      const adapter = adapterOf({ a: model(scenario) });
      expect((await play(adapter, "go")).text).toBe(text);
    }
  });

  test("runTurn does not execute tool calls of a failed attempt", async () => {
    const { notes, tool } = noting();
    const adapter = adapterOf(
      { a: model("crash", { authProfiles: ["p"] }) },
      { profiles: { p: { env: { MOMENT: "call" } } } },
    );
    const { last } = await play(adapter, "go", [tool]);
    expect(last).toMatchObject({ type: "error", data: { code: "CLI_EXIT" } });
    expect(notes).toEqual([]);
  });

  test("runTurn stops a model that never stops calling tools", async () => {
    const line = (value: object) => `echo '${JSON.stringify(value)}'`;
    const again = `${line({ type: "tool_call", data: { name: "note", args: { text: "a" } } })}; ${line({ type: "done", data: { finishReason: "stop" } })}`;
    const { notes, tool } = noting();
    const adapter = adapterOf({ a: model("", { command: "bash", args: ["-c", again] }) });
    const turn = runTurn(adapter, await adapter.createSession(), {
      messages: hello,
      tools: createToolRouter([tool]),
      maxSteps: 3,
    });
    expect((await turn.result()).error).toMatchObject({ code: "MAX_TURNS" });
    expect(notes).toHaveLength(3);
    const loop = runTurn(adapter, await adapter.createSession(), { messages: hello, tools: createToolRouter([tool]) });
    expect((await loop.result()).error).toMatchObject({ code: "LOOP_DETECTED" });
    expect(notes).toHaveLength(3 + 5);
  });

  test("for a CLI that takes only a prompt, runTurn sends a tool's result by asking again with it below the prompt", async () => {
    const { notes, tool } = noting();
    const nested = { type: "tool_call", tool_call: { name: "note", arguments: '{"text":"n"}' } };
    const done = `echo '${JSON.stringify({ type: "done", data: { finishReason: "stop" } })}'`;
    const clever = `case $3 in *'noted n'*) printf '{"type":"assistant_delta","data":{"content":"seen"}}\\n';; *) echo '${JSON.stringify(nested)}';; esac; ${done}`;
    const adapter = adapterOf({ a: model("", { command: "bash", args: ["-c", clever, "cli"], promptAsArg: true }) });
    const { text, turn } = await play(adapter, "note n", [tool]);
    expect(notes).toEqual([{ text: "n" }]);
    expect(text).toBe("seen");
    expect(turn.attempts).toHaveLength(2);
  });

  test("cancelling runTurn while a tool runs ends the turn there", async () => {
    const abort = new AbortController();
    const slow: AdapterTool = {
      ...note,
      run: (_args, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve("stopped"));
          abort.abort();
        }),
    };
    const replies = [{ calls: [{ name: "note", args: { text: "a" } }] }, { text: "never" }];
    const adapter = courser(["auto", "--model", script(replies)]);
    const turn = runTurn(adapter, await adapter.createSession(), {
      messages: hello,
      tools: createToolRouter([slow]),
      signal: abort.signal,
    });
    const { error, text } = await turn.result();
    expect(error).toMatchObject({ code: "INTERRUPTED" });
    expect(text).toBe("");
  });
});

test("closing an adapter session while a tool runs ends the turn without throwing", async () => {
  const line = (value: object) => `echo '${JSON.stringify(value)}'`;
  const call = `${line({ type: "tool_call", data: { name: "note", args: { text: "a" } } })}; ${line({ type: "done", data: { finishReason: "stop" } })}`;
  const adapter = adapterOf({ a: model("", { command: "bash", args: ["-c", call] }) });
  const session = await adapter.createSession();
  const closing: AdapterTool = { ...note, run: async () => (await adapter.close(session)) ?? "closed" };
  const { error } = await runTurn(adapter, session, { messages: hello, tools: createToolRouter([closing]) }).result();
  expect(error).toMatchObject({ code: "INTERRUPTED", message: expect.stringContaining("after 1 step") });
});

test("runTurn of the built package behaves like that of the source", async () => {
  const built = (await import(join(cli, "../lib/adapter.js"))) as typeof import("../../src/adapter/index.ts");
  const adapter = new built.CursorAgentModelAdapter({ models: { a: model("answer") } });
  const { text } = await built.runTurn(adapter, await adapter.createSession(), { messages: hello }).result();
  expect(text).toBe("Hello world");
});

test("runTurn called with a list or without a prompt explains how to call it", async () => {
  const adapter = courser(["auto"]);
  const session = await adapter.createSession();
  expect(() => runTurn(adapter, session, user("hi") as never)).toThrow(
    "runTurn takes an object: runTurn(adapter, session, { messages: […] }), not a list.",
  );
  expect(() => runTurn(adapter, session, {} as never)).toThrow("runTurn needs messages");
});
