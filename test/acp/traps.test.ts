// What editors were reported to trip over with other agents, one trap a part: each is a test here.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aliveWith, uniqueSleep, until } from "../agent/process-support.ts";
import { sandboxMissing } from "../agent/sandbox-fixture.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";
import { AcpClient, type ClientOptions, choose, type Params } from "./acp-client.ts";

let workspace: Workspace;
let client: AcpClient;
const start = async (options: ClientOptions = {}) => {
  client = await AcpClient.start(workspace, options);
  return client;
};

beforeEach(() => {
  workspace = createWorkspace({ "a.txt": "Hello\n" });
});
afterEach(async () => {
  await client.leave();
  expect(client.check.faults).toEqual([]);
  workspace.remove();
});

const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });
const never = () => new Promise(() => {});

describe("1. permission requests contain the command", () => {
  it("an ACP permission request shows the command in title, input and text, and the rule that would allow it", async () => {
    await start({ script: [shell("npm test -- --all"), { text: "ok" }], handlers: choose("allow_once") });
    await client.prompt(await client.newSession(), "go");
    const [{ toolCall, options }] = client.asked("session/request_permission") as [Params];
    expect(toolCall).toMatchObject({
      title: "npm test -- --all",
      kind: "execute",
      status: "pending",
      rawInput: { command: "npm test -- --all" },
    });
    expect(toolCall.content[0].content.text).toContain("npm test -- --all");
    expect(options.map(({ optionId, kind }: Params) => [optionId, kind])).toEqual([
      ["allow-once", "allow_once"],
      ["allow-session", "allow_always"],
      ["allow-always", "allow_always"],
      ["allow-sandbox", "allow_always"],
      ["reject-once", "reject_once"],
    ]);
    expect(options[2].name).toContain("Shell(npm test -- --all)");
    // The call was told before it was asked about, and by the same id.
    const place = (is: (message: Params) => boolean) => client.received.findIndex(is);
    const told = place(({ params }) => params?.update?.sessionUpdate === "tool_call");
    expect(told).toBeGreaterThan(-1);
    expect(told).toBeLessThan(place(({ method }) => method === "session/request_permission"));
    expect(client.received[told]!["params"].update.toolCallId).toBe(toolCall.toolCallId);
  });

  it('"allow for this session" and "always allow" last as long as they say', async () => {
    const script = { replies: [shell("touch one"), { text: "ok" }], loop: true };
    await start({ script, handlers: choose("allow-session") });
    const one = await client.newSession();
    await client.prompt(one, "a");
    await client.prompt(one, "b");
    expect(client.asked("session/request_permission")).toHaveLength(1);
    await client.leave();
    await start({ script, handlers: choose("allow-always") });
    await client.prompt(await client.newSession(), "c");
    expect(client.asked("session/request_permission")).toHaveLength(1);
    await client.prompt(await client.newSession(), "d");
    expect(client.asked("session/request_permission")).toHaveLength(1);
    const { permissions } = JSON.parse(readFileSync(join(workspace.config, "cli-config.json"), "utf8"));
    expect(permissions.allow).toEqual(["Shell(touch one)"]);
  });
});

describe.skipIf(sandboxMissing())("commands in the sandbox", () => {
  it("after the client chose to run commands in the sandbox, no session of the project asks about them", async () => {
    const script = { replies: [shell("touch one; curl --version"), shell("touch two"), { text: "ok" }], loop: true };
    await start({ script, handlers: choose("allow-sandbox") });
    await client.prompt(await client.newSession(), "a");
    // What is meant to leave the sandbox cannot be chosen for it.
    expect(client.asked("session/request_permission")).toHaveLength(2);
    expect(existsSync(join(workspace.path, "one"))).toBe(false);
    expect(existsSync(join(workspace.path, "two"))).toBe(true);
    await client.prompt(await client.newSession(), "b");
    expect(client.asked("session/request_permission")).toHaveLength(3);
  });
});

