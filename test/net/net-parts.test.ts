// The parts of the fetcher by themselves, at their edges: kinds of errors, headers, kept connections, streams, proxies, probes.
import { createServer as createTcp, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Headers as OurHeaders } from "../../src/net/headers.ts";
import { closeIdle, closeStale, noteKept } from "../../src/net/kept-connections.ts";
import { findNetError, NetError, netErrorKind } from "../../src/net/net-error.ts";
import { orAborted } from "../../src/net/or-aborted.ts";
import { probe } from "../../src/net/probe.ts";
import { probeNats } from "../../src/net/probe-nats.ts";
import { proxyFor } from "../../src/net/proxy.ts";
import { withReaders } from "../../src/net/response.ts";
import { ReadableStream } from "../../src/net/streams.ts";
import { openServers } from "../support/open-servers.ts";

const { listen, close } = openServers();
afterEach(async () => {
  vi.useRealTimers();
  await close();
});

const failureOf = (asked: Promise<unknown>): Promise<any> =>
  asked.then(
    () => "no failure",
    (error) => error,
  );

it.each([
  ["ENOTFOUND EAI_AGAIN EAI_FAIL ENODATA", "dns"],
  ["ETIMEDOUT ESOCKETTIMEDOUT", "timeout"],
  ["ECONNREFUSED EHOSTUNREACH ENETUNREACH EADDRNOTAVAIL EHOSTDOWN ENETDOWN EACCES EPERM", "refused"],
  ["ERR_TLS_X ERR_SSL_X CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN", "tls"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_OSSL_X EPROTO HOSTNAME_MISMATCH INVALID_CA", "tls"],
  ["ECONNRESET EPIPE XCERT_ ECONNREFUSEDX", "reset"],
])("the error codes %s are of the kind %s", (codes, kind) => {
  for (const code of codes.split(" ")) expect([code, netErrorKind({ code })]).toEqual([code, kind]);
});

it("an error without a code counts as a broken connection", () => {
  for (const error of [undefined, null, {}, new Error("x"), { code: 7 }]) expect(netErrorKind(error)).toBe("reset");
});

it("the search for a NetError goes through seven wrapping errors, and not through eight", () => {
  const wrapped = (error: unknown, times: number): unknown =>
    times === 0 ? error : wrapped(new Error("outer", { cause: error }), times - 1);
  const inner = new NetError("dns", "m", { host: "h:1", proxy: "p:2" });
  expect([inner.name, inner.kind, inner.host, inner.proxy, inner.broke]).toEqual([
    "NetError",
    "dns",
    "h:1",
    "p:2",
    undefined,
  ]);
  expect(findNetError(inner)).toBe(inner);
  expect(findNetError(wrapped(inner, 7))).toBe(inner);
  expect(findNetError(wrapped(inner, 8))).toBeUndefined();
  for (const other of [undefined, "text", wrapped("text", 2)]) expect(findNetError(other)).toBeUndefined();
});

it("our Headers class behaves like Node's", () => {
  const inits: any[] = [
    undefined,
    { A: "1", b: "2" },
    [["A", "1"] as const, ["a", "2"] as const],
    new Map([["X", "y"]]),
  ];
  for (const init of inits) {
    const [ours, nodes] = [new OurHeaders(init), new Headers(init)];
    for (const each of [ours, nodes]) {
      each.append("A", "3");
      each.set("New", "n");
      each.set("B", "changed");
      each.delete("X");
    }
    const seen = (headers: any) => {
      const visited: string[] = [];
      headers.forEach((value: string, name: string) => void visited.push(`${name}=${value}`));
      return [
        [...headers].sort(),
        [...headers.entries()].sort(),
        [...headers.keys()].sort(),
        [...headers.values()].sort(),
        visited.sort(),
        ["a", "B", "x", "none"].map((name) => [headers.get(name), headers.has(name)]),
      ];
    };
    expect(seen(ours)).toEqual(seen(nodes));
  }
  expect([...new OurHeaders({ a: undefined, b: "1" })]).toEqual([["b", "1"]]);
});

it("orAborted ends with the abort signal, at once if it was aborted before, and leaves no listener", async () => {
  const reason = new Error("stop");
  expect(await failureOf(orAborted(new Promise(() => {}), AbortSignal.abort(reason)))).toBe(reason);
  const stop = new AbortController();
  const waiting = failureOf(orAborted(new Promise(() => {}), stop.signal));
  stop.abort(reason);
  expect(await waiting).toBe(reason);
  const { signal } = new AbortController();
  const removed = vi.spyOn(signal, "removeEventListener");
  expect(await orAborted(Promise.resolve(7), signal)).toBe(7);
  expect((await failureOf(orAborted(Promise.reject(new Error("own")), signal))).message).toBe("own");
  await new Promise(setImmediate);
  expect(removed).toHaveBeenCalledTimes(2);
});

describe("kept connections by themselves", () => {
  const kept = (header: string | undefined, change: object = {}) => {
    const socket = Object.assign(new Duplex(), { readable: true, writable: true }, change);
    const destroyed = vi.spyOn(socket, "destroy");
    const answer = Object.assign(new Duplex(), {
      socket,
      headers: header === undefined ? {} : { "keep-alive": header },
    });
    noteKept(answer as never);
    answer.emit("end");
    return { socket, destroyed };
  };

  it.each([
    [undefined, 50_000],
    ["timeout=5", 4000],
    ["max=100, Timeout=5", 4000],
    ["max=9,timeout=5", 4000],
    ["xtimeout=5", 50_000],
    ["timeout=1", 0],
  ])("after the header Keep-Alive: %s a connection is used for %i ms", async (header, ms) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    for (const [later, isClosed] of [
      [ms - 1, ms === 0],
      [ms, true],
      [-1, true],
    ] as const) {
      const { socket, destroyed } = kept(header);
      vi.setSystemTime(Date.now() + later);
      await closeStale({ freeSockets: { a: undefined, b: [socket] } } as never);
      expect([later, destroyed.mock.calls.length > 0]).toEqual([later, isClosed]);
    }
  });

  it("our fetch uses no kept connection that is half-closed or unknown, and can close all", async () => {
    for (const change of [{ readable: false }, { writable: false }]) {
      const { socket, destroyed } = kept(undefined, change);
      await closeStale({ freeSockets: { a: [socket] } } as never);
      expect(destroyed).toHaveBeenCalled();
    }
    const unknown = Object.assign(new Duplex(), { readable: true, writable: true });
    const destroyed = vi.spyOn(unknown, "destroy");
    await closeStale({ freeSockets: { a: [unknown] } } as never);
    expect(destroyed).toHaveBeenCalled();
    const fresh = [kept(undefined), kept(undefined)];
    closeIdle({ freeSockets: { a: [fresh[0]!.socket], b: [fresh[1]!.socket] } } as never);
    expect(fresh.map((each) => each.destroyed.mock.calls.length)).toEqual([1, 1]);
  });
});

