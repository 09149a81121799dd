// canUseTool, hooks and in-process tools: functions of this program that a running CLI calls back to.
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { CallRequest, PermissionAnswer } from "../../src/sdk/callbacks/hook-callbacks.ts";
import { McpSession } from "../../src/sdk/callbacks/mcp-server.ts";
import { tool } from "../../src/sdk/callbacks/tool.ts";
import { type StartOptions, start } from "../../src/sdk/run.ts";
import { cli, createWorkspace, repository, runCli } from "../support/run-cli.ts";

const workspace = createWorkspace();
beforeEach(() => {
  for (const name of readdirSync(workspace.path)) rmSync(join(workspace.path, name), { recursive: true });
  for (const [name, text] of Object.entries({ "a.txt": "hello\n", "b.txt": "b\n", "c.txt": "c\n" }))
    workspace.file(name, text);
});
afterAll(() => workspace.remove());

type Call = { name: string; args: unknown };
let scripts = 0;
function playing(calls: readonly Call[], more: Partial<StartOptions>): StartOptions {
  const replies = [...calls.map((call) => ({ calls: [call] })), { text: "done" }];
  const file = workspace.file(join(workspace.home, `script-${scripts++}.json`), JSON.stringify(replies));
  return {
    prompt: "go",
    cwd: workspace.path,
    executable: cli,
    trust: true,
    model: `script:${file}`,
    env: { HOME: workspace.home, CURSOR_CONFIG_DIR: workspace.config },
    ...more,
  };
}

async function play(calls: readonly Call[], more: Partial<StartOptions>) {
  const run = start(playing(calls, more));
  const events: AgentEvent[] = [];
  for await (const event of run.events) events.push(event);
  const result = await run.result;
  const ends = events.flatMap((event) => (event.type === "tool_end" ? [event.outcome!] : []));
  return { result, ends };
}

describe("canUseTool", () => {
  test("the SDK calls canUseTool before every tool call, which can refuse, allow and change the input", async () => {
    const asked: CallRequest[] = [];
    const answers: Record<string, PermissionAnswer> = {
      "echo one": { allow: false, reason: "Not one." },
      "echo two": { allow: true, input: { command: "echo changed" } },
    };
    const calls = [
      { name: "Shell", args: { command: "echo one" } },
      { name: "Shell", args: { command: "echo two" } },
      { name: "Delete", args: { path: "b.txt" } },
      { name: "Read", args: { path: "a.txt" } },
    ];
    const { result, ends } = await play(calls, {
      canUseTool(call) {
        asked.push(call);
        return answers[String(call.input["command"])] ?? true;
      },
    });
    expect(result.outcome).toBe("success");
    expect(asked.map((call) => call.name)).toEqual(["Bash", "Bash", "Delete", "Read"]);
    expect(asked[0]).toMatchObject({ cliName: "Shell", sessionId: result.sessionId, cwd: workspace.path });
    expect(ends[0]).toMatchObject({ kind: "rejected", value: { reason: expect.stringContaining("Not one.") } });
    expect(ends[1]).toMatchObject({ kind: "success", value: { stdout: "changed\n" } });
    expect(ends[2]!.kind).toBe("success");
    expect(existsSync(join(workspace.path, "b.txt"))).toBe(false);
    expect(result.denials).toHaveLength(1);
    // Nothing of the user's was written for it.
    expect(existsSync(join(workspace.config, "hooks.json"))).toBe(false);
    expect(readdirSync(workspace.path).sort()).toEqual(["a.txt", "c.txt"]);
  });

  test("without canUseTool, tool calls that need permission are refused, and protected paths always are", async () => {
    const outside = { name: "Read", args: { path: "/etc/hostname" } };
    const { ends } = await play([outside], { hooks: { stop: () => undefined } });
    expect(ends[0]!.kind).toBe("rejected");
    const write = { name: "Write", args: { path: ".git/hooks/pre-commit", content: "x" } };
    const guarded = await play([write], { canUseTool: () => true });
    expect(guarded.ends[0]!.kind).toBe("rejected");
    expect(existsSync(join(workspace.path, ".git/hooks/pre-commit"))).toBe(false);
  });

  test("an exception or unclear answer of canUseTool means no", async () => {
    const calls = [{ name: "Delete", args: { path: "c.txt" } }];
    const thrown = await play(calls, {
      canUseTool() {
        throw new Error("no idea");
      },
    });
    expect(thrown.ends[0]).toMatchObject({ kind: "rejected", value: { reason: expect.stringContaining("no idea") } });
    expect(thrown.result.warnings).toEqual([expect.stringContaining("no idea")]);
    const vague = await play(calls, { canUseTool: () => ({ permission: "allow" }) as unknown as PermissionAnswer });
    expect(vague.ends[0]!.kind).toBe("rejected");
    expect(existsSync(join(workspace.path, "c.txt"))).toBe(true);
  });

  test("canUseTool may take long without causing a timeout", async () => {
    const { result } = await play([{ name: "Read", args: { path: "a.txt" } }], {
      idleMs: 3000,
      canUseTool: () => new Promise((resolve) => setTimeout(() => resolve(true), 4000)),
    });
    expect(result.outcome).toBe("success");
  });

  test("canUseTool with a CLI without hooks is an error", () => {
    for (const name of ["opencode", "pi"] as const) {
      expect(() => start({ tool: name, prompt: "go", canUseTool: () => true })).toThrow(/canUseTool cannot be used/);
    }
    expect(() => start({ tool: "claude", prompt: "go", hooks: { beforeReadFile: () => undefined } })).toThrow(
      /no hook for the event beforeReadFile/,
    );
  });

  test("a cancelled run does not wait for canUseTool", async () => {
    const run = start(
      playing([{ name: "Read", args: { path: "a.txt" } }], { canUseTool: () => new Promise(() => {}) }),
    );
    for await (const event of run.events) if (event.type === "tool_start") void run.cancel();
    expect((await run.result).outcome).toBe("cancelled");
  });
});

