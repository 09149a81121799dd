// A request by itself, over a connection that the test holds: when time limits end, what a failure says, what is sent.
import { createServer as createTcp } from "node:net";
import { Duplex } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createFetch, type FetchOptions } from "../../src/net/fetch.ts";
import { guardedFetch } from "../../src/net/guarded.ts";
import { createServerFetch } from "../../src/net/server-fetch.ts";
import { rulesOf } from "../policy/fixture.ts";
import { openServers } from "../support/open-servers.ts";

const { listen, serve, close } = openServers();
afterEach(async () => {
  vi.useRealTimers();
  await close();
});

const failureOf = (asked: Promise<unknown>): Promise<any> =>
  asked.then(
    () => "no failure",
    (error) => error,
  );

/** Unlike vi.waitFor it leaves timers alone that the test sets. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

/** A connection that takes what is written, and answers or fails when the test says so. */
function line({ isUp = true } = {}) {
  let sent = "";
  const stream = Object.assign(
    new Duplex({
      read() {},
      write(chunk, _encoding, done) {
        sent += chunk;
        done();
      },
    }),
    { connecting: !isUp },
  );
  const options = (more: FetchOptions = {}): FetchOptions => ({
    env: {},
    pinned: { addresses: ["192.0.2.1"], connect: () => stream },
    ...more,
  });
  return {
    stream,
    options,
    sent: () => sent,
    answer: (text: string) => stream.push(text.replaceAll("\n", "\r\n")),
    written: () => until(() => sent.includes("\r\n\r\n")),
  };
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
};

