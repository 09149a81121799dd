// The requirements of the protocol's public test kits (acp-tck, the core profile of acpx), said anew and tried here: a row each.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { AcpClient, type ClientOptions, choose } from "./acp-client.ts";

const stopReasons = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const quiet = () => new Promise((resolve) => setTimeout(resolve, 150));

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
  expect((await client.leave()).code).toBe(0);
  expect(client.check.faults).toEqual([]);
  workspace.remove();
});

describe("ACP initialize", () => {
  it("ACP initialize answers version 1 with 1, and an unknown version with the agent's own version", async () => {
    client = new AcpClient(workspace);
    const first = await client.initialize();
    expect(first.result).toMatchObject({ protocolVersion: 1, agentInfo: { name: "courser" } });
    const future = await client.request("initialize", { protocolVersion: 65_535, clientCapabilities: {}, info: {} });
    expect(future.result.protocolVersion).toBe(1);
    // Terminal logins are for clients that announced them; ids are unique.
    const ids = (reply: typeof first) => reply.result.authMethods.map(({ id }: { id: string }) => id);
    expect(ids(first)).toEqual(["cursor_login"]);
    const able = await client.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: { auth: { terminal: true } },
    });
    expect(ids(able)).toEqual(["cursor_login", "login"]);
  });

  it("ACP initialize refuses an invalid version, and until initialize the agent refuses every other method", async () => {
    client = new AcpClient(workspace);
    expect((await client.request("session/new", { cwd: workspace.path, mcpServers: [] })).error?.code).toBe(-32600);
    expect((await client.request("initialize", { protocolVersion: "1" })).error?.code).toBe(-32602);
    expect((await client.initialize()).result.protocolVersion).toBe(1);
  });
});

describe("ACP sessions", () => {
  it("each ACP session has its own id, and its current mode and options are among the offered ones", async () => {
    await start();
    const params = { cwd: workspace.path, mcpServers: [] };
    const [one, other] = await Promise.all([
      client.request("session/new", params),
      client.request("session/new", params),
    ]);
    expect(one.result.sessionId).not.toBe(other.result.sessionId);
    const { modes, configOptions, sessionId } = one.result;
    expect(modes.availableModes.map(({ id }: { id: string }) => id)).toContain(modes.currentModeId);
    for (const { type, currentValue, options } of configOptions) {
      expect(type).toBe("select");
      expect(options.map(({ value }: { value: string }) => value)).toContain(currentValue);
    }
    expect((await client.request("session/set_mode", { sessionId, modeId: "plan" })).result).toEqual({});
    const set = await client.request("session/set_config_option", { sessionId, configId: "mode", value: "ask" });
    expect(set.result.configOptions.map(({ id }: { id: string }) => id)).toEqual(
      configOptions.map(({ id }: { id: string }) => id),
    );
    expect(set.result.configOptions[0].currentValue).toBe("ask");
    expect((await client.request("session/set_mode", { sessionId, modeId: "no" })).error?.code).toBe(-32602);
    expect(
      (await client.request("session/set_config_option", { sessionId, configId: "effort", value: "no" })).error?.code,
    ).toBe(-32602);
  });

  it("ACP session/new accepts additional directories and refuses invalid parameters", async () => {
    await start();
    const more = join(workspace.home, "more");
    mkdirSync(more);
    expect(
      (await client.request("session/new", { cwd: workspace.path, mcpServers: [], additionalDirectories: [more] }))
        .result.sessionId,
    ).toBeTypeOf("string");
    for (const params of [
      { cwd: null, mcpServers: [] },
      { cwd: "relative", mcpServers: [] },
      { cwd: join(workspace.home, "missing"), mcpServers: [] },
      { cwd: workspace.path, mcpServers: "none" },
      { cwd: workspace.path, mcpServers: [{ name: "x" }] },
      { cwd: workspace.path, mcpServers: [], additionalDirectories: ["relative"] },
      [],
    ])
      expect((await client.request("session/new", params)).error?.code, JSON.stringify(params)).toBe(-32602);
    const unknown = "00000000-0000-4000-8000-000000000000";
    for (const [method, params] of Object.entries({
      "session/prompt": { prompt: [{ type: "text", text: "x" }] },
      "session/load": { cwd: workspace.path, mcpServers: [] },
      "session/resume": { cwd: workspace.path },
      "session/close": {},
      "session/set_mode": { modeId: "plan" },
    }))
      expect((await client.request(method, { sessionId: unknown, ...params })).error?.code, method).toBe(-32002);
    expect((await client.request("session/prompt", { sessionId: 7, prompt: [] })).error?.code).toBe(-32602);
  });

  it("an ACP client can list sessions, filter them by directory, and delete one, even twice", async () => {
    await start({ script: [{ text: "hi" }] });
    const sessionId = await client.newSession();
    await client.prompt(sessionId, "first words");
    const all = await client.request("session/list", {});
    expect(all.result.sessions).toEqual([
      { sessionId, cwd: workspace.path, title: "first words", updatedAt: expect.any(String) },
    ]);
    expect((await client.request("session/list", { cwd: "/no/such/place" })).result).toEqual({ sessions: [] });
    expect((await client.request("session/list", { cwd: workspace.path })).result.sessions).toHaveLength(1);
    expect((await client.request("session/list", { cursor: "nonsense" })).error?.code).toBe(-32602);
    expect((await client.request("session/delete", { sessionId })).result).toEqual({});
    expect((await client.request("session/delete", { sessionId })).result).toEqual({});
    expect((await client.request("session/list")).result).toEqual({ sessions: [] });
  });

  it("ACP session/close closes an idle session, and cancels the prompt of a working one", async () => {
    await start({ script: [{ steps: [{ text: "Working." }, { delayMs: 20_000 }] }] });
    const idle = await client.newSession();
    expect((await client.request("session/close", { sessionId: idle })).result).toEqual({});
    const busy = await client.newSession();
    const prompted = client.prompt(busy, "go");
    await client.untilUpdate("agent_message_chunk");
    expect((await client.request("session/close", { sessionId: busy })).result).toEqual({});
    expect((await prompted).result).toEqual({ stopReason: "cancelled" });
  });
});