it("reading a whole response body stops at 16 MiB", async () => {
  const most = 16 * 2 ** 20;
  const body = (length: number) =>
    withReaders(
      new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new Uint8Array(most));
          if (length > most) controller.enqueue(new Uint8Array(length - most));
          controller.close();
        },
      }),
    );
  expect((await body(most).arrayBuffer()).byteLength).toBe(most);
  expect((await failureOf(body(most + 1).text())).message).toBe("The answer has more than 16 MiB");
});

describe("our streams by themselves", () => {
  it("our ReadableStream is locked by one reader until that releases it", async () => {
    const stream = new ReadableStream<number>({ start: (controller) => controller.enqueue(1) });
    const reader = stream.getReader();
    expect(stream.locked).toBe(true);
    expect(() => stream.getReader()).toThrow("has a reader already");
    expect((await failureOf(stream.cancel())).message).toContain("which alone may cancel it");
    reader.releaseLock();
    expect(stream.locked).toBe(false);
    expect((await stream.getReader().read()).value).toBe(1);
  });

  it("our ReadableStream gives nothing after cancel(), and cancels its source once", async () => {
    const reasons: unknown[] = [];
    const stream = new ReadableStream<number>({
      start: (controller) => controller.enqueue(1),
      cancel: (reason) => void reasons.push(reason),
    });
    await stream.cancel("enough");
    await stream.cancel("again");
    expect([reasons, await stream.getReader().read()]).toEqual([["enough"], { done: true, value: undefined }]);
  });

  it("when its source fails, our ReadableStream drops queued values and rejects read() and cancel()", async () => {
    const stream = new ReadableStream<number>({
      start(controller) {
        controller.enqueue(1);
        controller.error(new Error("broken"));
        controller.error(new Error("later"));
        controller.close();
        controller.enqueue(2);
      },
    });
    expect((await failureOf(stream.cancel())).message).toBe("broken");
    expect((await failureOf(stream.getReader().read())).message).toBe("broken");
  });

  it("our ReadableStream tells its source how many values are wanted", async () => {
    const sizes: (number | null)[] = [];
    let own: ReadableStreamDefaultController<number>;
    const stream = new ReadableStream<number>({
      start(controller) {
        own = controller;
      },
    });
    const note = () => sizes.push(own.desiredSize);
    note();
    const reader = stream.getReader();
    const reads = [reader.read(), reader.read()];
    note();
    for (const value of [1, 2, 3, 4]) {
      own!.enqueue(value);
      note();
    }
    expect([sizes, (await Promise.all(reads)).map(({ value }) => value)]).toEqual([
      [0, 2, 1, 0, -1, -2],
      [1, 2],
    ]);
  });

  it("when a teed stream fails, both branches get the error", async () => {
    const [left, right] = new ReadableStream<number>({
      pull() {
        throw new Error("broken");
      },
    }).tee();
    for (const branch of [left, right]) expect((await failureOf(branch!.getReader().read())).message).toBe("broken");
  });
});

