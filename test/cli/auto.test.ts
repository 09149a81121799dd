// `courser auto`: one turn of JSON in, the contract out, whatever happens.
import { spawnSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { type CliOptions, cli, createWorkspace } from "../support/run-cli.ts";

const workspace = createWorkspace();
afterAll(() => workspace.remove());

const minimal = '{"type":"turn","turnId":"t1","messages":[{"role":"user","content":"hi"}],"tools":[]}';
const turnOf = (content: string, more: object = {}) =>
  JSON.stringify({ type: "turn", turnId: "t1", messages: [{ role: "user", content }], tools: [], ...more });

async function auto(stdin: string, args: readonly string[] = ["--stream-json"], options: CliOptions = {}) {
  const run = await workspace.run(["auto", ...args], { stdin, ...options });
  const [first, ...events] = run.lines();
  expect(first).toEqual({ type: "protocol", data: { version: "1.0" } });
  const ends = events.filter(({ type }) => type === "done" || type === "error");
  expect(ends, "one end, at the end").toEqual([events.at(-1)]);
  return { ...run, events, last: events.at(-1)!, text: textOf(events) };
}

function textOf(events: readonly Record<string, any>[]): string {
  return events.map(({ type, data }) => (type === "assistant_delta" ? data.content : "")).join("");
}

const scripted = (replies: unknown) => ["--model", `script:${workspace.file("script.json", JSON.stringify(replies))}`];

describe("turns of auto", () => {
  test("the auto command reads a turn in the contract's format, with or without a final newline", async () => {
    for (const stdin of [
      minimal,
      `${minimal}\n`,
      `\ufeff${minimal}\r\n`,
      JSON.stringify(JSON.parse(minimal), null, 2),
    ]) {
      const { exit, events, text } = await auto(stdin);
      expect(exit).toBe(0);
      expect(text).toContain("Hello");
      expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["assistant_delta", "usage", "done"]));
    }
  });

  test("the auto command prints text, calls of the given tools, usage and done, and nothing else", async () => {
    const tools = [{ name: "exec", schema: { type: "object" } }];
    const replies = [{ thinking: "hm", text: ["a", "b"], calls: [{ name: "exec", args: { command: "pwd" } }] }];
    const { events, exit } = await auto(turnOf("go", { tools }), scripted(replies));
    expect(exit).toBe(0);
    expect(events).toEqual([
      { type: "assistant_delta", data: { content: "a" } },
      { type: "assistant_delta", data: { content: "b" } },
      { type: "tool_call", data: { name: "exec", args: { command: "pwd" } } },
      { type: "usage", data: { promptTokens: expect.any(Number), completionTokens: expect.any(Number) } },
      { type: "done", data: { finishReason: "tool_calls" } },
    ]);
  });

  test("the auto command does not wait for the end of stdin", async () => {
    const { exit, text } = await auto("open", [], {
      stdin: "open",
      onStart: (child) => child.stdin!.write(`${turnOf("what is 2+2?")}\n`),
    });
    expect({ exit, text }).toEqual({ exit: 0, text: "2 + 2 = 4" });
  });

  test("the auto command accepts messages of every shape, and tool results without calls", async () => {
    const messages = [
      { role: "system", content: "be brief" },
      { role: "user", content: [{ type: "text", text: "one" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "exec", arguments: '{"command":"ls"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "first result" },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "c1", name: "exec", args: {} },
          { id: "c2", name: "exec", args: {} },
        ],
      },
      { role: "tool", name: "exec", tool_call_id: "c1", content: "second result" },
      { role: "user", content: "and now?" },
      { role: "tool", name: "web", content: "an orphan" },
    ];
    await using server = await modelServer(() => ({ text: "ok" }));
    const { last } = await auto(JSON.stringify({ type: "turn", messages }), ["-e", `${server.url}/v1`, "--model", "m"]);
    expect(last, JSON.stringify(last)).toMatchObject({ type: "done" });
    const sent = server.requests.find(({ method }) => method === "POST")!.json.messages;
    expect(sent[0]).toMatchObject({ role: "system", content: "be brief" });
    const calls = sent.flatMap((message: any) => message.tool_calls?.map((call: any) => call.id) ?? []);
    const results = sent
      .filter(({ role }: any) => role === "tool")
      .map((message: any) => [message.tool_call_id, message.content]);
    expect(new Set(calls).size).toBe(3);
    expect(results).toEqual([
      [calls[0], "first result"],
      [calls[1], "second result"],
      [calls[2], expect.stringContaining("No result")],
    ]);
    expect(JSON.stringify(sent.at(-1))).toContain("an orphan");
  });
});