describe("ACP prompts", () => {
  it("an ACP prompt gets its stop reason only after all updates of its session", async () => {
    await start({ script: [{ text: ["one ", "two"] }, { text: "three" }] });
    const sessionId = await client.newSession();
    expect((await client.prompt(sessionId, "hi")).result).toEqual({ stopReason: "end_turn" });
    const count = client.received.length;
    await quiet();
    expect(client.received.length).toBe(count);
    expect(client.said(sessionId)).toBe("one two");
    const again = await client.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "and" }],
      _meta: { traceparent: "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01" },
    });
    expect(stopReasons).toContain(again.result.stopReason);
    expect(client.said(sessionId)).toBe("one twothree");
  });

  it("ACP prompts accept links, embedded files and images; audio and empty prompts are refused", async () => {
    const told = ["[a.txt](", "<resource uri=", "bytes that are not text", "look:"];
    await start({ script: told.map((expect) => ({ expect, text: "ok" })) });
    const sessionId = await client.newSession();
    const text = { type: "text", text: "look:" };
    const uri = `file://${workspace.path}/a.txt`;
    for (const block of [
      { type: "resource_link", uri, name: "a.txt" },
      { type: "resource", resource: { uri, text: "Hello\n", mimeType: "text/plain" } },
      { type: "resource", resource: { uri, blob: "AAEC" } },
      { type: "image", data: png, mimeType: "image/png" },
    ])
      expect((await client.request("session/prompt", { sessionId, prompt: [text, block] })).result, block.type).toEqual(
        {
          stopReason: "end_turn",
        },
      );
    for (const prompt of [
      [text, { type: "audio", data: "AAAA", mimeType: "audio/wav" }],
      [text, { type: "image", data: "AAAA", mimeType: "image/png" }],
      [],
      [{ type: "text", text: "  " }],
      "text",
      [{ text: "no type" }],
    ])
      expect((await client.request("session/prompt", { sessionId, prompt })).error?.code, JSON.stringify(prompt)).toBe(
        -32602,
      );
  });

  it("a cancelled ACP prompt sends its updates before its answer, and the next prompt works", async () => {
    await start({
      script: [{ text: "a", calls: [{ name: "Shell", args: { command: "sleep 30" } }] }, { text: "b" }],
      handlers: choose("allow_once"),
    });
    const sessionId = await client.newSession();
    client.notify("session/cancel", { sessionId }); // nothing runs: nothing happens
    const prompted = client.prompt(sessionId, "go");
    await client.untilUpdate("tool_call");
    client.notify("session/cancel", { sessionId });
    expect((await prompted).result).toEqual({ stopReason: "cancelled" });
    const count = client.received.length;
    await quiet();
    expect(client.received.length).toBe(count);
    expect((await client.prompt(sessionId, "and now")).result).toEqual({ stopReason: "end_turn" });
    expect(client.said(sessionId)).toBe("ab");
  });

  it("the ACP agent never calls a client method that the client did not announce", async () => {
    const calls = [
      { name: "Read", args: { path: "a.txt" } },
      { name: "Write", args: { path: "b.txt", content: "x" } },
      { name: "Shell", args: { command: "touch made.txt" } },
      { name: "AskQuestion", args: { questions: [{ prompt: "Which?", options: [{ label: "A" }] }] } },
    ];
    await start({ script: [{ calls }, { text: "done" }], handlers: choose("allow_once") });
    await client.prompt(await client.newSession(), "go");
    const methods = new Set(client.received.flatMap(({ method }) => (method === undefined ? [] : [method])));
    expect([...methods].sort()).toEqual(["session/request_permission", "session/update"]);
  });
});