describe("proxies at their edges", () => {
  it.each([
    ["https://p.test", { protocol: "https:", hostname: "p.test", port: 443 }],
    ["http://p.test", { protocol: "http:", hostname: "p.test", port: 80 }],
    ["HTTP://p.test:8080/x", { protocol: "http:", hostname: "p.test", port: 8080 }],
    ["http://[fd00::1]:3128", { protocol: "http:", hostname: "fd00::1", port: 3128 }],
    ["http://u@p.test", { protocol: "http:", hostname: "p.test", port: 80, authorization: "Basic dTo=" }],
    ["http://:w@p.test", { protocol: "http:", hostname: "p.test", port: 80 }],
    [" p.test:1 ", { protocol: "http:", hostname: "p.test", port: 1 }],
  ])("the proxy setting %s is parsed", (value, expected) => {
    expect(proxyFor(new URL("https://api.test/"), { HTTPS_PROXY: value })).toEqual(expected);
  });

  it.each([
    ["http://api.test/", "api.test:80", true],
    ["http://api.test/", "api.test:443", false],
    ["http://api.test:8080/", "api.test:8080", true],
    ["https://api.test./", "api.test", true],
    ["https://api.test/", "api.test.", true],
    ["https://api.test/", ".", false],
    ["https://api.test/", "*.", false],
    ["https://10.1.2.3/", "*.3", false],
    ["https://10.1.2.3/", "10.1.2.3/32", true],
    ["https://10.1.2.3/", "10.1.2.3/33", false],
    ["https://10.1.2.3/", "10.1.2.4", false],
    ["https://10.1.2.3/", "10.1.2.3/", false],
    ["https://10.1.2.3/", "0.0.0.0/0", true],
    ["https://10.1.2.3/", "::/0", false],
    ["https://[fd00::5]/", "fd00::5/128", true],
    ["https://[fd00::5]/", "fd00::5/129", false],
    ["https://[fd00::5]/", "fd00::4", false],
    ["https://[fd00::5]/", "[fd00::5]:443", true],
    ["https://[fd00::5]/", "[fd00::5]:80", false],
    ["https://[fd00::5]/", "[fd00::]/8", true],
    ["https://api.test/", "10.0.0.0/8,API.test", true],
  ])("%s is excluded by NO_PROXY=%s, at its edges: %s", (url, list, isExcluded) => {
    expect(proxyFor(new URL(url), { ALL_PROXY: "p.test", NO_PROXY: list }) === undefined).toBe(isExcluded);
  });
});

