// The service without its server: what every route answers, in one conversation. test/serve/routes.txt is the whole of it; a change
// of that file is a change for clients. Ids and times are told by names.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Question } from "../../src/protocol/run.ts";
import type { ServeContext } from "../../src/serve/context.ts";
import { openSqliteFleet } from "../../src/serve/engines/sqlite.ts";
import type { Entry, Lease, LocalFleet } from "../../src/serve/fleet.ts";
import { type App, createApp, type Exchange } from "../../src/serve/http/route.ts";
import { routes } from "../../src/serve/routes/index.ts";
import { createChat } from "../../src/store/chats/open-chat.ts";
import { trust } from "../../src/store/trust.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-routes-")));
const workspace = join(base, "work");
const configDir = join(base, ".cursor");
let fleet: LocalFleet;
let app: App;

beforeAll(() => {
  mkdirSync(join(workspace, "src"), { recursive: true });
  mkdirSync(join(base, "here"));
  mkdirSync(configDir);
  for (const name of ["zeta", "10", "b", "9", "B", "a.txt"]) writeFileSync(join(workspace, name), "hello\n");
  writeFileSync(join(workspace, "large.txt"), "x".repeat(2 * 1024 * 1024 + 1));
  writeFileSync(join(workspace, ".env"), "KEY=1");
  symlinkSync("/etc", join(workspace, "out"));
  trust(configDir, workspace);
  fleet = openSqliteFleet(join(base, "runs/runs.db"));
  const context: ServeContext = {
    fleet,
    configDir,
    env: { HOME: base, USER: "ada" },
    program: [process.execPath, "-e", "process.exit(3)"],
    // Nothing is started: the test is the host of the runs.
    most: 0,
    version: "1.2.3",
    pageDir: base,
    startedIn: join(base, "here"),
  };
  app = createApp(routes, context);
});
afterAll(() => {
  fleet.close();
  rmSync(base, { recursive: true, force: true });
});

const said: string[] = [];
const sessionId = "01234567-89ab-4def-8123-456789abcdef";
const names = new Map<string, string>();

/** What differs from run to run has a name by the order in which it comes. */
function plain(text: string): string {
  return text
    .replaceAll(base, "/base")
    .replace(/\b(run|bc)-[0-9a-f]{8}-[0-9a-f-]{27}/g, (id, kind) => {
      if (!names.has(id))
        names.set(id, `${kind}-${[...names.values()].filter((each) => each.startsWith(kind)).length + 1}`);
      return names.get(id)!;
    })
    .replace(/\b1[67]\d{11}\b|"20\d\d-\d\d-\d\dT[\d:.]+Z"/g, "TIME")
    .replace(/("durationMs"):\d+/g, "$1:MS")
    .replace(/20\d\d-\d\d-\d\d/g, "DAY")
    .replace(/(is not JSON): .*?"}/g, '$1: …"}');
}

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const exchange: Exchange = {
    outgoing: undefined as never,
    body: body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body),
    signal: new AbortController().signal,
    isSent: false,
  };
  const response = await app.request(path, { method, headers }, exchange);
  const text = await response.text();
  const more = ["allow", "content-disposition"].flatMap((name) => response.headers.get(name) ?? []);
  const shown = [response.status, ...more, text.length > 1500 ? `${text.slice(0, 1500)}…` : text].join(" ");
  said.push(plain(`${method} ${path}${body === undefined ? "" : ` ${JSON.stringify(body)}`}\n  ${shown}`));
  const answer = text.startsWith("{") ? JSON.parse(text) : text;
  isAsDocumented(method, path.split("?")[0]!, response.status, answer);
  return answer;
}

/** A field that the document does not name is left out by its schema, and differs. */
function isAsDocumented(method: string, path: string, status: number, answer: unknown): void {
  const route = routes.find(
    (each) =>
      each.method === method.toLowerCase() && new RegExp(`^${each.path.replace(/:[a-zA-Z]+/g, "[^/]+")}$`).test(path),
  );
  const schema = route?.replies[status]?.schema;
  if (schema) expect(v.parse(schema, answer), `${method} ${path}`).toEqual(answer);
  else if (route && status < 400) expect(Object.keys(route.replies), `${method} ${path}`).toContain(String(status));
}

async function hosted(run: string): Promise<Lease> {
  return (await fleet.lease({ worker: "test", ttlMs: 60_000, run }))!;
}