describe("ACP session/load", () => {
  it("ACP session/load replays the whole session before it answers; session/resume replays nothing", async () => {
    await start({
      script: [
        { thinking: "hm", text: "first", calls: [{ name: "Read", args: { path: "a.txt" } }] },
        { text: "second" },
      ],
    });
    const sessionId = await client.newSession();
    await client.prompt(sessionId, "remember");
    await client.request("session/close", { sessionId });
    const params = { sessionId, cwd: workspace.path, mcpServers: [] };

    const before = client.received.length;
    expect((await client.request("session/load", params)).result).toMatchObject({ modes: { currentModeId: "agent" } });
    const told = client.received.slice(before);
    const answer = told.findIndex(({ method }) => method === undefined);
    const kinds = told.slice(0, answer).map(({ params: { update } }) => update.sessionUpdate);
    expect(kinds).toEqual([
      "user_message_chunk",
      "agent_thought_chunk",
      "agent_message_chunk",
      "tool_call",
      "tool_call_update",
      "agent_message_chunk",
    ]);
    await quiet();
    const history = /message_chunk|thought_chunk|tool_call/;
    const later = client.received.slice(before + answer + 1).map(({ params }) => params?.update?.sessionUpdate);
    expect(later.filter((kind) => history.test(kind))).toEqual([]);

    const resumed = client.received.length;
    const { mcpServers: _none, ...plain } = params;
    expect((await client.request("session/resume", plain)).result.configOptions).toHaveLength(3);
    await quiet();
    const since = client.received.slice(resumed).map(({ params }) => params?.update?.sessionUpdate);
    expect(since.filter((kind) => history.test(kind))).toEqual([]);
  });
});

describe("ACP authentication and extensions", () => {
  it("ACP authenticate succeeds if a model is usable, and logout works", async () => {
    await start();
    expect((await client.request("authenticate", { methodId: "cursor_login" })).result).toEqual({});
    expect((await client.request("authenticate", { methodId: "no" })).error?.code).toBe(-32602);
    expect((await client.request("logout", {})).result).toEqual({});
  });

  it("an ACP prompt without an API key asks for a login, and accepts one made in the client's terminal", async () => {
    client = await AcpClient.start(workspace, { args: ["--trust", "--model", "sonnet"] });
    const asked = await client.request("session/new", { cwd: workspace.path, mcpServers: [] });
    expect(asked.error).toMatchObject({ code: -32000, data: { code: "NOT_AUTHENTICATED" } });
    expect((await client.request("authenticate", { methodId: "cursor_login" })).error?.code).toBe(-32000);
    const login = await workspace.run(["acp", "login", "anthropic"], { stdin: "sk-ant-test\n" });
    expect(login.stdout).toContain("Key saved for anthropic");
    expect((await client.request("authenticate", { methodId: "cursor_login" })).result).toEqual({});
    const { result } = await client.request("session/new", { cwd: workspace.path, mcpServers: [] });
    const [, model] = result.configOptions;
    expect([model.currentValue, model.options.length > 3]).toEqual(["claude-5.5-sonnet", true]);
    await client.request("logout", {});
    expect((await client.request("authenticate", { methodId: "cursor_login" })).error?.code).toBe(-32000);
  });

  it("the ACP agent answers an unknown method with an error and keeps the connection usable", async () => {
    await start();
    for (const method of ["_example.com/probe", "nonsense", "session/nonsense", "constructor", "__proto__"])
      expect((await client.request(method, {})).error?.code, method).toBe(-32601);
    client.notify("_example.com/note", {});
    client.notify("nonsense", {});
    expect(await client.newSession()).toBeTypeOf("string");
  });

  it("ACP request ids are echoed unchanged", async () => {
    await start();
    for (const id of ["a", "1", 1_000_000, -5])
      expect((await client.request("session/list", {}, id)).result.sessions).toEqual([]);
  });
});