describe("auto by hand", () => {
  test("piping the documented sample turn into the auto command works, also as agent.cmd", async () => {
    const bin = workspace.file("bin/agent", "");
    rmSync(bin);
    for (const name of ["agent", "agent.cmd"]) symlinkSync(cli, join(workspace.path, "bin", name));
    workspace.file("turn.json", minimal);
    const env = { ...workspace.env, PATH: `${join(workspace.path, "bin")}:${workspace.env["PATH"]}` };
    const lines = [
      `echo '${minimal}' | agent.cmd auto --stream-json`,
      `echo '${minimal}' | agent auto --stream-json`,
      "cat turn.json | agent.cmd auto --stream-json",
      'agent.cmd -p --force --output-format stream-json --stream-partial-output "hello"',
    ];
    for (const line of lines) {
      const run = spawnSync("bash", ["-o", "pipefail", "-c", line], { cwd: workspace.path, env, encoding: "utf8" });
      expect(run.status, run.stderr).toBe(0);
      const types = run.stdout
        .trim()
        .split("\n")
        .map((each) => (JSON.parse(each) as { type: string }).type);
      expect(["done", "result"], line).toContain(types.at(-1));
    }
  });

  test("the auto command says on a terminal what input it waits for", () => {
    const quoted = `'${process.execPath}' '${cli}' auto --stream-json`;
    const run = spawnSync("script", ["-qefc", quoted, "/dev/null"], {
      cwd: workspace.path,
      env: workspace.env,
      input: `${minimal}\n`,
      encoding: "utf8",
      timeout: 15_000,
    });
    expect(run.stdout).toContain("Waiting for one line of turn JSON on stdin.");
    expect(run.stdout).toContain('"finishReason":"stop"');
  });
});

describe("models that fail in auto", () => {
  const tools = [
    { name: "note", schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } },
  ];

  test("in the auto command, a model that sends an invalid tool call is told why and may correct it", async () => {
    const replies = [
      {
        calls: [
          { name: "nope", args: {} },
          { name: "note", args: { text: "fine" } },
        ],
      },
      { expect: ["no tool named", "Not run"], calls: [{ name: "note", args: "{broken" }] },
      { expect: ["must be an object"], calls: [{ name: "note", args: { text: "a" } }] },
    ];
    const { events, exit } = await auto(turnOf("go", { tools }), scripted(replies));
    expect(exit).toBe(0);
    expect(events.filter(({ type }) => type === "tool_call").map(({ data }) => data)).toEqual([
      { name: "note", args: { text: "a" } },
    ]);
  });

  test("the auto command ends with an error when the model keeps sending invalid tool calls", async () => {
    const { last, exit, events } = await auto(
      turnOf("go", { tools }),
      scripted({ replies: [{ calls: [{ name: "nope", args: {} }] }], loop: true }),
    );
    expect({ last, exit }).toMatchObject({ exit: 1, last: { type: "error", data: { code: "TOOL_UNKNOWN" } } });
    expect(events.filter(({ type }) => type === "tool_call")).toEqual([]);
  });

  test("the auto command prints a model's failure with its code, on stderr too, without keys", async () => {
    const key = `sk-ant-api03-${"Q7w3E9r1T5y8U2i6O0p4".repeat(4)}`;
    const error = { code: "MODEL_AUTH_ERROR", message: `token expired: ${key}` };
    const { last, exit, stderr, stdout } = await auto(turnOf("go"), scripted([{ text: "so ", error }]));
    expect(exit).toBe(1);
    expect(last).toMatchObject({
      type: "error",
      data: { code: "MODEL_AUTH_ERROR", message: expect.stringContaining("token expired") },
    });
    expect(stderr).toContain("[MODEL_AUTH_ERROR]");
    expect(stdout + stderr).not.toContain(key);
  });

  test("the auto command prints a reply once even if the server restarts it", async () => {
    const begun = { choices: [{ index: 0, delta: { role: "assistant", content: "Hello" } }] };
    const server = await modelServer([
      { chunks: [`data: ${JSON.stringify(begun)}\n\n`], ending: "reset" },
      { text: ["Hel", "lo wor", "ld"] },
    ]);
    try {
      const { text, last } = await auto(turnOf("go"), ["-e", `${server.url}/v1`, "--model", "m"]);
      expect(last.type, JSON.stringify(last)).toBe("done");
      expect(text).toBe("Hello world");
    } finally {
      await server.stop();
    }
  });

  test("the auto command reports an unknown model, and a task that only a real model could do", async () => {
    expect((await auto(turnOf("hi"), ["--model", "nope"])).last).toMatchObject({ data: { code: "MODEL_UNKNOWN" } });
    expect((await auto(turnOf("write me an opera in three acts"))).last).toMatchObject({
      data: { code: "OFFLINE_LIMIT" },
    });
  });
});