describe("probes by themselves", () => {
  const talking = async (words: string, heard: string[] = []) => {
    const answer = (socket: Socket) =>
      socket
        .on("error", () => {})
        .once("data", (chunk) => {
          heard.push(String(chunk));
          socket.end(words);
        });
    return `http://127.0.0.1:${await listen(createTcp(answer))}`;
  };

  it.each([
    ["HTTP/1.1 200 OK", { ok: true, detail: "answers 'HTTP/1.1 200 OK'" }],
    ["HTTP/2 404", { ok: true, detail: "answers 'HTTP/2 404'" }],
    ...[301, 302, 307, 308].map((status) => [
      `HTTP/1.1 ${status} X`,
      { ok: true, doubt: true, next: expect.stringContaining("redirects are not followed") },
    ]),
    ["HTTP/1.1 304 X", { ok: true, detail: "answers 'HTTP/1.1 304 X'" }],
    ["HTTP/1.1 500 X", { ok: true, doubt: true, next: expect.stringContaining("doctor --online") }],
    ["HTTP/1.1 450 X", { ok: true, detail: "answers 'HTTP/1.1 450 X'" }],
    [
      "HTTP/1.1 407 X",
      { ok: false, detail: "answers 'HTTP/1.1 407 X': the proxy requires a login, http://user:password@host:port" },
    ],
    [`220 mail ${"x".repeat(70)}`, { ok: false, detail: `it does not speak HTTP: '220 mail ${"x".repeat(51)}'` }],
    ["", { ok: false, detail: "it closed the connection without an answer" }],
    ["4097 letters", { ok: false, detail: `it does not speak HTTP: '${"x".repeat(60)}'` }],
  ] as [string, object][])("a server that answers %s", async (words, found) => {
    const heard: string[] = [];
    const url = await talking(words === "4097 letters" ? "x".repeat(4097) : words && `${words}\r\n`, heard);
    const place = url.slice("http://".length);
    const [name, tcp, http, ...more] = await probe(`${url}/v1?a`, { env: {} });
    expect([name, tcp, more]).toEqual([
      { hop: "name", ok: true, detail: "127.0.0.1 is 127.0.0.1" },
      { hop: "tcp", ok: true, detail: `connected to ${place}` },
      [],
    ]);
    expect(http).toEqual({ hop: "http", detail: expect.any(String), ...found });
    expect(heard).toEqual([
      `HEAD /v1 HTTP/1.1\r\nHost: ${place}\r\nUser-Agent: courser-doctor\r\nConnection: close\r\n\r\n`,
    ]);
  });

  it.each([
    ["HTTP/1.1 200 Fine\r\n\r\n", "tls", expect.any(String)],
    ["HTTP/1.0 403 No\r\n\r\n", "proxy", "it answered 'HTTP/1.0 403 No'"],
    ["HTTP/1.1 407 X\r\n\r\n", "proxy", expect.stringMatching(/^it answered 'HTTP\/1.1 407 X': it requires a login/)],
    ["200\r\n", "proxy", "it answered '200'"],
  ])("a proxy that answers a CONNECT with %j", async (words, hop, detail) => {
    const heard: string[] = [];
    const url = await talking(words, heard);
    const hops = await probe("https://[fd00::1]/v1", { env: { HTTPS_PROXY: url.replace("//", "//me:pw@") } });
    expect(hops.at(-1)).toMatchObject({ hop, ok: false, detail });
    if (hop === "tls") expect(hops[2]).toEqual({ hop: "proxy", ok: true, detail: "opens a tunnel to [fd00::1]:443" });
    expect(hops[0]!.detail).toBe(`proxy ${url.slice("http://".length)} is 127.0.0.1`);
    expect(heard[0]).toBe(
      "CONNECT [fd00::1]:443 HTTP/1.1\r\nHost: [fd00::1]:443\r\nProxy-Authorization: Basic bWU6cHc=\r\n\r\n",
    );
  });

  it("the network probe reports a proxy for plain requests, and a refused connection", async () => {
    const url = await talking("HTTP/1.1 200 OK\r\n");
    expect((await probe("http://model.test/", { env: { http_proxy: url } })).map(({ detail }) => detail)).toEqual([
      `proxy ${url.slice(7)} is 127.0.0.1`,
      `connected to ${url.slice(7)}`,
      "plain requests go through it",
      "answers 'HTTP/1.1 200 OK'",
    ]);
    await close();
    expect((await probe(url, { env: {} })).at(-1)).toEqual({
      hop: "tcp",
      ok: false,
      detail: "nothing is listening there",
    });
    expect(await probe("no address", { env: {} })).toEqual([
      { hop: "name", ok: false, detail: expect.stringContaining("Invalid URL") },
    ]);
  });

  it("the network probe asks a NATS server at its usual port, and quotes another server's greeting in part", async () => {
    const { hops } = await probeNats("nats://127.0.0.1");
    expect(hops[1]).toMatchObject({ hop: "tcp", detail: expect.stringContaining("127.0.0.1:4222") });
    const port = await listen(createTcp((socket) => void socket.on("error", () => {}).write("x".repeat(65_537))));
    expect((await probeNats(`nats://127.0.0.1:${port}`)).hops[2]).toEqual({
      hop: "server",
      ok: false,
      detail: `it does not speak NATS: '${"x".repeat(60)}'`,
    });
    const named = await listen(createTcp((socket) => void socket.on("error", () => {}).end('INFO {"jetstream":1}\n')));
    expect((await probeNats(`tls://127.0.0.1:${named}`)).server).toEqual({
      version: "?",
      hasJetStream: false,
      needsTls: false,
      needsLogin: false,
    });
  });
});
