// A client on the protocol's own package, which parses what it gets by its own schemas; beside it, each line is checked as well.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Transform, Writable } from "node:stream";
import { client, methods, ndJsonStream, type SessionUpdate } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { cli, createWorkspace } from "../support/run-cli.ts";
import { WireCheck } from "./wire-check.ts";

/** Hands on the bytes, and each whole line to whoever looks. */
function tap(look: (line: string) => void): Transform {
  let rest = "";
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const lines = (rest + chunk.toString("utf8")).split("\n");
      rest = lines.pop()!;
      for (const line of lines) look(line);
      done(null, chunk);
    },
  });
}

describe("a client on @agentclientprotocol/sdk", () => {
  it("the official ACP client library drives a session from start to end", async () => {
    const workspace = createWorkspace({ "a.txt": "on the disk\n" });
    const script = join(workspace.home, "script.json");
    const replies = [
      {
        thinking: "Let me see.",
        text: "I look. ",
        calls: [
          { name: "Read", args: { path: "a.txt" } },
          { name: "Shell", args: { command: "mkdir -v from" } },
        ],
      },
      {
        expect: ["not saved", "directory 'from'"],
        calls: [{ name: "Edit", args: { path: "a.txt", old_string: "not saved", new_string: "saved" } }],
      },
      { calls: [{ name: "TodoWrite", args: { todos: [{ id: "1", content: "look", status: "completed" }] } }] },
      { text: "Done." },
    ];
    writeFileSync(script, JSON.stringify(replies));
    const child = spawn(process.execPath, [cli, "--model", `script:${script}`, "acp"], {
      cwd: workspace.path,
      env: workspace.env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const check = new WireCheck();
    const sent = tap((line) => check.sent(JSON.parse(line)));
    sent.pipe(child.stdin);
    const stream = ndJsonStream(
      Writable.toWeb(sent) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout.pipe(tap((line) => check.received(line)))) as ReadableStream<Uint8Array>,
    );

    const updates: SessionUpdate[] = [];
    const titles: (string | null | undefined)[] = [];
    /** What the editor has open and has not saved. */
    let buffer = "not saved\n";
    const stopReason = await client({ name: "test" })
      .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        titles.push(params.toolCall.title);
        const { optionId } = params.options.find(({ kind }) => kind === "allow_once")!;
        return { outcome: { outcome: "selected", optionId } };
      })
      .onRequest(methods.client.fs.readTextFile, () => ({ content: buffer }))
      .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
        buffer = params.content;
        return {};
      })
      .connectWith(stream, async (agent) => {
        const fs = { readTextFile: true, writeTextFile: true };
        const begun = await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: { fs } });
        expect(begun).toMatchObject({ protocolVersion: 1 });
        const { sessionId } = await agent.request(methods.agent.session.new, { cwd: workspace.path, mcpServers: [] });
        await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: "effort", value: "high" });
        const end = await agent.request(methods.agent.session.prompt, {
          sessionId,
          prompt: [{ type: "text", text: "look" }],
        });
        const { sessions } = await agent.request(methods.agent.session.list, { cwd: workspace.path });
        expect(sessions.map((session) => [session.sessionId, session.title])).toEqual([[sessionId, "look"]]);
        await agent.request(methods.agent.session.close, { sessionId });
        await agent.request(methods.agent.session.delete, { sessionId });
        return end.stopReason;
      });
    child.stdin.end();
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([stopReason, code]).toEqual(["end_turn", 0]);
    expect(check.faults).toEqual([]);
    expect(titles).toEqual([`Trust this workspace? ${workspace.path}`, "mkdir -v from"]);
    expect(buffer).toBe("saved\n");

    const kinds = updates.map(({ sessionUpdate }) => sessionUpdate);
    for (const kind of [
      "config_option_update",
      "available_commands_update",
      "agent_thought_chunk",
      "agent_message_chunk",
      "tool_call",
      "tool_call_update",
      "plan",
      "usage_update",
      "session_info_update",
    ])
      expect(kinds, kind).toContain(kind);
    const diff = updates.flatMap((update) =>
      update.sessionUpdate === "tool_call_update" ? (update.content ?? []) : [],
    );
    expect(diff).toContainEqual({
      type: "diff",
      path: join(workspace.path, "a.txt"),
      oldText: "not saved\n",
      newText: "saved\n",
    });
    workspace.remove();
  });

  it("the test's ACP schema check notices a line that violates the schema", () => {
    const check = new WireCheck();
    check.sent({ id: 1, method: "session/prompt" });
    const update = (value: object) =>
      JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: value } });
    const wrong = [
      "hello",
      '{"jsonrpc":"2.0","id":1,"result":{"stopReason":"done"}}',
      '{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn","usage":1}}',
      '{"jsonrpc":"2.0","id":2,"result":{}}',
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"two\\nlines"}}',
      '{"jsonrpc":"2.0","method":"fs/nothing","params":{}}',
      update({ sessionUpdate: "tool_call", toolCallId: "1" }),
      update({ sessionUpdate: "plan", entries: [{ content: "x", priority: "none", status: "pending" }] }),
      update({ sessionUpdate: "usage_update", used: 1.5, size: 2 }),
    ];
    for (const line of wrong) check.received(line);
    expect(check.faults).toHaveLength(wrong.length);
    check.received(update({ sessionUpdate: "usage_update", used: 1, size: 2 }));
    expect(check.faults).toHaveLength(wrong.length);
  });
});