describe("2. session/new is answered immediately", () => {
  it("ACP session/new is answered before any update, and without a question in an untrusted folder", async () => {
    workspace.file(".cursor/commands/tidy.md", "Tidy up.\n");
    await start({ script: [{ text: "ok" }] });
    const sessionId = await client.newSession();
    const { params } = await client.untilUpdate("available_commands_update");
    const answer = client.received.findIndex(({ result }) => result?.sessionId === sessionId);
    expect(client.received.findIndex(({ method }) => method === "session/update")).toBeGreaterThan(answer);
    expect(params.update.availableCommands.map(({ name }: Params) => name)).toEqual(
      expect.arrayContaining(["compact", "tidy"]),
    );
  });
});

describe("3. MCP servers", () => {
  const server = {
    name: "notes",
    command: process.execPath,
    args: [join(repository, "test/support/mcp-server.mjs")],
    env: [{ name: "MARK", value: "of the client" }],
  };

  it("an ACP session starts although MCP servers are missing, and starts the client's own without a question", async () => {
    const calls = [{ name: "notes-env", args: {} }];
    await start({ script: { replies: [{ calls }, { text: "ok" }], loop: true }, handlers: choose("allow_once") });
    expect((await client.request("session/new", { cwd: workspace.path })).result.sessionId).toBeTypeOf("string");
    const sessionId = await client.newSession({ mcpServers: [server] });
    expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
    const asked = client.asked("session/request_permission");
    expect(asked.map(({ toolCall }) => toolCall.kind)).toEqual(["other"]); // the call, not the server
    const end = client.updates(sessionId).find(({ status }) => status === "completed");
    expect(JSON.stringify(end)).toContain("of the client");
  });
});

describe("4. session/load and session/resume return modes and options", () => {
  it("ACP session/load and session/resume return the chat's id, mode and options as they were left", async () => {
    await start({ script: [{ text: "ok" }] });
    const sessionId = await client.newSession();
    await client.request("session/set_mode", { sessionId, modeId: "plan" });
    await client.prompt(sessionId, "go");
    await client.leave();
    await start({ script: [{ text: "ok" }] });
    for (const method of ["session/load", "session/resume"]) {
      const { result } = await client.request(method, { sessionId, cwd: workspace.path, mcpServers: [] });
      expect(result.sessionId).toBe(sessionId);
      expect(result.modes.currentModeId).toBe("plan");
      expect(result.configOptions.map(({ id, currentValue }: Params) => [id, currentValue])).toEqual([
        ["mode", "plan"],
        ["model", expect.stringMatching(/^script:/)],
        ["effort", "default"],
      ]);
    }
  });
});

describe("5. endings", () => {
  it("when stdin ends, the ACP server ends with its running command, even during an open question", async () => {
    const sleep = uniqueSleep();
    await start({ script: [shell(`sleep ${sleep}; touch late.txt`), { text: "ok" }], handlers: choose("allow_once") });
    void client.prompt(await client.newSession(), "go").catch(() => {});
    await client.until(({ params }) => params?.update?.status === "in_progress" && params.update.title === undefined);
    const command = () => aliveWith(sleep).length > 0;
    expect(await until(command)).toBe(true);
    const { code, signal } = await client.leave();
    expect([code, signal]).toEqual([0, null]);
    expect(await until(() => !command())).toBe(true);
    const other = await start({ script: [shell("touch made.txt")], handlers: { "session/request_permission": never } });
    void client.prompt(await client.newSession(), "go").catch(() => {});
    await client.until(({ method }) => method === "session/request_permission");
    expect((await other.leave()).code).toBe(0);
    expect(existsSync(join(workspace.path, "made.txt"))).toBe(false);
  });

  it("an ACP cancellation stops the running tool and resolves an open question", async () => {
    const script = [shell("touch made.txt"), { delayMs: 20_000, text: "late" }];
    await start({ script, handlers: { "session/request_permission": never } });
    const sessionId = await client.newSession();
    const prompted = client.prompt(sessionId, "go");
    const { id } = await client.until(({ method }) => method === "session/request_permission");
    client.notify("session/cancel", { sessionId });
    expect((await prompted).result).toEqual({ stopReason: "cancelled" });
    const { params } = await client.until(({ method }) => method === "$/cancel_request");
    expect(params).toEqual({ requestId: id });
    const end = client.updates(sessionId).findLast(({ sessionUpdate }) => sessionUpdate === "tool_call_update");
    expect(end?.["status"]).toBe("failed");
    // The same by the request itself.
    const again = client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "b" }] }, "mine");
    client.notify("$/cancel_request", { requestId: "mine" });
    expect((await again).result).toEqual({ stopReason: "cancelled" });
  });

  it("an ACP turn ended by a limit, a refusal or a failure has a known stop reason or an error", async () => {
    await start({
      script: [
        shell("touch made.txt"),
        { error: { code: "MODEL_REFUSED", message: "not this" } },
        { error: { code: "MODEL_RATE_LIMIT", message: "slow down" } },
      ],
      args: ["--trust", "--force", "--max-turns", "1"],
    });
    const limited = await client.newSession();
    expect((await client.prompt(limited, "go")).result).toEqual({ stopReason: "max_turn_requests" });
    await client.leave();
    await start({ script: [{ error: { code: "MODEL_REFUSED", message: "not this" } }] });
    expect((await client.prompt(await client.newSession(), "go")).result).toEqual({ stopReason: "refusal" });
    expect(client.said()).toContain("not this");
    await client.leave();
    await start({ script: [{ error: { code: "MODEL_RATE_LIMIT", message: "slow down" } }] });
    const { error } = await client.prompt(await client.newSession(), "go");
    expect(error).toMatchObject({ code: -32603, message: "slow down", data: { code: "MODEL_RATE_LIMIT" } });
  });
});