describe("every route", () => {
  it("the OpenAPI document says of every route what it takes and answers", async () => {
    const { paths, ...document } = JSON.parse(await (await app.request("/openapi.json", {}, {} as Exchange)).text());
    const rows = Object.entries<Record<string, any>>(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, summary, parameters, requestBody, responses }]) =>
        [
          `${method.toUpperCase()} ${path} ${operationId}: ${summary}`,
          ...parameters.map((each: unknown) => `  ${JSON.stringify(each)}`),
          ...(requestBody ? [`  body ${JSON.stringify(requestBody)}`] : []),
          ...Object.entries<any>(responses).map(([status, { description, content }]) => {
            const [type, { schema }] = Object.entries<any>(content ?? { "-": {} })[0]!;
            const isError = Object.keys(schema?.properties ?? {}).join() === "error";
            return `  ${status} ${description}: ${isError ? "error" : schema ? `${type} ${JSON.stringify(schema)}` : "nothing"}`;
          }),
        ].join("\n"),
      ),
    );
    const text = `${JSON.stringify(document)}\n${rows.join("\n")}\n`;
    await expect(text).toMatchFileSnapshot(join(import.meta.dirname, "open-api.txt"));
  });

  it("every route answers as the OpenAPI document says", async () => {
    await ask("GET", "/v1/me");
    await ask("GET", "/v1/agents");
    await ask("GET", "/nowhere");
    await ask("PUT", "/v1/agents");
    await ask("DELETE", "/v1/me");

    // Agents, as other programs know them.
    await ask("POST", "/v1/agents", "no json");
    await ask("POST", "/v1/agents", {});
    await ask("POST", "/v1/agents", { prompt: { text: "" }, workspace });
    await ask("POST", "/v1/agents", { prompt: { text: "go" } });
    await ask("POST", "/v1/agents", { prompt: { text: "go" }, workspace: "relative" });
    await ask("POST", "/v1/agents", { prompt: { text: "go" }, workspace: base });
    await ask("POST", "/v1/agents", { prompt: { text: "go" }, workspace, pool: "gpu" });
    await ask("POST", "/v1/agents", { prompt: { text: "go" }, workspace, unheard: 1 });
    await ask("POST", "/v1/agents", { prompt: { text: "go" }, workspace, cli: "emacs" });
    await ask("POST", "/v1/agents", { prompt: { text: "go" }, workspace, agentId: "mine" });
    await ask("POST", "/v1/agents", { prompt: { text: "go" }, workspace, ephemeral: true });
    const agentId = "bc-01234567-89ab-cdef-0123-456789abcdef";
    const made = { prompt: { text: "go" }, workspace, agentId, name: "first", mode: "plan", force: true };
    const { run } = await ask("POST", "/v1/agents", made);
    await ask("POST", "/v1/agents", made);
    await ask("GET", `/v1/agents/${agentId}`);
    await ask("GET", "/v1/agents/bc-none");
    await ask("GET", `/v1/agents/${agentId}/runs/${run.id}`);
    await ask("GET", `/v1/agents/${agentId}/runs/run-none`);
    await ask("POST", `/v1/agents/${agentId}/archive`);
    await ask("POST", `/v1/agents/${agentId}/runs`, { prompt: { text: "more" } });
    await ask("DELETE", `/v1/agents/${agentId}`);

    // It is carried out.
    const lease = await hosted(run.id);
    const usage = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 1, cacheWriteTokens: 0 };
    const question = { id: "q1", hash: "h1", type: "trust", folder: "/w" } as unknown as Question;
    const entries: Entry[] = [
      { type: "event", event: { type: "init", sessionId: "s-1", model: "m", cwd: workspace } as never },
      { type: "event", event: { type: "user", text: "go" } as never },
      { type: "question", question },
    ];
    let at = await fleet.append(lease, entries, lease.position);
    await ask("GET", `/api/runs/${run.id}`);
    await ask("GET", "/api/questions");
    await ask("POST", `/api/runs/${run.id}/answer`, { question: "q1", hash: "other", answer: { type: "yes" } });
    await ask("POST", `/api/runs/${run.id}/answer`, { question: "q1", hash: "h1", answer: { type: "maybe" } });
    await ask("POST", `/api/runs/${run.id}/answer`, { question: "q1", hash: "h1" });
    await ask("POST", `/api/runs/${run.id}/answer`, { question: "q1", hash: "h1", answer: { type: "yes" } });
    await ask("POST", `/api/runs/${run.id}/answer`, { question: "q1", hash: "h1", answer: { type: "yes" } });
    for (const message of [
      { type: "prompt", prompt: { text: "and then" }, id: "p1" },
      { type: "prompt", prompt: {} },
      { type: "steer", text: "left", id: "p2" },
      { type: "steer", text: "" },
      { type: "interrupt", reason: "enough" },
      { type: "mode", mode: "plan" },
      { type: "mode", mode: "force" },
      { type: "background", call: "c1", id: "b1" },
      { type: "hello", version: 1, can: [] },
      { type: "run_call", call: "c1" },
      { type: "answer", question: "q1", hash: "h1", answer: { type: "yes" } },
      { type: "of tomorrow" },
    ])
      await ask("POST", `/api/runs/${run.id}/messages`, message);
    const heard: unknown[] = [];
    const enough = new AbortController();
    for await (const { message } of fleet.receive(lease, 0, enough.signal)) {
      heard.push(message);
      if (message.type === "background") break;
    }
    enough.abort();
    said.push(`the host heard\n${heard.map((each) => `  ${JSON.stringify(each)}`).join("\n")}`);
    at = await fleet.append(lease, [{ type: "event", event: { type: "text_end", text: "done" } }], at);
    const end = { outcome: "finished", text: "done", durationMs: 5, turns: 1, usage, costUsd: 0.25 } as const;
    await fleet.finish(lease, end, at, Number.MAX_SAFE_INTEGER);
    await ask("GET", `/api/runs/${run.id}`);
    await ask("GET", `/api/runs/${run.id}/log?from=1`);
    await ask("GET", `/api/runs/${run.id}/log?from=x`);
    await ask("GET", `/api/runs/${run.id}/changes`);
    await ask("GET", `/api/runs/${run.id}/patch`);
    await ask("GET", "/api/runs/run-none");
    await ask("POST", `/api/runs/${run.id}/messages`, { type: "steer", text: "too late" });
    await ask("POST", `/api/runs/${run.id}/stop`);
    await ask("POST", `/v1/agents/${agentId}/runs/${run.id}/cancel`);
    await ask("GET", `/v1/agents/${agentId}/usage`);
    await ask("GET", `/v1/agents/${agentId}/runs/${run.id}`);

    // The next turns.
    const next = await ask("POST", `/v1/agents/${agentId}/runs`, { prompt: { text: "more" } });
    await ask("POST", `/v1/agents/${agentId}/runs/${next.run.id}/cancel`);
    await ask("GET", `/v1/agents/${agentId}/runs?limit=1`);
    await ask("GET", `/v1/agents/${agentId}/runs?limit=0`);
    await ask("GET", `/v1/agents/${agentId}/runs?limit=101`);
    const third = await ask("POST", `/api/runs/${run.id}/follow-up`, {
      prompt: { text: "third" },
      model: "other",
      force: false,
    });
    await ask("POST", `/api/runs/${run.id}/follow-up`, { prompt: { text: "" } });
    await ask("POST", `/api/runs/${third.id}/stop`);
    await ask("POST", `/v1/agents/${agentId}/archive`);
    await ask("POST", `/v1/agents/${agentId}/runs`, { prompt: { text: "no more" } });
    await ask("GET", "/v1/agents");
    await ask("GET", "/v1/agents?includeArchived=false");
    await ask("POST", `/v1/agents/${agentId}/unarchive`);
    await ask("GET", "/v1/agents?limit=1");
    await ask("DELETE", `/v1/agents/${agentId}`);
    await ask("GET", `/v1/agents/${agentId}`);

    // Runs of the studio.
    await ask("POST", "/api/runs", { prompt: { text: "go" }, workspace, trust: true });
    await ask("POST", "/api/runs", { prompt: { text: "go" }, workspace, session: { id: "../x" } });
    await ask("POST", "/api/runs", {
      prompt: { text: "go", images: Array(6).fill({ mime: "image/png", base64: "A" }) },
      workspace,
    });
    await ask("POST", "/api/runs", { prompt: { text: "go" }, workspace, limits: { maxTurns: -1 } });
    await ask("POST", "/api/runs", { prompt: { text: "go" }, workspace, effort: "huge" });
    const studio = {
      cli: "claude",
      prompt: { text: "look", images: [{ mime: "image/png", base64: "AA" }] },
      workspace,
    };
    const fourth = await ask("POST", "/api/runs", {
      ...studio,
      name: "n",
      session: { id: "s-1", fork: true },
      model: "m",
    });
    await ask("GET", "/api/runs");
    await ask("GET", "/api/runs?state=finished");
    await ask("GET", "/api/runs?state=odd");
    await ask("POST", `/api/runs/${fourth.id}/stop`);

    // Workspaces and files.
    await ask("GET", "/api/workspaces");
    await ask("POST", "/api/workspaces/trust", { workspace: base });
    await ask("POST", "/api/workspaces/trust", { workspace: join(base, "here") });
    await ask("GET", "/api/workspaces");
    await ask("POST", "/api/files/list", { workspace });
    await ask("POST", "/api/files/list", { workspace, path: "src" });
    for (const path of ["..", "../here", "/etc", "out", "a.txt", "none", "a\0b"])
      await ask("POST", "/api/files/list", { workspace, path });
    await ask("POST", "/api/files/list", { workspace: base });
    for (const path of ["a.txt", "src", ".env", "out/passwd", "../work/a.txt", "none"])
      await ask("POST", "/api/files/read", { workspace, path });
    const large = await ask("POST", "/api/files/read", { workspace, path: "large.txt" });
    expect([large.text.length, large.bytes, large.isCut]).toEqual([2 * 1024 * 1024, 2 * 1024 * 1024 + 1, true]);

    // Sessions.
    await ask("GET", "/api/sessions");
    await ask("GET", "/api/sessions?limit=x");
    await ask("GET", "/api/sessions?agent=emacs");
    await ask("GET", "/api/sessions/claude/none");
    await ask("GET", "/api/sessions/emacs/none");
    await ask("GET", "/api/sessions/claude/none/events?last=0");
    await ask("GET", "/api/sessions/claude/none?pictures=2");
    await ask("GET", "/api/sessions/cursor/01234567-89ab-cdef-0123-456789abcdef/export?format=pdf");
    await ask("PATCH", "/api/sessions/claude/s", { title: "t" });
    await ask("PATCH", "/api/sessions/cursor/01234567-89ab-cdef-0123-456789abcdef", { title: " " });
    await ask("DELETE", "/api/sessions/cursor/01234567-89ab-cdef-0123-456789abcdef", {});
    await ask("POST", "/api/sessions/summaries", { sessions: [{ tool: "claude", id: "none", updatedAt: 1 }] });
    await ask("POST", "/api/sessions/summaries", { sessions: [{ tool: "claude", id: "..", updatedAt: 1 }] });
    const chat = createChat({ configDir, workspace }, { id: sessionId, mode: "default", model: "m" });
    const at2026 = Date.UTC(2026, 5, 17);
    const call = { callId: "c", tool: "edit", args: { path: "a.txt" }, at: at2026 };
    chat.record({ type: "user", text: "go on", at: at2026 });
    chat.append({ role: "user", parts: [{ type: "text", text: "go on" }] });
    chat.record({ type: "tool_start", ...call });
    const value = { path: "a.txt", linesAdded: 1, linesRemoved: 0, diffString: "+b" };
    chat.record({ type: "tool_end", ...call, outcome: { kind: "success", value } });
    chat.append({ role: "assistant", parts: [{ type: "text", text: "All done." }] });
    chat.record({ type: "text_end", text: "All done.", at: at2026 });
    chat.record({ type: "done", text: "All done.", durationMs: 5, apiDurationMs: 1, usage, at: at2026 + 5 });
    chat.close();
    const session = `/api/sessions/cursor/${sessionId}`;
    await ask("GET", "/api/sessions");
    for (const query of ["state=failed", "agent=courser", "agent=claude", "project=/w", "search=done", "limit=1"])
      await ask("GET", `/api/sessions?${query}`);
    await ask("GET", session);
    await ask("GET", `${session}/events?last=2`);
    await ask("GET", `${session}/export?format=markdown`);
    await ask("POST", "/api/sessions/summaries", { sessions: [{ tool: "cursor", id: sessionId, updatedAt: 1 }] });
    await ask("PATCH", session, { title: "Its own" });
    await ask("GET", "/api/sessions");
    await ask("DELETE", session, {});
    await ask("GET", "/api/sessions");
    await ask("GET", "/api/days?count=1");
    await ask("GET", "/api/days?count=0");
    await ask("GET", "/api/stream?runs=a b");
    await ask("GET", `/v1/agents/${agentId}/runs/x/stream`);
    await expect(`${said.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "routes.txt"));
  });
});