describe("invalid turns", () => {
  test.each([
    ["", "no turn on stdin"],
    ["\n\n", "no turn on stdin"],
    ["hello\n", "is not JSON"],
    ['{"type":"turn","messages"', "is not JSON"],
    ['{"type":"cancel"}\n', 'an object with "type": "turn"'],
    ['{"type":"turn","messages":[]}', "at least one message"],
  ])("the auto command refuses the invalid turn %j", async (stdin, message) => {
    const { last, exit, stderr } = await auto(stdin);
    expect(exit).toBe(2);
    expect(last).toMatchObject({ type: "error", data: { code: "USAGE", message: expect.stringContaining(message) } });
    expect(last["data"].message).toContain("For example: echo");
    expect(stderr).toContain("[USAGE]");
  });
});

describe("stopping auto", () => {
  const waiting = () => scripted([{ steps: [{ text: "so " }, { delayMs: 20_000 }, { text: "late" }] }]);
  const whenItSpeaks = (act: (child: import("node:child_process").ChildProcess) => void): CliOptions => ({
    stdin: "open",
    onStart(child) {
      child.stdin!.write(`${turnOf("go")}\n`);
      child.stdout!.once("data", () => setTimeout(() => act(child), 300));
    },
  });

  test("the auto command stops when a cancel line arrives on stdin", async () => {
    const { last, exit, ms } = await auto(
      "open",
      waiting(),
      whenItSpeaks((child) => child.stdin!.write('{"type":"cancel","turnId":"t1"}\n')),
    );
    expect({ last, exit }).toMatchObject({ exit: 130, last: { type: "error", data: { code: "INTERRUPTED" } } });
    expect(ms).toBeLessThan(8000);
  });

  test("the auto command stops when a cancel line arrives together with the turn", async () => {
    const { last } = await auto(`${turnOf("go")}\n{"type":"cancel"}\n`, waiting());
    expect(last).toMatchObject({ type: "error", data: { code: "INTERRUPTED" } });
  });

  test("the auto command ends when it receives SIGTERM", async () => {
    const { last, exit } = await auto(
      "open",
      waiting(),
      whenItSpeaks((child) => child.kill("SIGTERM")),
    );
    expect({ last, exit }).toMatchObject({ exit: 143, last: { type: "error", data: { code: "TERMINATED" } } });
  });

  test("the auto command ends without an error when its reader closes the pipe", async () => {
    const talking = { steps: Array.from({ length: 40 }, () => [{ text: "so " }, { delayMs: 200 }]).flat() };
    const leaving = whenItSpeaks((child) => child.stdout!.destroy());
    const run = await workspace.run(["auto", ...scripted([talking])], leaving);
    expect({ exit: run.exit, stderr: run.stderr }).toEqual({ exit: 141, stderr: "" });
    expect(run.ms).toBeLessThan(5000);
  });
});