const question = {
  name: "AskQuestion",
  args: {
    title: "Colours",
    questions: [
      {
        id: "one",
        prompt: "Which one?",
        options: [
          { id: "r", label: "Red" },
          { id: "b", label: "Blue" },
        ],
      },
      {
        id: "many",
        prompt: "Which ones?",
        options: [
          { id: "x", label: "X" },
          { id: "y", label: "Y" },
        ],
        allow_multiple: true,
      },
      { id: "free", prompt: "Why?", options: [] },
    ],
  },
};
const plan = {
  name: "CreatePlan",
  args: { name: "The plan", overview: "Short", plan: "# Do it", todos: [{ content: "first" }] },
};

describe("6. extensions and questions", () => {
  const asked = [{ calls: [question] }, { expect: ["Blue", "X", "because"], text: "ok" }];

  it("an ACP client that announces cursor/ask_question receives questions through it", async () => {
    const answers = [
      { questionId: "one", selectedOptionIds: ["b", "unknown"] },
      { questionId: "many", selectedOptionIds: ["x"] },
      { questionId: "free", selectedOptionIds: [], freeformText: "because" },
    ];
    await start({
      script: asked,
      capabilities: { _meta: { "cursor/ask_question": true } },
      handlers: { "cursor/ask_question": () => ({ outcome: { outcome: "answered", answers } }) },
    });
    expect((await client.prompt(await client.newSession(), "go")).result?.stopReason).toBe("end_turn");
    const [{ toolCallId, title, questions }] = client.asked("cursor/ask_question") as [Params];
    expect([title, questions.length]).toEqual(["Colours", 3]);
    expect(client.updates().some((update) => update["toolCallId"] === toolCallId)).toBe(true);
  });

  it("an ACP client with forms gets questions as forms, even if it only claimed the Cursor extension", async () => {
    const handlers = {
      "elicitation/create": () => ({ action: "accept", content: { one: "b", many: ["x"], free: "because" } }),
    };
    for (const _meta of [{}, { cursor: true }]) {
      await start({ script: asked, capabilities: { elicitation: { form: {} }, _meta }, handlers });
      expect((await client.prompt(await client.newSession(), "go")).result?.stopReason).toBe("end_turn");
      const [form] = client.asked("elicitation/create") as [Params];
      expect(form["requestedSchema"].properties.one.oneOf).toEqual([
        { const: "r", title: "Red" },
        { const: "b", title: "Blue" },
      ]);
      await client.leave();
    }
  });

  it("when an ACP client skips a question, the agent does not answer it on the user's behalf", async () => {
    await start({
      script: [{ calls: [question] }, { expect: "skipped", text: "ok" }],
      capabilities: { elicitation: { form: {} } },
      handlers: { "elicitation/create": () => ({ action: "decline" }) },
    });
    expect((await client.prompt(await client.newSession(), "go")).result?.stopReason).toBe("end_turn");
  });

  it("an ACP client accepts a plan through Cursor's extension or as a permission request", async () => {
    const script = [{ calls: [plan] }, { expect: "accepted", text: "ok" }];
    const todos = { name: "TodoWrite", args: { todos: [{ id: "1", content: "first", status: "in_progress" }] } };
    await start({
      script: [...script, { calls: [todos] }, { text: "ok" }],
      args: ["--trust", "--plan"],
      capabilities: { _meta: { cursor: true } },
      handlers: { "cursor/create_plan": () => ({ outcome: { outcome: "accepted" } }) },
    });
    const sessionId = await client.newSession();
    expect((await client.prompt(sessionId, "go")).result?.stopReason).toBe("end_turn");
    expect(client.asked("cursor/create_plan")[0]).toMatchObject({
      name: "The plan",
      overview: "Short",
      plan: "# Do it",
      todos: [{ id: "1", content: "first", status: "pending" }],
    });
    await client.prompt(sessionId, "on");
    expect(client.asked("cursor/update_todos")[0]).toMatchObject({
      todos: [{ id: "1", content: "first", status: "in_progress" }],
    });
    expect(client.updates().find(({ sessionUpdate }) => sessionUpdate === "plan")?.["entries"]).toEqual([
      { content: "first", priority: "medium", status: "in_progress" },
    ]);
    await client.leave();
    await start({
      script: [{ calls: [plan] }, { expect: "did not accept", text: "ok" }],
      args: ["--trust", "--plan"],
      handlers: choose("reject_once"),
    });
    expect((await client.prompt(await client.newSession(), "go")).result?.stopReason).toBe("end_turn");
    expect(client.asked("session/request_permission")[0]!["toolCall"].title).toBe("Accept the plan: The plan");
  });

  it("the ACP agent announces subagents with cursor/task and as tool calls", async () => {
    const task = {
      name: "Task",
      args: { description: "Look around", prompt: "Look at a.txt", subagent_type: "explore" },
    };
    const read = { calls: [{ name: "Read", args: { path: "a.txt" } }] };
    await start({
      script: [{ calls: [task] }, read, { text: "It says hello." }, { expect: "It says hello.", text: "ok" }],
      capabilities: { _meta: { "cursor/task": true } },
    });
    await client.prompt(await client.newSession(), "go");
    const [told] = client.asked("cursor/task") as [Params];
    expect(told).toMatchObject({ description: "Look around", prompt: "Look at a.txt", agentId: expect.any(String) });
    const calls = client.updates().filter(({ toolCallId }) => toolCallId === told["toolCallId"]);
    expect(calls[0]).toMatchObject({ sessionUpdate: "tool_call", title: "Look around", kind: "think" });
    expect(JSON.stringify(calls.slice(1, -1))).toContain("a.txt"); // its steps, while it works
    expect(calls.at(-1)).toMatchObject({ status: "completed" });
  });

  it("an ACP session id equals the chat id, in both directions", async () => {
    await start({ script: [{ text: "from the editor" }] });
    const sessionId = await client.newSession();
    await client.prompt(sessionId, "remember the cat");
    await client.leave();
    const resumed = await workspace.play(
      [{ expect: "and now", text: "from the terminal" }],
      ["--resume", sessionId, "--", "and now"],
    );
    expect(resumed.exit).toBe(0);
    await start({ script: [{ text: "again" }] });
    await client.request("session/load", { sessionId, cwd: workspace.path, mcpServers: [] });
    const told = client.updates().flatMap(({ content }) => content?.text ?? []);
    expect(told).toEqual(["remember the cat", "from the editor", "and now", "from the terminal"]);
  });
});

describe("7. usage", () => {
  it("the ACP agent reports token usage with every turn", async () => {
    await start({ script: [{ text: "ok", usage: { inputTokens: 100, outputTokens: 5 } }] });
    await client.prompt(await client.newSession(), "go");
    const usage = client.updates().find(({ sessionUpdate }) => sessionUpdate === "usage_update")!;
    expect(usage["used"]).toBeGreaterThan(0);
    expect(usage["size"]).toBeGreaterThan(usage["used"]);
  });
});
