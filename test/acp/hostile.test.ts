// Input that no honest client sends, clients that fall silent, and clients that go away: nothing is lost but what was wrong.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LineReader } from "../../src/acp/lines.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { AcpClient, choose, type Params } from "./acp-client.ts";

describe("ACP input lines", () => {
  it("the ACP agent reads lines in any chunks, with LF or CRLF, and a bad line affects only itself", () => {
    const taken: unknown[] = [];
    const reader = new LineReader((line) => taken.push(line), 10);
    const bytes = Buffer.from('{"a":1}\r\n\n  \n{"é":2}\n0123456789A too long\n{"b":3}\n\xff\xfe\n{"c"', "latin1");
    for (const byte of bytes) reader.push(Uint8Array.of(byte));
    reader.end();
    expect(taken).toEqual([
      '{"a":1}\r',
      { fault: "A line is not valid UTF-8." }, // é as one byte
      { fault: "A line is longer than 10 bytes." },
      '{"b":3}',
      { fault: "A line is not valid UTF-8." },
      '{"c"',
    ]);
  });
});

let workspace: Workspace;
let client: AcpClient;
const enter = () => {
  workspace = createWorkspace({ "a.txt": "Hello\n" });
};
const leave = async () => {
  await client.leave();
  expect(client.check.faults).toEqual([]);
  workspace.remove();
};

describe("an ACP connection", () => {
  beforeEach(enter);
  afterEach(leave);

  it("the ACP agent answers invalid requests with an error code and keeps the connection usable", async () => {
    client = await AcpClient.start(workspace);
    const rows: [line: string, code: number | undefined][] = [
      ["not json", -32700],
      ['{"jsonrpc":"2.0","id":1,"method":"session/list"', -32700],
      ["[]", -32600],
      ['[{"jsonrpc":"2.0","id":1,"method":"session/list"}]', -32600],
      ["42", -32600],
      ["null", -32600],
      ['{"foo":"bar"}', -32600],
      ['{"jsonrpc":"1.0","id":5,"method":"session/list"}', -32600],
      ['{"jsonrpc":"2.0","id":{"a":1},"method":"session/list"}', -32600],
      ['{"jsonrpc":"2.0","id":1.5,"method":"session/list"}', -32600],
      ['{"jsonrpc":"2.0","id":6,"method":7}', -32600],
      ['{"jsonrpc":"2.0","id":7,"method":"session/list","params":[1]}', -32602],
      ['{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":{},"prompt":{}}}', -32602],
      [
        `{"jsonrpc":"2.0","id":9,"method":"session/list","params":{"cwd":${"[".repeat(3000)}${"]".repeat(3000)}}}`,
        -32600,
      ],
      ['{"jsonrpc":"2.0","id":10,"method":"__proto__","params":{"__proto__":{"a":1}}}', -32601],
      // Nobody asked for these: no answer.
      ['{"jsonrpc":"2.0","id":99,"result":{}}', undefined],
      ['{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}', undefined],
      ['{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"nobody"}}', undefined],
      ['{"jsonrpc":"2.0","method":"session/cancel"}', undefined],
      ['{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{"a":1}}}', undefined],
      ['{"jsonrpc":"2.0","method":"session/update","params":"text"}', undefined],
    ];
    for (const [line, code] of rows) {
      const before = client.received.length;
      client.raw(`${line}\n`);
      await client.request("session/list", {});
      const codes = client.received.slice(before, -1).map((message) => (message as Params)["error"]?.code);
      expect(codes, line.slice(0, 80)).toEqual(code === undefined ? [] : [code]);
    }
    client.raw(Buffer.from([0xff, 0xfe, 0x0a]));
    client.raw(`${"x".repeat(65 * 1024 * 1024)}\n`);
    expect((await client.request("session/list", {})).result).toEqual({ sessions: [] });
    expect(client.received.filter(({ error }) => error?.code === -32600).length).toBeGreaterThan(8);
  });

  it("the ACP agent refuses a request id that is still in use, and answers the first request", async () => {
    client = await AcpClient.start(workspace, { script: [{ delayMs: 300, text: "ok" }] });
    const sessionId = await client.newSession();
    const prompt = { sessionId, prompt: [{ type: "text", text: "go" }] };
    client.raw(`${JSON.stringify({ jsonrpc: "2.0", id: "twice", method: "session/prompt", params: prompt })}\n`);
    client.raw(`${JSON.stringify({ jsonrpc: "2.0", id: "twice", method: "session/list", params: {} })}\n`);
    client.check.sent({ id: "twice", method: "session/prompt" });
    await client.until(({ id, result }) => id === "twice" && result?.stopReason === "end_turn");
    expect(client.received.filter(({ id, error }) => id === "twice" && error?.code === -32600)).toHaveLength(1);
  });
});