describe("time limits of a request", () => {
  const fake = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const timersSet = () => until(() => vi.getTimerCount() > 0);
  const settled = async (promise: Promise<unknown>) => {
    let state = "waiting";
    promise.then(
      () => (state = "done"),
      () => (state = "failed"),
    );
    await turns();
    return state;
  };

  it.each([
    [{}, 30_000, "No connection to model.test:80 within 30 s."],
    [{ connectMs: 1500 }, 1500, "No connection to model.test:80 within 1500 ms."],
    [{ connectMs: 0 }, 120_000, "No answer from model.test:80 within 120 s."],
    [{ connectMs: 0, responseMs: 70_000 }, 70_000, "No answer from model.test:80 within 70 s."],
  ])("our fetch gives up a connection that never opens, with %j, after %i ms", async (given, ms, words) => {
    fake();
    const { options } = line({ isUp: false });
    const failed = failureOf(createFetch(options(given))("http://model.test/"));
    await turns();
    vi.advanceTimersByTime(ms - 1);
    expect(await settled(failed)).toBe("waiting");
    vi.advanceTimersByTime(1);
    const error = await failed;
    expect([error.kind, error.message, error.host]).toEqual(["timeout", words, "model.test:80"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("once connected, our fetch waits until the limit of the answer", async () => {
    fake();
    const { stream, options } = line({ isUp: false });
    const failed = failureOf(createFetch(options())("http://model.test:81/"));
    await turns();
    stream.emit("connect");
    vi.advanceTimersByTime(119_999);
    expect(await settled(failed)).toBe("waiting");
    vi.advanceTimersByTime(1);
    expect((await failed).message).toBe("No answer from model.test:81 within 120 s.");
  });

  it("without limits our fetch waits as long as connection, answer and body take", async () => {
    fake();
    const { stream, options, answer } = line({ isUp: false });
    const asked = createFetch(options({ connectMs: 0, responseMs: 0, idleMs: 0 }))("http://model.test/");
    await turns();
    expect(vi.getTimerCount()).toBe(0);
    stream.emit("connect");
    answer("HTTP/1.1 200 OK\n\n");
    const text = (await asked).text();
    await turns();
    expect(vi.getTimerCount()).toBe(0);
    stream.push(null);
    expect(await text).toBe("");
  });

  it.each([
    [{}, false, 120_000, "model.test:80 stopped answering: nothing came for 120 s."],
    [{ responseMs: 200_000 }, false, 200_000, "No answer from model.test:80 within 200 s."],
    [{ responseMs: 200_000 }, true, 120_000, "model.test:80 stopped answering: nothing came for 120 s."],
    [{ responseMs: 5000, idleMs: 9000 }, false, 9000, "model.test:80 stopped answering: nothing came for 9 s."],
    [{ responseMs: 0, idleMs: 2500 }, true, 2500, "model.test:80 stopped answering: nothing came for 2500 ms."],
  ])("our fetch gives up a stalled answer, with %j, begun: %s, after %i ms", async (given, isBegun, ms, words) => {
    fake();
    const { options, answer, written } = line();
    const asked = createFetch(options(given))("http://model.test/");
    await written();
    answer("HTTP/1.1 200 OK\nContent-Length: 9\n\n");
    const reader = (await asked).body!.getReader();
    if (isBegun) {
      const first = reader.read();
      await turns();
      answer("a");
      expect(Buffer.from((await first).value!).toString()).toBe("a");
    }
    expect(vi.getTimerCount()).toBe(0); // nobody reads
    const failed = failureOf(reader.read());
    await timersSet();
    vi.advanceTimersByTime(ms - 1);
    expect(await settled(failed)).toBe("waiting");
    vi.advanceTimersByTime(1);
    expect((await failed).message).toBe(words);
  });

  it("our fetch waits while a body arrives, and leaves no timer when it is complete", async () => {
    fake();
    const { options, answer, written } = line();
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, "removeEventListener");
    const asked = createFetch(options())("http://model.test/", { signal });
    await written();
    answer("HTTP/1.1 200 OK\nContent-Length: 3\n\n");
    const text = (await asked).text();
    for (const piece of ["a", "b", "c"]) {
      await timersSet();
      vi.advanceTimersByTime(119_000);
      await turns();
      answer(piece);
      await turns();
    }
    expect([await text, vi.getTimerCount(), removed.mock.calls.length]).toEqual(["abc", 0, 1]);
  });
});

describe("what a failed request says", () => {
  it.each([
    ["ECONNREFUSED", "Cannot connect to"],
    ["ENOTFOUND", "Cannot find the address of"],
    ["CERT_HAS_EXPIRED", "No secure connection to"],
    ["ETIMEDOUT", "No connection to"],
    ["ECONNRESET", "The connection broke with"],
  ])("our fetch explains the error %s as: %s …", async (code, words) => {
    const { stream, options } = line({ isUp: false });
    const failed = failureOf(createFetch(options())("http://model.test/"));
    await turns();
    const cause = Object.assign(new Error("why not"), { code });
    stream.destroy(cause);
    const error = await failed;
    expect([error.message, error.host, error.cause]).toEqual([
      `${words} model.test:80: why not`,
      "model.test:80",
      cause,
    ]);
  });

  it("our fetch takes an https connection as open once it is secure, and names its port", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { stream, options } = line({ isUp: false });
    const failed = failureOf(createFetch(options())("https://model.test/"));
    await turns();
    expect(vi.getTimerCount()).toBe(2);
    stream.emit("connect");
    expect(vi.getTimerCount()).toBe(2);
    stream.emit("secureConnect");
    expect(vi.getTimerCount()).toBe(1);
    stream.destroy(Object.assign(new Error("why not"), { code: "EPIPE" }));
    expect((await failed).message).toBe("The connection broke with model.test:443: why not");
  });

  it.each([
    ["POST", true, " after the request was sent, which may have been carried out", false],
    ["POST", false, "", true],
    ["GET", true, "", true],
    ["TRACE", true, "", true],
  ])(
    "the error about a broken %s, sent: %s, says what may have happened",
    async (method, isSent, words, isRepeatable) => {
      const { stream, options, written } = line({ isUp: isSent });
      // What counts is what the connection has carried.
      let carried = 0;
      Object.defineProperty(stream, "bytesWritten", { get: () => carried });
      const failed = failureOf(createFetch(options())("http://model.test/", { method }));
      if (isSent) await written();
      else await turns();
      carried = isSent ? 40 : 0;
      stream.destroy(Object.assign(new Error("gone"), { code: "ECONNRESET" }));
      const error = await failed;
      expect(error.message).toBe(`The connection broke with model.test:80${words}: gone`);
      expect(error.broke).toEqual({ isReused: false, isRepeatable });
    },
  );

  it("the error about a connection that breaks within the answer says nothing of the request", async () => {
    const { stream, options, answer, written } = line();
    const asked = createFetch(options())("http://model.test/", { method: "POST", body: "x" });
    await written();
    answer("HTTP/1.1 200 OK\nContent-Length: 9\n\na");
    const failed = failureOf((await asked).text());
    await turns();
    stream.destroy(Object.assign(new Error("gone"), { code: "ECONNRESET" }));
    const error = await failed;
    expect([error.kind, error.message, error.broke]).toEqual([
      "reset",
      "The connection broke with model.test:80: aborted",
      undefined,
    ]);
  });

  it("our fetch names the proxy in its errors, and says what it cannot carry", async () => {
    const port = await listen(createTcp((socket) => socket.destroy()));
    const env = { HTTP_PROXY: `http://127.0.0.1:${port}` };
    const error = await failureOf(createFetch({ env })("http://model.test/"));
    expect([error.proxy, error.message]).toEqual([
      `127.0.0.1:${port}`,
      expect.stringContaining(`model.test:80 (through the proxy 127.0.0.1:${port})`),
    ]);
    for (const [value, words] of [
      [`https://127.0.0.1:${port}`, "An https proxy cannot carry plain http requests."],
      ["socks5://x", "HTTP_PROXY names a socks5 proxy"],
    ] as const) {
      const refused = await failureOf(createFetch({ env: { HTTP_PROXY: value } })("http://model.test/"));
      expect([refused.kind, refused.host, refused.message]).toEqual([
        "proxy",
        "model.test:80",
        expect.stringContaining(words),
      ]);
    }
  });
});

describe("what a request sends", () => {
  it.each([
    ["http://model.test", {}, {}, "GET / HTTP/1.1", ["host: model.test", "accept-encoding: gzip, deflate, br"], ""],
    ["http://model.test:81/a/b?c=d#e", { acceptEncoding: "identity" }, { method: "PUT", body: "hä" }]
      .concat(["PUT /a/b?c=d HTTP/1.1"] as never)
      .concat([["host: model.test:81", "accept-encoding: identity", "content-length: 3"]] as never)
      .concat(["hä"] as never),
    [
      "http://model.test/",
      {},
      { headers: [["X-One", "1"]], method: "POST", body: Buffer.from("raw") },
      "POST / HTTP/1.1",
      ["x-one: 1", "content-length: 3"],
      "raw",
    ],
    [
      "http://model.test/",
      {},
      { headers: new Map([["Host", "other"]]), body: null },
      "GET / HTTP/1.1",
      ["host: other"],
      "",
    ],
  ] as [string, FetchOptions, RequestInit, string, string[], string][])(
    "a request for %s with %j and %j",
    async (url, given, init, first, headers, body) => {
      const { options, sent, answer, written } = line();
      const asked = createFetch(options(given))(url, init);
      await written();
      answer("HTTP/1.1 204 No Content\n\n");
      expect((await asked).status).toBe(204);
      const [head = "", rest] = sent().split("\r\n\r\n");
      expect(head.split("\r\n")[0]).toBe(first);
      for (const header of headers) expect(head.split("\r\n")).toContain(header);
      expect(head).not.toMatch(/proxy|content-length: 0/i);
      expect(rest).toBe(body);
    },
  );

  it("our fetch refuses a request body that is neither text nor bytes", async () => {
    const failed = failureOf(
      createFetch(line().options())("http://model.test/", { method: "POST", body: {} as never }),
    );
    expect((await failed).message).toBe("A request body is a string or bytes.");
  });

  it.each([
    [200, true],
    [299, true],
    [300, false],
  ])("our fetch sets ok for status %i: %s", async (status, ok) => {
    const { options, answer, written } = line();
    const asked = createFetch(options())("http://model.test/");
    await written();
    answer(`HTTP/1.1 ${status} Words here\nContent-Length: 2\nX-A: b\n\nhi`);
    const response = await asked;
    expect([response.ok, response.status, response.statusText, response.redirected, response.url]).toEqual([
      ok,
      status,
      "Words here",
      false,
      "http://model.test/",
    ]);
    expect([...(response.headers as any)]).toEqual([
      ["content-length", "2"],
      ["x-a", "b"],
    ]);
    expect(Buffer.from(await response.arrayBuffer()).toString()).toBe("hi");
  });

  it.each(["gzip ", "X-GZIP", "identity", "zstd", ""])(
    "our fetch decodes the content encoding '%s' or leaves it alone",
    async (encoding) => {
      const { gzipSync } = await import("node:zlib");
      const isPacked = /gzip/i.test(encoding);
      const url = await serve((_, response) =>
        response.writeHead(200, { "Content-Encoding": encoding }).end(isPacked ? gzipSync("text") : "text"),
      );
      const response = await createFetch({ env: {} })(url);
      expect([await response.text(), response.headers.has("content-encoding")]).toEqual(["text", !isPacked]);
    },
  );
});

describe("guarded requests by themselves", () => {
  const names: Record<string, string[]> = { "a.test": ["93.184.216.34"], "none.test": [] };
  const request = (more: object = {}) => ({
    mode: "default" as const,
    rules: rulesOf({ allow: ["WebFetch(*)"] }),
    env: {},
    resolve: async (host: string) => names[host]!,
    ...more,
  });
  /** Says the same to every request. */
  const saying = (words: string) => ({
    connect: () => {
      const { stream, answer, written } = line();
      void written().then(() => answer(words));
      return stream;
    },
  });

  it("a guarded fetch gives up after 30 seconds, and leaves no timer when it fails", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const failed = failureOf(guardedFetch("http://a.test/x", request({ resolve: () => new Promise(() => {}) })));
    await turns();
    vi.advanceTimersByTime(29_999);
    await turns();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    const late = await failed;
    expect([late.kind, late.host, late.message]).toEqual([
      "timeout",
      "a.test",
      "a.test did not finish its answer within 30 s.",
    ]);
    const refused = await failureOf(guardedFetch("http://none.test/", request()));
    expect(refused.message).toBe("Cannot find the address of none.test: it has no address");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("a guarded fetch leaves no timer after a whole answer, nor after one that is cut", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    for (const bytes of [10, 1]) {
      const { body } = await guardedFetch(
        "http://a.test/",
        request({ limits: { bytes }, ...saying("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi") }),
      );
      expect(vi.getTimerCount()).toBe(1);
      let text = "";
      for await (const chunk of body) text += Buffer.from(chunk).toString();
      expect([text, vi.getTimerCount()]).toEqual(["hi".slice(0, bytes), 0]);
    }
  });

  it.each([
    ["http://[", "a.test redirects to http://[: that is not a URL."],
    ["http://me@a.test/", "a.test redirects to http://me@a.test/: it contains a user name or a password."],
    ["http://:pw@a.test/", expect.stringContaining("it contains a user name or a password.")],
    [`http://[${"x".repeat(300)}`, expect.stringMatching(/^a\.test redirects to http:\/\/\[x{1,200}…?: that is not/)],
  ])("a guarded fetch refuses a redirect to %s with an explanation", async (location, words) => {
    const asked = guardedFetch(
      "http://a.test/",
      request({
        permitted: ["http://a.test"],
        ...saying(`HTTP/1.1 302 Found\nLocation: ${location}\nContent-Length: 0\n\n`),
      }),
    );
    expect((await failureOf(asked)).message).toEqual(words);
  });

  it("a guarded fetch returns a redirect without an address as an answer, and explains too many redirects", async () => {
    const answer = await guardedFetch("http://a.test/", request(saying("HTTP/1.1 302 Found\nContent-Length: 0\n\n")));
    expect(answer.status).toBe(302);
    const more = saying("HTTP/1.1 302 Found\nLocation: /x\nContent-Length: 0\n\n");
    const failed = await failureOf(guardedFetch("http://a.test/", request({ limits: { redirects: 2 }, ...more })));
    expect([failed.host, failed.message]).toEqual(["a.test", "a.test redirected more than 2 times."]);
  });
});

it("a request to a configured server sends its headers, and a request over another protocol fails", async () => {
  const url = await serve((request, response) => response.end(JSON.stringify(request.headers)));
  const fetch = createServerFetch(new URL(url), { env: {}, headers: { "X-Key": "k" } });
  expect(await (await fetch({ url } as never)).json()).toMatchObject({ "x-key": "k" });
  expect((await failureOf(fetch(url.replace("http:", "https:")))).kind).toBe("tls");
});