test("the SDK calls hook callbacks, and their answers take effect", async () => {
  const heard: string[] = [];
  const { result, ends } = await play(
    [
      { name: "Shell", args: { command: "echo secret" } },
      { name: "Read", args: { path: "a.txt" } },
    ],
    {
      permissionMode: "force",
      hooks: {
        sessionStart: () => ({ context: "The weather is fine." }),
        beforeShellExecution: ({ command }) =>
          String(command).includes("secret") ? { permission: "deny", reason: "Secrets stay." } : undefined,
        postToolUse: ({ tool_name: name }) => void heard.push(String(name)) as undefined,
        stop: ({ loop_count: count }) => (count === 0 ? { followup: "Are you sure?" } : undefined),
      },
    },
  );
  expect(ends[0]).toMatchObject({ kind: "rejected", value: { reason: expect.stringContaining("Secrets stay.") } });
  expect(heard).toEqual(["Read"]);
  // The script has no answer to the follow-up, which shows that it was asked.
  expect(result).toMatchObject({ outcome: "error", error: { message: expect.stringContaining("only 3 replies") } });
});

describe("an unknown CLI", () => {
  test("the SDK passes hooks and tools to an unknown CLI as a plugin", async () => {
    // As the original would be met: under its name, and with another answer to who it is.
    const shim = workspace.file(
      join(workspace.home, "cursor-agent"),
      `#!/bin/sh\nif [ "$1" = about ]; then echo '{"cliVersion":"2026.09.10"}'; exit; fi\nexec '${process.execPath}' '${cli}' "$@"\n`,
    );
    chmodSync(shim, 0o755);
    const double = tool({ name: "double", schema: v.object({ n: v.number() }), run: ({ n }) => n * 2 });
    const asked: string[] = [];
    const { ends } = await play(
      [
        { name: "plugin-courser-sdk-sdk-double", args: { n: 21 } },
        { name: "Shell", args: { command: "echo one" } },
        { name: "Shell", args: { command: "echo two" } },
      ],
      {
        executable: shim,
        permissionMode: "force",
        tools: [double],
        canUseTool(call) {
          asked.push(call.name);
          return call.input["command"] === "echo one" ? { allow: false, reason: "Not one." } : true;
        },
      },
    );
    expect(JSON.stringify(ends[0])).toContain("42");
    expect(ends[1]).toMatchObject({ kind: "rejected", value: { reason: expect.stringContaining("Not one.") } });
    expect(ends[2]).toMatchObject({ kind: "success", value: { stdout: "two\n" } });
    expect(asked).toContain("Bash");
  });
});