describe("a hostile or broken ACP client", () => {
  beforeEach(enter);
  afterEach(leave);

  it("when an ACP client answers a permission request with nonsense, the tool call does not run", async () => {
    const answers = [
      {},
      { outcome: { outcome: "selected", optionId: "allow-everything" } },
      { outcome: "selected" },
      null,
      "yes",
    ];
    const script = {
      replies: [{ calls: [{ name: "Shell", args: { command: "touch made" } }] }, { text: "ok" }],
      loop: true,
    };
    const left = [...answers];
    client = await AcpClient.start(workspace, {
      script,
      handlers: { "session/request_permission": () => left.shift() },
    });
    const sessionId = await client.newSession();
    for (const _answer of answers) expect((await client.prompt(sessionId, "go")).result?.stopReason).toBe("end_turn");
    const ends = client.updates(sessionId).filter(({ status }) => status === "completed" || status === "failed");
    expect(ends.map(({ status }) => status)).toEqual(answers.map(() => "failed"));
  });

  it("when an ACP client refuses trust, the agent says how to trust and asks again with the next prompt", async () => {
    const said = ["reject_once", "allow_always"];
    client = await AcpClient.start(workspace, {
      args: [],
      script: [{ text: "ok" }],
      handlers: {
        "session/request_permission": (params) => choose(said.shift()!)["session/request_permission"]!(params),
      },
    });
    const sessionId = await client.newSession();
    const { error } = await client.prompt(sessionId, "go");
    expect(error?.message).toMatch(/^Workspace Trust Required: .* --trust acp$/);
    expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
    await client.prompt(await client.newSession(), "go"); // it was remembered
    expect(client.asked("session/request_permission")).toHaveLength(2);
  });

  it("cancelling the ACP trust question ends only the prompt that asked it", async () => {
    let isSilent = true;
    client = await AcpClient.start(workspace, {
      args: [],
      script: [{ text: "ok" }],
      handlers: {
        "session/request_permission": (params) =>
          isSilent ? new Promise(() => {}) : choose("allow_once")["session/request_permission"]!(params),
      },
    });
    const sessionId = await client.newSession();
    const prompted = client.prompt(sessionId, "go");
    await client.until(({ method }) => method === "session/request_permission");
    isSilent = false;
    client.notify("session/cancel", { sessionId });
    expect((await prompted).result).toEqual({ stopReason: "cancelled" });
    expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
  });

  it("a file read that the ACP client refuses fails; a file the client lacks is read from the disk", async () => {
    const fs = { readTextFile: true, writeTextFile: true };
    const calls = [
      { name: "Read", args: { path: "a.txt" } },
      { name: "Write", args: { path: "new.txt", content: "new\n" } },
    ];
    const script = [{ calls }, { text: "ok" }];
    const denied = () => {
      throw new Error("Permission denied for this file");
    };
    const statuses = () => client.updates().flatMap(({ status }) => (/completed|failed/.test(status) ? [status] : []));
    client = await AcpClient.start(workspace, {
      script,
      capabilities: { fs },
      handlers: { "fs/read_text_file": denied, "fs/write_text_file": denied },
    });
    await client.prompt(await client.newSession(), "go");
    expect(statuses()).toEqual(["failed", "failed"]);
    await client.leave();
    client = await AcpClient.start(workspace, { script, capabilities: { fs } }); // method not found
    await client.prompt(await client.newSession(), "go");
    expect(statuses()).toEqual(["completed", "completed"]);
  });

  it("after a cancellation, the ACP agent does not wait for a file request that the client never answers", async () => {
    const silent = () => new Promise(() => {});
    client = await AcpClient.start(workspace, {
      script: [{ calls: [{ name: "Read", args: { path: "a.txt" } }] }, { text: "ok" }],
      capabilities: { fs: { readTextFile: true } },
      handlers: { "fs/read_text_file": silent },
    });
    const sessionId = await client.newSession();
    const prompted = client.prompt(sessionId, "go");
    await client.until(({ method }) => method === "fs/read_text_file");
    client.notify("session/cancel", { sessionId });
    expect((await prompted).result).toEqual({ stopReason: "cancelled" });
  });

  it("the ACP agent answers two prompts sent at once one after the other, or cancels both", async () => {
    client = await AcpClient.start(workspace, { script: { replies: [{ delayMs: 200, text: "ok " }], loop: true } });
    const sessionId = await client.newSession();
    const both = () => Promise.all([client.prompt(sessionId, "one"), client.prompt(sessionId, "two")]);
    const reasons = async (ends: ReturnType<typeof both>) => (await ends).map(({ result }) => result?.stopReason);
    expect(await reasons(both())).toEqual(["end_turn", "end_turn"]);
    expect(client.said()).toBe("ok ok ");
    const cut = both();
    client.notify("session/cancel", { sessionId });
    expect(await reasons(cut)).toEqual(["cancelled", "cancelled"]);
  });

  it("an ACP client that stops reading, or dies, leaves no processes behind", async () => {
    const lines = "for i in $(seq 2000); do echo $i; sleep 0.01; done";
    const script = [{ calls: [{ name: "Shell", args: { command: lines } }] }];
    client = await AcpClient.start(workspace, { script, args: ["--trust", "--force"] });
    void client.prompt(await client.newSession(), "go").catch(() => {});
    await client.untilUpdate("tool_call_update");
    client.child.stdout!.destroy();
    const { code } = await Promise.race([client.ended, sleep(15_000).then(() => ({ code: "late" }))]);
    expect(code).toBe(0);
  });

  it("parallel ACP sessions of one client receive only their own updates", async () => {
    const script = [
      { delayMs: 200, text: ["a", "b"], calls: [{ name: "Read", args: { path: "a.txt" } }] },
      { text: "c" },
    ];
    client = await AcpClient.start(workspace, { script });
    const ids = await Promise.all(Array.from({ length: 5 }, () => client.newSession()));
    const [slow, ...others] = ids;
    const ends = ids.map((id) => client.prompt(id, "go"));
    client.notify("session/cancel", { sessionId: slow! });
    const reasons = (await Promise.all(ends)).map(({ result }) => result.stopReason);
    expect(reasons).toEqual(["cancelled", ...others.map(() => "end_turn")]);
    for (const id of others) expect(client.said(id)).toBe("abc");
    await client.request("session/close", { sessionId: slow! });
    expect((await client.prompt(slow!, "go")).error?.code).toBe(-32002);
  });
});
