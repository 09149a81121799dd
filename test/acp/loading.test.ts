// Sessions that others began: the original, a terminal, another process that still has them; and long ones.
import { basename } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createChat } from "../../src/store/chats/open-chat.ts";
import { writeOriginalStore } from "../store/original-store.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { AcpClient, type Params } from "./acp-client.ts";

let workspace: Workspace;
let client: AcpClient;
beforeEach(() => {
  workspace = createWorkspace({ "a.txt": "Hello\n" });
});
afterEach(async () => {
  await client.leave();
  expect(client.check.faults).toEqual([]);
  workspace.remove();
});

const place = () => ({ configDir: workspace.config, workspace: workspace.path });
const load = (sessionId: string) => client.request("session/load", { sessionId, cwd: workspace.path, mcpServers: [] });
const told = () =>
  client
    .updates()
    .map(({ sessionUpdate, content, title, status }: Params) => [sessionUpdate, content?.text ?? title ?? status]);

it("an ACP client can list, load and continue a session of the original CLI", async () => {
  const id = basename(writeOriginalStore(place()));
  client = await AcpClient.start(workspace, { script: [{ expect: "and more", text: "Of course." }] });
  const { sessions } = (await client.request("session/list", { cwd: workspace.path })).result;
  expect(sessions.map(({ sessionId, title }: Params) => [sessionId, title])).toEqual([[id, "read a.txt and b.txt"]]);
  expect((await load(id)).result.modes.currentModeId).toBe("agent");
  expect(told().slice(0, 9)).toEqual([
    ["user_message_chunk", "read a.txt and b.txt"],
    ["agent_thought_chunk", "Hm."],
    ["agent_message_chunk", "I read."],
    ["tool_call", "Read a.txt"],
    ["tool_call", "Read b.txt"],
    ["tool_call_update", "completed"],
    ["tool_call_update", "failed"],
    ["agent_message_chunk", "Done."],
    ["user_message_chunk", "thanks"],
  ]);
  expect((await client.prompt(id, "and more")).result).toEqual({ stopReason: "end_turn" });
});

it("an ACP client cannot load a session that another process has open", async () => {
  const chat = createChat(place(), { id: "0bae0bae-0000-4000-8000-000000000001", mode: "default" });
  client = await AcpClient.start(workspace, { script: [{ text: "ok" }] });
  const { error } = await load(chat.metadata.id);
  expect(error).toMatchObject({ code: -32603, data: { code: "STORE_LOCKED" } });
  chat.close();
  expect((await load(chat.metadata.id)).result.sessionId).toBe(chat.metadata.id);
});

it("ACP session/load replays a long session completely and in order, even to a slow client", async () => {
  const turns = 150;
  const chat = createChat(place(), { id: "0bae0bae-0000-4000-8000-000000000002", mode: "default" });
  const [at, long] = [Date.now(), "word ".repeat(1000)];
  for (let turn = 1; turn <= turns; turn++) {
    const call = { callId: `c${turn}`, tool: "read", args: { path: "a.txt" }, at };
    chat.record({ type: "user", text: `prompt ${turn}`, at });
    chat.record({ type: "tool_start", ...call });
    chat.record({ type: "tool_end", ...call, outcome: { kind: "success", value: { content: long, path: "a.txt" } } });
    chat.record({ type: "text_end", text: `answer ${turn}`, at });
    chat.record({ type: "done", text: "", durationMs: 1, apiDurationMs: 1, at });
  }
  chat.close();
  client = await AcpClient.start(workspace, { script: [{ text: "ok" }] });
  client.child.stdout!.pause();
  const loading = load(chat.metadata.id);
  await new Promise((resolve) => setTimeout(resolve, 500));
  client.child.stdout!.resume();
  expect((await loading).result.sessionId).toBe(chat.metadata.id);
  const texts = told().flatMap(([kind, text]) => (/^(user|agent)_message/.test(kind) ? [text] : []));
  expect(texts).toEqual(
    Array.from({ length: turns }, (_, turn) => [`prompt ${turn + 1}`, `answer ${turn + 1}`]).flat(),
  );
});

it("when a signal ends the ACP server, its children end too and the exit code is the usual one", async () => {
  client = await AcpClient.start(workspace, { script: [{ steps: [{ text: "Working." }, { delayMs: 30_000 }] }] });
  void client.prompt(await client.newSession(), "go").catch(() => {});
  await client.untilUpdate("agent_message_chunk");
  client.child.kill("SIGTERM");
  expect((await client.ended).code).toBe(143);
});