describe("in-process tools", () => {
  const add = tool({
    name: "add",
    description: "Adds two numbers",
    schema: v.object({ a: v.number(), b: v.number() }),
    run: ({ a, b }) => a + b,
  });

  test("in-process tools of the SDK get validated input, and their errors reach the model", async () => {
    const lookUp = tool({
      name: "look-up",
      schema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
      run() {
        throw new Error("There is no such key.");
      },
    });
    const { result, ends } = await play(
      [
        { name: "sdk-add", args: { a: 1, b: 2 } },
        { name: "sdk-add", args: { a: "x" } },
        { name: "sdk-look-up", args: { key: "k" } },
      ],
      { tools: [add, lookUp] },
    );
    expect(result.outcome).toBe("success");
    expect(ends.map(({ kind, value }) => [kind, (value as { isError: boolean }).isError])).toEqual([
      ["success", false],
      ["success", true],
      ["success", true],
    ]);
    expect(JSON.stringify(ends[0]!.value)).toContain("3");
    expect(JSON.stringify(ends[1]!.value)).toContain("does not fit");
    expect(JSON.stringify(ends[2]!.value)).toContain("There is no such key.");
  });

  test("in-process tools of the SDK need valid and unique names", () => {
    for (const tools of [[{ ...add, name: "a b" }], [add, add]])
      expect(() => start({ prompt: "go", tools })).toThrow(/tool name/);
  });

  test("in-process tools of the SDK are offered to the agent through MCP", async () => {
    const sent: any[] = [];
    let signal: AbortSignal | undefined;
    const slow = tool({
      name: "slow",
      schema: {},
      run: (_input, context) => {
        signal = context.signal;
        return new Promise((_resolve, reject) =>
          signal!.addEventListener("abort", () => reject(new Error("given up"))),
        );
      },
    });
    const picture = tool({
      name: "picture",
      schema: {},
      run: () => [{ type: "image", data: "AAAA", mimeType: "image/png" }],
    });
    const session = new McpSession([add, slow, picture], (message) => sent.push(message));
    session.take({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2024-11-05" } });
    session.take({ jsonrpc: "2.0", method: "notifications/initialized" });
    session.take({ jsonrpc: "2.0", id: "two", method: "ping" });
    session.take({ jsonrpc: "2.0", id: 3, method: "tools/list" });
    session.take({ jsonrpc: "2.0", id: 4, method: "resources/list" });
    expect(sent[0]).toMatchObject({ id: 1, result: { protocolVersion: "2024-11-05", capabilities: { tools: {} } } });
    expect(sent[1]).toEqual({ jsonrpc: "2.0", id: "two", result: {} });
    expect(sent[2].result.tools.map(({ name }: { name: string }) => name)).toEqual(["add", "slow", "picture"]);
    expect(sent[2].result.tools[0].inputSchema).toMatchObject({ type: "object" });
    expect(sent[3]).toMatchObject({ id: 4, error: { code: -32601 } });
    session.take({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "none" } });
    session.take({ jsonrpc: "2.0", id: 6, method: "tools/call", params: { name: "picture" } });
    session.take({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "slow" } });
    for (const nonsense of [null, 1, [], { id: 8 }, { method: 5, id: 9 }]) session.take(nonsense);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(session.isBusy).toBe(true);
    session.take({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sent.slice(4)).toMatchObject([
      { id: 5, error: { code: -32602 } },
      { id: 6, result: { content: [{ type: "image" }] } },
      { id: 7, result: { isError: true, content: [{ text: "given up" }] } },
    ]);
    expect(signal!.aborted).toBe(true);
  });
});

describe("flags for callbacks", () => {
  test("a hook of the SDK that cannot reach its program refuses the call", async () => {
    const relay = join(repository, "dist/sdk-relay.cjs");
    const run = await runCli(["hook", join(workspace.home, "no-socket")], {
      name: relay,
      env: workspace.env,
      stdin: "{}",
    });
    expect(run).toMatchObject({ exit: 2, stdout: "", stderr: expect.stringContaining("cannot be reached") });
  });

  test("--hooks takes JSON or a file, and invalid input stops the run", async () => {
    const hooks = { version: 1, hooks: { preToolUse: [{ command: "echo no >&2; exit 2" }] } };
    const file = workspace.file(join(workspace.home, "given.json"), JSON.stringify(hooks));
    const script = [{ calls: [{ name: "Read", args: { path: "a.txt" } }] }, { text: "x" }];
    for (const given of [file, JSON.stringify(hooks)]) {
      const run = await workspace.play(script, ["--hooks", given]);
      expect(run.lines().at(-1)!["permission_denials"]).toHaveLength(1);
    }
    for (const wrong of ["{nonsense", join(workspace.home, "none.json"), '{"hooks":[]}']) {
      const run = await workspace.play(script, ["--hooks", wrong]);
      expect(run.exit, wrong).toBe(1);
      expect(run.lines().at(-1)!["error_code"]).toMatch(/^(CONFIG_INVALID|FILE_UNREADABLE)$/);
    }
  });

  test("--ask-command allows only with a clear yes", async () => {
    const script = [{ calls: [{ name: "Delete", args: { path: "c.txt" } }] }, { text: "x" }];
    const ask = (command: string) => {
      const model = workspace.file(join(workspace.home, "ask.json"), JSON.stringify(script));
      const args = ["-p", "--trust", "--output-format", "stream-json", "--model", `script:${model}`];
      return workspace.run([...args, "--ask-command", command, "go"]);
    };
    for (const no of ["true", "echo yes", "echo '{}'", `echo '{"allow":"true"}'`, `echo '{"allow":true}'; exit 1`]) {
      expect((await ask(no)).lines().at(-1)!["permission_denials"], no).toHaveLength(1);
    }
    const yes = await ask(`cat > "${join(workspace.home, "question.json")}"; echo '{"allow":true}'`);
    expect(yes.lines().at(-1)!["permission_denials"]).toBeUndefined();
    expect(existsSync(join(workspace.path, "c.txt"))).toBe(false);
    expect(JSON.parse(readFileSync(join(workspace.home, "question.json"), "utf8"))).toMatchObject({
      tool_name: "Delete",
      tool_input: { path: join(workspace.path, "c.txt") },
      reasons: [expect.any(String)],
    });
  });
});
