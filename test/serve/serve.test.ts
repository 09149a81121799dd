// The service as a client sees it: REST v1, the studio's API, and the document that describes both.
import { existsSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { valueFault } from "../../src/json/schema.ts";
import { repository } from "../support/run-cli.ts";
import { type Reply, TestService, until } from "./service-support.ts";

const service = new TestService();
let document: any;
beforeAll(async () => {
  const peer = join(repository, "test/sdk/fixtures/peer-cli.mjs");
  const claude = service.workspace.file(
    "../bin/claude",
    `#!/bin/sh\nexec "${process.execPath}" "${peer}" claude "$@"\n`,
  );
  (await import("node:fs")).chmodSync(claude, 0o755);
  await service.start([], { CLAUDE_CODE_PATH: claude });
  document = (await service.call("GET", "/openapi.json")).body;
});
afterAll(() => service.remove());

/** The request, and its answer checked against the document that the service itself serves. */
async function call(method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await service.call(method, path, body);
  const plain = path.split("?")[0]!;
  const template = Object.keys(document.paths).find((each) =>
    new RegExp(`^${each.replace(/\{\w+\}/g, "[^/]+")}$`).test(plain),
  );
  const described = document.paths[template!][method.toLowerCase()].responses[reply.status];
  expect(described, `${method} ${template} ${reply.status} is described`).toBeDefined();
  const schema = described.content?.["application/json"]?.schema;
  if (schema) expect(valueFault(reply.body, schema), `${method} ${path}: ${reply.text}`).toBeUndefined();
  return reply;
}

const slow = [{ text: "Working.", calls: [{ name: "Shell", args: { command: "sleep 20" } }] }, { text: "done" }];
const quick = [{ text: "Hello there." }];

function newAgent(replies: unknown, more: object = {}) {
  const model = { id: service.script(replies) };
  return call("POST", "/v1/agents", {
    prompt: { text: "go" },
    workspace: service.workspace.path,
    model,
    force: true,
    ...more,
  });
}

describe("REST v1", () => {
  it("a request whose JSON has a key twice is refused by the key's name", async () => {
    const body = '{ "prompt": { "text": "go" }, "mode": "plan", "\\u006dode": "agent" }';
    const { status, body: answer } = await call("POST", "/v1/agents", body);
    expect(status).toBe(400);
    expect(answer.error).toMatchObject({ code: "invalid_json" });
    expect(answer.error.message).toContain('the key "mode" is there twice');
  });

  it("POST /v1/agents creates an agent; its event stream can be resumed from any event", async () => {
    const { status, body } = await newAgent(quick, { name: "greeter" });
    expect(status).toBe(201);
    expect(body.agent).toMatchObject({ name: "greeter", cli: "courser", status: "ACTIVE" });
    const stream = `/v1/agents/${body.agent.id}/runs/${body.run.id}/stream`;
    const events = await service.events(stream);
    const kinds = events.map(({ event }) => event);
    expect(kinds[0]).toBe("status");
    expect(kinds.slice(-2)).toEqual(["result", "done"]);
    expect(
      events
        .filter(({ event }) => event === "assistant")
        .map(({ data }) => data.text)
        .join(""),
    ).toBe("Hello there.");
    expect(events.find(({ event }) => event === "result")?.data).toMatchObject({
      status: "FINISHED",
      text: "Hello there.",
    });
    const middle = events.findIndex(({ event }) => event === "assistant");
    const rest = await service.events(stream, { "Last-Event-ID": events[middle]!.id! });
    expect(rest.filter(({ id }) => id !== undefined)).toEqual(
      events.slice(middle + 1).filter(({ id }) => id !== undefined),
    );
    expect((await call("GET", `/v1/agents/${body.agent.id}`)).body.status).toBe("IDLE");
    expect((await call("GET", `/v1/agents/${body.agent.id}/runs/${body.run.id}`)).body).toMatchObject({
      status: "FINISHED",
      result: "Hello there.",
    });

    const next = await call("POST", `/v1/agents/${body.agent.id}/runs`, { prompt: { text: "more" } });
    expect(next.status).toBe(201);
    const ended = await service.over(next.body.run.id);
    expect(ended).toMatchObject({ state: "finished", end: { text: "Hello there." } });
    expect(ended.sessionId).toBe((await service.fleet.run(body.run.id))!.sessionId);
    const runs = await call("GET", `/v1/agents/${body.agent.id}/runs?limit=1`);
    expect(runs.body.items.map(({ id }: any) => id)).toEqual([next.body.run.id]);
    const older = await call("GET", `/v1/agents/${body.agent.id}/runs?cursor=${runs.body.nextCursor}`);
    expect(older.body.items.map(({ id }: any) => id)).toEqual([body.run.id]);
    expect((await call("GET", `/v1/agents/${body.agent.id}/usage`)).body.runs).toHaveLength(2);
    expect((await call("GET", "/v1/agents")).body.items[0].id).toBe(body.agent.id);

    await call("POST", `/v1/agents/${body.agent.id}/archive`);
    expect((await call("POST", `/v1/agents/${body.agent.id}/runs`, { prompt: { text: "x" } })).body.error.code).toBe(
      "agent_archived",
    );
    expect((await call("POST", `/v1/agents/${body.agent.id}/unarchive`)).status).toBe(200);
    expect((await call("DELETE", `/v1/agents/${body.agent.id}`)).status).toBe(200);
    expect((await call("GET", `/v1/agents/${body.agent.id}`)).status).toBe(404);
  });

  it("a v1 agent runs one prompt at a time, which a client can cancel once", async () => {
    const { body } = await newAgent(slow);
    const path = `/v1/agents/${body.agent.id}`;
    const busy = await call("POST", `${path}/runs`, { prompt: { text: "too early" } });
    expect([busy.status, busy.body.error.code]).toEqual([409, "agent_busy"]);
    expect((await call("DELETE", path)).body.error.code).toBe("agent_busy");
    expect((await call("POST", `${path}/runs/${body.run.id}/cancel`)).status).toBe(200);
    expect((await service.over(body.run.id)).state).toBe("cancelled");
    expect((await call("POST", `${path}/runs/${body.run.id}/cancel`)).body.error.code).toBe("run_not_cancellable");
    expect((await call("GET", `${path}/runs/${body.run.id}`)).body.status).toBe("CANCELLED");
  });

  it("the /v1 routes refuse what they cannot do, by name", async () => {
    const prompt = { text: "x" };
    const outside = await call("POST", "/v1/agents", { prompt, workspace: service.workspace.home });
    expect([outside.status, outside.body.error.code]).toEqual([403, "untrusted_workspace"]);
    expect((await call("POST", "/v1/agents", { prompt, workspace: "relative" })).status).toBe(400);
    expect((await call("POST", "/v1/agents", { workspace: "/" })).body.error.message).toContain("prompt");
    const repos = await call("POST", "/v1/agents", {
      prompt,
      workspace: service.workspace.path,
      repos: [{ url: "x" }],
    });
    expect(repos.body.error.code).toBe("unsupported_field");
    expect((await call("GET", "/v1/agents/bc-none/runs")).status).toBe(404);
    expect((await service.call("PUT" as "POST", "/v1/agents")).status).toBe(405);
    expect((await service.call("POST", "/v1/me", {})).status).toBe(405);
    expect((await call("GET", "/v1/models")).body.items.length).toBeGreaterThan(3);
    expect((await call("GET", "/v1/me")).body.apiKeyName).toBe("serve.json");
  });
});

describe("the studio's API", () => {
  it("the service cuts off a request body that is too long, and goes on", async () => {
    const { port, token } = service.info;
    const cut = await new Promise<number | string>((resolve) => {
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      const endless = request({ host: "127.0.0.1", port, path: "/v1/agents", method: "POST", headers, agent: false });
      endless.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
      endless.on("response", ({ statusCode = 0 }) => resolve(statusCode));
      const chunk = Buffer.alloc(2 ** 20, " ");
      const write = () => {
        while (!endless.destroyed && endless.write(chunk));
      };
      endless.on("drain", write);
      write();
    });
    expect([413, "ECONNRESET", "EPIPE"]).toContain(cut);
    expect((await call("GET", "/v1/me")).status).toBe(200);
  });

  it("the service accepts only the first answer to a question, and only with the question's hash", async () => {
    service.workspace.file("old.txt", "x");
    const model = service.script([{ calls: [{ name: "Delete", args: { path: "old.txt" } }] }, { text: "gone" }]);
    const { body: run } = await call("POST", "/api/runs", {
      workspace: service.workspace.path,
      prompt: { text: "delete it" },
      model,
    });
    let asked: any[] = [];
    await until(async () => (asked = (await call("GET", "/api/questions")).body.items).length > 0, "a question");
    expect(asked[0]).toMatchObject({ run: run.id, question: { type: "permission", tool: "Delete" } });
    const { id: question, hash } = asked[0].question;
    const answer = { type: "yes" };
    const wrong = await call("POST", `/api/runs/${run.id}/answer`, { question, hash: "other", answer });
    expect([wrong.status, wrong.body.error.code]).toEqual([409, "question_closed"]);
    expect(existsSync(join(service.workspace.path, "old.txt"))).toBe(true);
    expect(
      (await call("POST", `/api/runs/${run.id}/answer`, { question, hash, answer: { type: "maybe" } })).status,
    ).toBe(400);
    expect((await call("POST", `/api/runs/${run.id}/answer`, { question, hash, answer })).status).toBe(200);
    expect((await call("POST", `/api/runs/${run.id}/answer`, { question, hash, answer })).status).toBe(409);
    expect((await service.over(run.id)).end).toMatchObject({ outcome: "finished", text: "gone" });
    expect(existsSync(join(service.workspace.path, "old.txt"))).toBe(false);
    expect((await call("GET", `/api/runs/${run.id}/changes`)).body.items).toMatchObject([
      { steps: [{ kind: "delete" }] },
    ]);
  });

  it("a session reports the context use after each turn, not the sum", async () => {
    const usage = { inputTokens: 1000, outputTokens: 50, cacheReadTokens: 200, cacheWriteTokens: 0 };
    const model = service.script([
      { calls: [{ name: "LS", args: {} }], usage },
      { text: "Two.", usage: { ...usage, inputTokens: 3000 } },
    ]);
    const { path: workspace } = service.workspace;
    const { body: run } = await call("POST", "/api/runs", { workspace, prompt: { text: "go" }, model });
    const { sessionId } = await service.over(run.id);
    const { turns } = (await call("GET", `/api/sessions/cursor/${sessionId}`)).body;
    expect(turns).toMatchObject([
      { usage: { inputTokens: 4000 }, context: { used: 3250, window: expect.any(Number) }, costUsd: 0 },
    ]);
  });

  it("GET /api/runs lists a run that is still queued even after 110 newer runs", async () => {
    const request = { workspace: service.workspace.path, chat: { type: "new" } } as never;
    const add = (id: string) =>
      service.fleet.enqueue({
        ...{ id, agent: `bc-${id}` },
        spec: { cli: "courser", request, prompt: { text: id }, placement: { pool: "nobody" } },
      });
    await add("run-waits");
    for (let count = 0; count < 110; count++) {
      await add(`run-later-${count}`);
      await service.fleet.cancel(`run-later-${count}`, "the test wants it over");
    }
    const { items } = (await call("GET", "/api/runs")).body;
    expect(items.find(({ id }: { id: string }) => id === "run-waits")).toMatchObject({ state: "queued" });
    expect(new Set(items.map(({ id }: { id: string }) => id)).size).toBe(items.length);
    await service.fleet.cancel("run-waits", "the test is over");
  });

  it("the service's event stream contains the events and messages of all runs", async () => {
    const hello = (await service.events("/api/stream", {}, () => true))[0]!;
    const model = service.script([
      { text: "One.", calls: [{ name: "Shell", args: { command: "sleep 0.7" } }] },
      { text: "Two." },
      { text: "Three." },
    ]);
    const { body: run } = await call("POST", "/api/runs", {
      workspace: service.workspace.path,
      prompt: { text: "go" },
      model,
      force: true,
    });
    await until(async () => (await service.fleet.run(run.id))!.sessionId !== undefined, "the session");
    expect(
      (await call("POST", `/api/runs/${run.id}/messages`, { type: "steer", text: "look left", id: "s1" })).status,
    ).toBe(202);
    expect((await call("POST", `/api/runs/${run.id}/messages`, { type: "context", id: "c1" })).status).toBe(202);
    expect((await call("POST", `/api/runs/${run.id}/messages`, { type: "mode", mode: "force" })).status).toBe(403);
    expect((await call("POST", `/api/runs/${run.id}/messages`, { type: "what" })).status).toBe(400);
    const events = await service.events(
      "/api/stream",
      { "Last-Event-ID": hello.id! },
      ({ data }) => data.entry?.type === "result",
    );
    const entries = events.flatMap(({ data }) => (data.run === run.id ? [data.entry] : []));
    expect(entries.find(({ type, id }: any) => type === "reply" && id === "c1")?.value).toMatchObject({
      window: expect.any(Number),
    });
    expect(entries.find(({ type }: any) => type === "prompt_ended")).toMatchObject({ id: "s1", state: "told" });
    expect(entries.some(({ event }: any) => event?.type === "user" && event.text === "look left")).toBe(true);
    expect((await call("POST", `/api/runs/${run.id}/messages`, { type: "steer", text: "late" })).body.error.code).toBe(
      "run_over",
    );
    const quiet = await service.events(
      "/api/stream?runs=none",
      { "Last-Event-ID": hello.id! },
      ({ data }) => data.entry?.type === "result",
    );
    expect(quiet.some(({ data }) => data.entry?.type === "event")).toBe(false);
  });

  it("sessions of all agents can be listed, searched, read, renamed, forked, exported and deleted", async () => {
    const model = service.script([
      { calls: [{ name: "Write", args: { path: "made.txt", contents: "marzipan\n" } }] },
      { text: "A marzipan file." },
    ]);
    const { body: run } = await call("POST", "/api/runs", {
      workspace: service.workspace.path,
      prompt: { text: "make it" },
      model,
      force: true,
    });
    const { sessionId } = await service.over(run.id);
    const path = `/api/sessions/cursor/${sessionId}`;
    expect((await call("GET", "/api/sessions")).body.items.some(({ id }: any) => id === sessionId)).toBe(true);
    const found = (await call("GET", "/api/sessions?search=marzipan")).body.items;
    expect(found[0]).toMatchObject({ id: sessionId, snippet: expect.stringContaining("marzipan"), isTrusted: true });
    const { items, total } = (await call("GET", `${path}/events?limit=3`)).body;
    expect([items.length, total > 5]).toEqual([3, true]);
    expect((await call("GET", `${path}/changes`)).body.items).toMatchObject([
      { path: expect.stringContaining("made.txt"), linesAdded: 1 },
    ]);
    expect((await call("GET", `${path}/changes?turn=9`)).body.items).toEqual([]);
    expect((await call("PATCH", path, { title: "--The marzipan one" })).status).toBe(200);
    expect((await call("GET", path)).body).toMatchObject({
      title: "--The marzipan one",
      turns: [{ turn: 1, calls: 1, outcome: "done" }],
    });
    const copy = (await call("POST", `${path}/fork`, {})).body.text;
    expect(copy).toMatch(/[0-9a-f-]{36}/);
    const html = await service.call("GET", `${path}/export?format=html`);
    expect([html.status, html.headers["content-disposition"]]).toEqual([200, expect.stringContaining("attachment")]);
    expect((await call("POST", `${path}/rewind`, { turn: 1 })).status).toBe(200);
    expect(existsSync(join(service.workspace.path, "made.txt"))).toBe(false);
    expect((await call("DELETE", path, {})).status).toBe(200);
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("DELETE", `/api/sessions/claude/${sessionId}`, {})).body.error.code).toBe("not_ours");
  });

  it("files of trusted workspaces can be read, and nothing outside", async () => {
    const { path: workspace } = service.workspace;
    service.workspace.file("sub/a.txt", "inside");
    (await import("node:fs")).symlinkSync(service.workspace.home, join(workspace, "out"));
    expect((await call("POST", "/api/files/read", { workspace, path: "sub/a.txt" })).body.text).toBe("inside");
    expect((await call("POST", "/api/files/list", { workspace })).body.items).toContainEqual({
      name: "sub",
      type: "folder",
    });
    for (const wrong of ["../home/.cursor/serve.json", "out/.cursor/serve.json", "/etc/passwd", "sub/a.txt\0"])
      expect((await call("POST", "/api/files/read", { workspace, path: wrong })).status, wrong).toBe(400);
    expect((await call("POST", "/api/files/list", { workspace: "/etc" })).status).toBe(403);
  });

  it("the studio's API drives other agents, and lists what is lost", async () => {
    const { items } = (await call("GET", "/api/agents")).body;
    expect(items.map(({ name }: any) => name)).toEqual(expect.arrayContaining(["courser", "claude"]));
    const { body: run } = await call("POST", "/api/runs", {
      cli: "claude",
      workspace: service.workspace.path,
      prompt: { text: "hello" },
    });
    expect((await service.over(run.id)).end).toMatchObject({ outcome: "finished", text: "You said: hello" });
    const { items: log } = (await call("GET", `/api/runs/${run.id}/log`)).body;
    expect(
      log.find(({ entry }: any) => entry.type === "losses")?.entry.losses.map(({ option }: any) => option),
    ).toContain("human");
    const next = await call("POST", `/api/runs/${run.id}/follow-up`, { prompt: { text: "again" } });
    const ended = await service.over(next.body.id);
    expect(ended.sessionId).toBe((await service.fleet.run(run.id))!.sessionId);
  });
});

it("the service's token is readable only by its owner, and its file is removed at the end", async () => {
  expect(statSync(join(service.workspace.config, "serve.json")).mode & 0o777).toBe(0o600);
  const second = await service.workspace.run(["serve"]);
  expect([second.exit, second.stderr]).toEqual([1, expect.stringContaining("already running")]);
  const open = await service.workspace.run(["serve", "--host", "0.0.0.0"]);
  expect(open.stderr).toContain("--allow-remote");
  expect((await service.workspace.run(["serve", "--host", "0.0.0.0", "--allow-remote"])).stderr).toContain("password");
  await service.kill("SIGTERM");
  expect(service.read()).toBeUndefined();
});
