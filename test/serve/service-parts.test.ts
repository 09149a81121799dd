// The service by itself: what its HTTP server takes, refuses and counts, the files of the page, when it ends, and a second one.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ServeContext } from "../../src/serve/context.ts";
import type { Fleet } from "../../src/serve/fleet.ts";
import { hostNames } from "../../src/serve/http/guard.ts";
import { readPage } from "../../src/serve/http/page.ts";
import type { App, Exchange } from "../../src/serve/http/route.ts";
import { type HttpService, listen } from "../../src/serve/http/server.ts";
import { runningService, runService } from "../../src/serve/service.ts";
import { serviceFile } from "../../src/store/service-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "courser-service-"));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const token = "t".repeat(43);
type Answer = { status: number; headers: Record<string, unknown>; body: Buffer };

function ask(
  port: number,
  path: string,
  { method = "GET", headers = {}, body }: { method?: string; headers?: object; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { Authorization: `Bearer ${token}`, ...headers };
    const sent = request({ host: "127.0.0.1", port, path, method, headers: all, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("the HTTP server", () => {
  let http: HttpService;
  let asked: { request: Request; exchange: Exchange }[];
  let answers: number;
  let reply: (request: Request, exchange: Exchange) => Response | Promise<Response>;

  const open = (more: Partial<Parameters<typeof listen>[0]> = {}) =>
    listen({
      ...{ host: "127.0.0.1", port: 0, token, hosts: hostNames("127.0.0.1"), page: readPage(folder) },
      app: {
        fetch: async (request: Request, exchange: Exchange) => {
          asked.push({ request, exchange });
          return reply(request, exchange);
        },
      } as unknown as App,
      onAnswered: () => void answers++,
      ...more,
    });

  beforeEach(async () => {
    [asked, answers] = [[], 0];
    reply = () => new Response("hi", { headers: { "x-own": "1" } });
    http = await open();
  });
  afterEach(() => http.close());

  it("the HTTP server passes on path, body and last event id, and counts a request while it is answered", async () => {
    const during: number[] = [];
    reply = () => {
      during.push(http.open);
      return new Response("hi", { status: 201, headers: { "x-own": "1" } });
    };
    const json = { "Content-Type": "application/json; charset=utf-8", "Last-Event-ID": "0" };
    const { status, headers, body } = await ask(http.port, "/v1/x?a=b", {
      method: "POST",
      headers: json,
      body: '{"a":1}',
    });
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect([status, headers["x-own"], headers["content-length"], body.toString()]).toEqual([201, "1", "2", "hi"]);
    const [{ request: got, exchange }] = asked as [(typeof asked)[number]];
    expect([got.method, got.url, got.headers.get("last-event-id"), exchange.body]).toEqual([
      "POST",
      "http://service/v1/x?a=b",
      "0",
      '{"a":1}',
    ]);
    await vi.waitFor(() => expect([during, http.open, answers]).toEqual([[1], 0, 1]));
    await ask(http.port, "/v1/x");
    expect(asked[1]!.request.headers.has("last-event-id")).toBe(false);
  });

  it.each([
    [
      "a GET with a body",
      { headers: { "Content-Length": "1" }, body: "x" },
      400,
      "A GET request must not have a body.",
    ],
    ["a form", { method: "POST", headers: { "Content-Type": "text/plain" }, body: "x" }, 415, "The body must be JSON"],
    [
      "a type that only begins like JSON",
      { method: "POST", headers: { "Content-Type": "application/jsonp" }, body: "x" },
      415,
      "The body must be JSON",
    ],
    [
      "chunks without a type",
      { method: "POST", headers: { "Transfer-Encoding": "chunked" }, body: "x" },
      415,
      "The body must be JSON",
    ],
    ["a wrong token", { headers: { Authorization: "Bearer no" } }, 401, ""],
    ["a foreign host", { headers: { Host: "evil.example" } }, 403, ""],
  ])("the HTTP server refuses %s", async (_what, given, status, message) => {
    const answer = await ask(http.port, "/v1/x", given);
    expect(answer.status).toBe(status);
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    expect(JSON.parse(answer.body.toString()).error.message).toContain(message);
    expect(asked).toEqual([]);
  });

  it("the HTTP server accepts a POST without a body and type", async () => {
    expect((await ask(http.port, "/v1/x", { method: "POST", headers: { "Content-Length": "0" } })).status).toBe(200);
    expect(asked[0]!.exchange.body).toBe("");
  });

  it.each([
    ["Content-Length", 24 * 1024 * 1024, 200],
    ["Content-Length", 24 * 1024 * 1024 + 1, 413],
    ["Transfer-Encoding", 24 * 1024 * 1024 + 1, 413],
  ])("the HTTP server (%s) answers a request body of %d bytes with status %d", async (how, length, status) => {
    const headers = { "Content-Type": "application/json", [how]: how === "Content-Length" ? length : "chunked" };
    const answer = await ask(http.port, "/v1/x", { method: "POST", headers, body: "x".repeat(length) });
    expect([answer.status, asked.length]).toEqual([status, status === 200 ? 1 : 0]);
    if (status === 413) expect(answer.body.toString()).toContain("at most 25165824 bytes");
  });

  it.each([
    [1400, "gzip", undefined],
    [1401, "deflate, gzip;q=0.5", "gzip"],
    [1401, "br", undefined],
    [1401, undefined, undefined],
  ])(
    "the HTTP server compresses an answer of %d bytes for a client that accepts %s, or not",
    async (length, encoding, expected) => {
      reply = () => new Response("x".repeat(length));
      const { headers, body } = await ask(http.port, "/v1/x", {
        headers: encoding ? { "Accept-Encoding": encoding } : {},
      });
      expect([headers["content-encoding"], headers["vary"]]).toEqual([expected, expected && "Accept-Encoding"]);
      expect((expected ? gunzipSync(body) : body).toString()).toBe("x".repeat(length));
      expect(headers["content-length"]).toBe(String(body.length));
    },
  );

  it("the code that answers a request learns that its client left", async () => {
    const left = new Promise<void>((resolve) => {
      reply = (_request, { signal }) =>
        new Promise((answer) =>
          signal.addEventListener("abort", () => {
            resolve();
            answer(new Response(""));
          }),
        );
    });
    const leaving = request({
      host: "127.0.0.1",
      port: http.port,
      path: "/v1/x",
      headers: { Authorization: `Bearer ${token}` },
      agent: false,
    });
    leaving.on("error", () => {});
    leaving.end();
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    expect(http.open).toBe(1);
    leaving.destroy();
    await left;
    await vi.waitFor(() => expect(http.open).toBe(0));
  });

  it.each([
    [
      "an upgrade",
      "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      "HTTP/1.1 403 Refused",
    ],
    ["what is no HTTP", "no HTTP\r\n\r\n", "HTTP/1.1 400 Bad Request"],
  ])("the HTTP server refuses %s and closes the connection", async (_what, sent, line) => {
    const socket = connect(http.port, "127.0.0.1", () => socket.write(sent));
    let got = "";
    for await (const chunk of socket) got += chunk;
    expect(got.split("\r\n")[0]).toBe(line);
    expect(got).toContain("Connection: close");
  });

  it("a bug while answering a request is not shown to the client, and the service goes on", async () => {
    reply = () => {
      throw new Error("bug");
    };
    expect((await ask(http.port, "/v1/x")).status).toBe(400);
    reply = () => new Response("hi");
    expect((await ask(http.port, "/v1/x")).status).toBe(200);
  });

  it("the HTTP server says what to type when its port is in use or its address is not of this machine", async () => {
    await expect(open({ port: http.port })).rejects.toThrow(
      `The port ${http.port} is in use. Choose another: serve --port <n>`,
    );
    await expect(open({ host: "192.0.2.1" })).rejects.toThrow(/^The service cannot listen on 192\.0\.2\.1:0: /);
  });

  it("closing the HTTP server ends idle connections and streams", async () => {
    const agent = new Agent({ keepAlive: true });
    reply = (_request, exchange) => {
      exchange.isSent = true;
      exchange.outgoing.writeHead(200).write("begun");
      return new Response("");
    };
    const ended = new Promise((resolve) => {
      const stream = request(
        { host: "127.0.0.1", port: http.port, path: "/v1/x", agent, headers: { Authorization: `Bearer ${token}` } },
        (response) => {
          response.once("data", () => void http.close());
          response.on("error", () => {});
          response.on("close", () => resolve("closed"));
        },
      );
      stream.on("error", () => {});
      stream.end();
    });
    expect(await ended).toBe("closed");
    agent.destroy();
  });
});

describe("the files of the page", () => {
  beforeEach(() => {
    for (const name of ["index.html", "main-ABCD1234.js", "main.js", "icon.svg", "secret.json"])
      writeFileSync(join(folder, name), name);
  });

  it.each([
    ["/", 200],
    ["/new", 200],
    ["/inbox", 200],
    ["/settings", 200],
    ["/runs/run-1", 200],
    ["/runs/run-1/files", 200],
    ["/sessions/cursor/a-1/replay", 200],
    ["/compare/cursor/a", 200],
    ["/compare/cursor/a/claude/b", 200],
    ["/runs", 404],
    ["/runs/run-1/other", 404],
    ["/compare", 404],
    ["/apiary", 404],
    ["/api", undefined],
    ["/api/x", undefined],
    ["/v1", undefined],
    ["/v1/runs", undefined],
    ["/metrics", undefined],
    ["/index.html", undefined],
    ["/secret.json", undefined],
    ["/../secret.json", undefined],
  ])("the studio's server answers the address %s with its page and status %s", (path, status) => {
    const heads: unknown[] = [];
    const response = { writeHead: (...head: unknown[]) => heads.push(head), end: () => {} } as never;
    const isPage = readPage(folder).send({ url: `${path}?a=b`, method: "GET", headers: {} } as never, response);
    expect([isPage, (heads[0] as [number])?.[0]]).toEqual([status !== undefined, status]);
  });

  it.each([
    [
      "GET",
      "/main-ABCD1234.js",
      {},
      {
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Type": "text/javascript; charset=utf-8",
        "Content-Length": 16,
      },
    ],
    ["GET", "/main.js", {}, { "Content-Length": 7 }],
    [
      "HEAD",
      "/icon.svg",
      { "accept-encoding": "br, gzip" },
      { "Content-Type": "image/svg+xml", "Content-Encoding": "gzip", Vary: "Accept-Encoding" },
    ],
  ])("the studio's server sends files with their headers: %s %s", (method, url, headers, expected) => {
    const heads: Record<string, unknown>[] = [];
    const bodies: unknown[] = [];
    const response = {
      writeHead: (_status: number, head: Record<string, unknown>) => heads.push(head),
      end: (body: unknown) => bodies.push(body),
    };
    expect(readPage(folder).send({ url, method, headers } as never, response as never)).toBe(true);
    expect(heads[0]).toMatchObject(expected);
    expect("Content-Encoding" in heads[0]!).toBe("Content-Encoding" in expected);
    expect(/immutable/.test(String(heads[0]!["Cache-Control"]))).toBe("Cache-Control" in expected);
    expect(bodies[0] === undefined).toBe(method === "HEAD");
  });

  it("only GET and HEAD requests get the studio's page", () => {
    expect(readPage(folder).send({ url: "/", method: "POST", headers: {} } as never, {} as never)).toBe(false);
    rmSync(join(folder, "index.html"));
    expect(readPage(folder).fileAt("/")).toBeUndefined();
  });
});

describe("a running service", () => {
  const fleetUrl = "nats://h";
  const stop = () => new AbortController();

  function context(prune: Fleet["prune"] = async () => 0): ServeContext {
    const fleet = { prune, runs: async () => [], questions: async () => [] } as unknown as Fleet;
    const pageDir = join(folder, "page");
    mkdirSync(pageDir, { recursive: true });
    return {
      fleet,
      fleetUrl,
      configDir: folder,
      env: { HOME: folder },
      program: [],
      most: 1,
      version: "9",
      pageDir,
      startedIn: folder,
    };
  }

  function started(more: object = {}, given = context()) {
    const ending = stop();
    let ended = false;
    type Address = { host: string; port: number; token: string };
    let [listens, fails] = [(_address: Address) => {}, (_error: unknown) => {}];
    const listening = new Promise<Address>((resolve, reject) => ([listens, fails] = [resolve, reject]));
    const done = runService(given, {
      host: "127.0.0.1",
      port: 0,
      signal: ending.signal,
      onListening: listens,
      ...more,
    }).then(() => (ended = true));
    done.catch(fails);
    return { listening, done, end: () => ending.abort(), isEnded: () => ended };
  }
  const file = () => serviceFile(folder, fleetUrl);

  it("a running service records where it runs, and a second one is refused and says how to stop the first", async () => {
    const pruned: number[] = [];
    const one = started(
      {},
      context(async (time) => pruned.push(time)),
    );
    const { port, token: own } = await one.listening;
    expect(JSON.parse(readFileSync(file(), "utf8"))).toMatchObject({
      pid: process.pid,
      host: "127.0.0.1",
      port,
      token: own,
      version: "9",
    });
    expect(own).toMatch(/^[\w-]{43}$/);
    expect(await runningService(file())).toMatchObject({ port });
    await expect(started().listening).rejects.toThrow(
      `A service of yours is already running (process ${process.pid}, port ${port}). Use it, or stop it first: kill ${process.pid}`,
    );
    expect(Date.now() - pruned[0]!).toBeGreaterThanOrEqual(30 * 86_400_000);
    expect(Date.now() - pruned[0]!).toBeLessThan(30 * 86_400_000 + 60_000);
    one.end();
    await one.done;
    expect([existsSync(file()), await runningService(file())]).toEqual([false, undefined]);
    await expect(ask(port, "/v1/me")).rejects.toThrow("ECONNREFUSED");
  });

  it("a service that is stopped before it has started ends", async () => {
    await runService(context(), { host: "127.0.0.1", port: 0, signal: AbortSignal.abort(), onListening: () => {} });
    expect(existsSync(file())).toBe(false);
  });

  it("after a killed service, the next one has its address and token, unless flags say otherwise", async () => {
    const one = started();
    const was = await one.listening;
    one.end();
    await one.done;
    const killed = (more = {}) =>
      writeFileSync(file(), JSON.stringify({ ...was, pid: 2 ** 22 + 1, startedAt: 0, version: "9", ...more }));
    const next = async (more: object = {}) => {
      const service = started(more);
      const found = await service.listening;
      service.end();
      await service.done;
      return found;
    };
    killed();
    expect(await next()).toEqual(was);
    killed();
    expect(await next({ token: "given" })).toEqual({ ...was, token: "given" });
    killed({ host: "localhost" });
    expect((await next()).token).not.toBe(was.token);
    const taken = started();
    const { port } = await taken.listening;
    rmSync(file());
    killed({ port });
    const other = await next();
    expect(other.port).not.toBe(port);
    expect(other.token).not.toBe(was.token);
    killed({ port });
    await expect(next({ port })).rejects.toThrow(`The port ${port} is in use`);
    taken.end();
    await taken.done;
  });

  it("with --until-idle the service ends a minute after the last request, and not before", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const service = started({ untilIdle: true });
    const { port, token: own } = await service.listening;
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { interval: 1 });
    vi.advanceTimersByTime(59_000);
    await ask(port, "/v1/me", { headers: { Authorization: `Bearer ${own}` } });
    vi.advanceTimersByTime(59_999);
    await new Promise(setImmediate);
    expect(service.isEnded()).toBe(false);
    vi.advanceTimersByTime(1);
    await service.done;
    expect([service.isEnded(), existsSync(file())]).toEqual([true, false]);
  });

  it("with --until-idle a request that is still being answered keeps the service running", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const service = started({ untilIdle: true });
    const { port, token: own } = await service.listening;
    const headers = { Authorization: `Bearer ${own}`, "Content-Type": "application/json", "Content-Length": 9 };
    const slow = request({ host: "127.0.0.1", port, path: "/v1/runs", method: "POST", headers, agent: false });
    slow.on("error", () => {});
    slow.write("{");
    // What comes later is answered, so that the slow one has arrived.
    await ask(port, "/v1/me", { headers: { Authorization: `Bearer ${own}` } });
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { interval: 1 });
    vi.advanceTimersByTime(60_000);
    await new Promise(setImmediate);
    expect([service.isEnded(), vi.getTimerCount()]).toEqual([false, 1]);
    service.end();
    await service.done;
    slow.destroy();
  });

  it("a service starts run hosts until it is stopped, and is not idle while a run is open", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let [count, leases] = [1, 0];
    let wake = () => {};
    const given = context();
    const local = {
      ...given.fleet,
      lease: async () => void leases++,
      waiting: async () => ({ count, hosted: 0 }),
      changed: (signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        }),
    } as unknown as Fleet;
    const service = started({ untilIdle: true }, { ...given, fleet: local });
    await service.listening;
    await vi.waitFor(() => expect(leases).toBe(1), { interval: 1 });
    expect(vi.getTimerCount()).toBe(0);
    count = 0;
    await new Promise(setImmediate);
    wake();
    await vi.waitFor(() => expect([leases, vi.getTimerCount()]).toEqual([2, 1]), { interval: 1 });
    vi.advanceTimersByTime(60_000);
    await service.done;
    expect(existsSync(file())).toBe(false);
  });

  it("without --until-idle the service does not end by itself", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const service = started();
    await service.listening;
    vi.advanceTimersByTime(3_600_000);
    await new Promise(setImmediate);
    expect(service.isEnded()).toBe(false);
    service.end();
    await service.done;
  });
});
