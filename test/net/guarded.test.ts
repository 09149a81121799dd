// The guard over real sockets: servers on loopback are opened by a rule of the user, or stand in for the network.
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { connect as connectSocket, createServer as createTcp } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { Connect } from "../../src/net/fetch.ts";
import { type GuardedRequest, type GuardedResponse, GuardRefusal, guardedFetch } from "../../src/net/guarded.ts";
import { NetError } from "../../src/net/net-error.ts";
import { rulesOf } from "../policy/fixture.ts";
import { openServers } from "../support/open-servers.ts";

const { listen, close } = openServers();
afterEach(close);

/** The network: every connection ends here, and says where it was meant to go. */
async function network(
  answer: RequestListener,
): Promise<{ connect: Connect; addresses: string[]; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const addresses: string[] = [];
  const port = await listen(
    createServer((request, response) => {
      requests.push(request);
      answer(request, response);
    }),
  );
  const connect: Connect = (place) => {
    addresses.push(`${place.address}:${place.port}`);
    return connectSocket(port, "127.0.0.1");
  };
  return { connect, addresses, requests };
}

const publicNames = { "a.test": ["93.184.216.34"], "b.test": ["93.184.216.35", "2606:4700::1111"] };

function request(
  changes: Partial<GuardedRequest> & { allow?: string[]; deny?: string[]; names?: Record<string, string[]> } = {},
): GuardedRequest {
  const { allow = ["WebFetch(*)"], deny = [], names = publicNames, ...rest } = changes;
  return {
    mode: "default",
    rules: rulesOf({ allow, deny }),
    env: {},
    resolve: async (host) => {
      const found = (names as Record<string, string[]>)[host];
      if (!found) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });
      return found;
    },
    ...rest,
  };
}

async function bytesOf(response: GuardedResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => new Error("it did not fail"),
    (error: Error) => error,
  );
}

describe("a guarded request", () => {
  it("a guarded fetch returns status, headers, address and body, and connects to the judged address", async () => {
    const { connect, addresses, requests } = await network((_, response) =>
      response.writeHead(201, { "x-a": "1" }).end("héllo"),
    );
    const response = await guardedFetch("https://a.test/x?y#z", request({ connect, headers: { "User-Agent": "t" } }));
    expect(response).toMatchObject({ status: 201, url: "https://a.test/x?y#z", isTruncated: false });
    expect(response.headers.get("x-a")).toBe("1");
    expect((await bytesOf(response)).toString()).toBe("héllo");
    expect(addresses).toEqual(["93.184.216.34:443"]);
    expect(requests[0]!.headers).toMatchObject({ host: "a.test", "user-agent": "t" });
    expect(requests[0]!.url).toBe("/x?y");
  });

  it("a guarded fetch makes exactly one DNS lookup for each redirect", async () => {
    const { connect } = await network((_, response) => response.end("ok"));
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return asked.length === 1 ? ["93.184.216.34"] : ["127.0.0.1"];
    };
    await bytesOf(await guardedFetch("http://flip.test./", request({ connect, resolve })));
    expect(asked).toEqual(["flip.test"]);
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
  ] as const)("%s is decompressed, and cut if it is too long", async (encoding, pack) => {
    const packed = pack(Buffer.alloc(40 * 2 ** 20, "a"));
    expect(packed.length).toBeLessThan(2 ** 20);
    const { connect } = await network((_, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(packed),
    );
    const response = await guardedFetch("http://a.test/", request({ connect }));
    expect((await bytesOf(response)).length).toBe(10 * 2 ** 20);
    expect(response.isTruncated).toBe(true);
  });

  it.each([
    [1000, 1000, false],
    [1001, 1000, true],
    [0, 0, false],
  ])(
    "a guarded fetch of a body of %i bytes with a limit of 1000 gives %i, cut: %s",
    async (size, kept, isTruncated) => {
      const { connect } = await network((_, response) => response.end(Buffer.alloc(size)));
      const response = await guardedFetch("http://a.test/", request({ connect, limits: { bytes: 1000 } }));
      expect((await bytesOf(response)).length).toBe(kept);
      expect(response.isTruncated).toBe(isTruncated);
    },
  );

  it("a reader that stops reading the body of a guarded fetch closes the connection", async () => {
    const { connect, requests } = await network((_, response) => response.write("endless"));
    const response = await guardedFetch("http://a.test/", request({ connect }));
    const closed = new Promise((resolve) => requests[0]!.socket.once("close", resolve));
    for await (const _ of response.body) break;
    await closed;
  });
});

describe("guarded requests over real sockets", () => {
  it("a guarded fetch reaches a private service that the user's rule allows, by name and address", async () => {
    const hosts: (string | undefined)[] = [];
    const port = await listen(createServer((asked, response) => response.end(String(hosts.push(asked.headers.host)))));
    const allow = [`WebFetch(service.test:${port})`, `WebFetch(127.0.0.1:${port})`];
    const names = { "service.test": ["127.0.0.1"] };
    for (const host of ["service.test", "127.0.0.1", "2130706433"])
      expect((await bytesOf(await guardedFetch(`http://${host}:${port}/`, request({ allow, names })))).length).toBe(1);
    expect(hosts).toEqual([`service.test:${port}`, `127.0.0.1:${port}`, `127.0.0.1:${port}`]);
  });

  it("a guarded fetch tries the next address of a host if the first does not answer", async () => {
    const port = await listen(createServer((_, response) => response.end("ok")));
    const names = { "service.test": ["127.0.0.2", "127.0.0.1"] };
    const response = await guardedFetch(
      `http://service.test:${port}/`,
      request({ allow: [`WebFetch(service.test:${port})`], names }),
    );
    expect((await bytesOf(response)).toString()).toBe("ok");
  });

  it("guarded requests cannot reach localhost even if something listens there", async () => {
    let reached = 0;
    const port = await listen(createTcp(() => reached++));
    for (const host of ["localhost", "127.0.0.1", "a.localhost", "[::1]", "[::ffff:127.0.0.1]"])
      await expect(
        guardedFetch(`http://${host}:${port}/`, request({ allow: ["WebFetch(*)", `WebFetch(*:${port})`] })),
      ).rejects.toMatchObject({ verdict: "deny" });
    expect(reached).toBe(0);
  });
});

describe("refused requests", () => {
  it.each<[string, Record<string, string[]>]>([
    ["all addresses are judged", { "a.test": ["93.184.216.34", "10.0.0.1"] }],
    ["an address of version 6 too", { "a.test": ["93.184.216.34", "fd00::1"] }],
    ["one that carries another", { "a.test": ["64:ff9b::a9fe:a9fe"] }],
    ["what is not an address", { "a.test": ["elsewhere"] }],
  ])("a guarded request is refused because of its address: %s", async (_, names) => {
    const { connect, addresses } = await network((_, response) => response.end());
    const failure = await failureOf(guardedFetch("http://a.test/", request({ connect, names })));
    expect(failure).toBeInstanceOf(GuardRefusal);
    expect(failure).toMatchObject({ verdict: "deny", url: "http://a.test/" });
    expect(addresses).toEqual([]);
  });

  it("a guarded fetch that must be asked about needs the user's consent, and a denial is final", async () => {
    const { connect, addresses } = await network((_, response) => response.end());
    const ask = (permitted: string[], deny: string[] = []) =>
      guardedFetch("http://a.test:81/", request({ connect, allow: [], deny, permitted }));
    expect(await failureOf(ask([]))).toMatchObject({ verdict: "ask" });
    expect(await failureOf(ask(["http://a.test", "https://a.test:81"]))).toMatchObject({ verdict: "ask" });
    expect(await failureOf(ask(["http://a.test:81"], ["WebFetch(a.test)"]))).toMatchObject({ verdict: "deny" });
    expect(addresses).toEqual([]);
    expect((await ask(["http://a.test:81"])).status).toBe(200);
    expect(addresses).toEqual(["93.184.216.34:81"]);
  });

  it("a guarded fetch reports a name without an address as a network error", async () => {
    const failure = await failureOf(guardedFetch("http://none.test/", request()));
    expect(failure).toMatchObject({ name: "NetError", kind: "dns" });
    expect(await failureOf(guardedFetch("http://none.test/", request({ resolve: async () => [] })))).toMatchObject({
      kind: "dns",
    });
  });
});

describe("redirects", () => {
  /** The first request is sent on, the others are answered. */
  const sentOn = (location: string, status = 302) =>
    network((asked, response) => {
      if (asked.url === "/start") response.writeHead(status, { location, "set-cookie": "a=b" }).end("moved");
      else response.end("there");
    });

  it.each([301, 302, 303, 307, 308])("a guarded fetch follows status %i", async (status) => {
    const { connect, addresses } = await sentOn("https://b.test/x", status);
    const response = await guardedFetch("https://a.test/start", request({ connect }));
    expect(response.url).toBe("https://b.test/x");
    expect((await bytesOf(response)).toString()).toBe("there");
    expect(addresses).toEqual(["93.184.216.34:443", "93.184.216.35:443"]);
  });

  it("a guarded fetch returns HTTP statuses other than redirects as answers", async () => {
    for (const status of [300, 304, 305]) {
      const { connect } = await sentOn("https://b.test/x", status);
      expect((await guardedFetch("https://a.test/start", request({ connect }))).status).toBe(status);
    }
  });

  it.each<[location: string, verdict: string]>([
    ["http://127.0.0.1:9000/", "deny"],
    ["http://2130706433/", "deny"],
    ["//localhost/", "deny"],
    ["https://[::1]/", "deny"],
    ["https://inside.test/", "deny"],
    ["file:///etc/passwd", "deny"],
    ["data:text/html,x", "deny"],
    ["javascript:1", "deny"],
    ["https://me:pw@a.test/", "deny"],
    ["http://a.test/", "ask"],
    ["https://a.test:22/", "ask"],
    ["https://c.test/", "ask"],
    ["http://[", "deny"],
  ])("a guarded fetch follows or refuses a redirect to %s: %s", async (location, verdict) => {
    const { connect, addresses } = await sentOn(location);
    const allow = ["WebFetch(a.test)", "WebFetch(inside.test)"];
    const names = { ...publicNames, "inside.test": ["10.1.2.3"], "c.test": ["93.184.216.36"] };
    const permitted = location.includes("me:pw") ? ["https://a.test"] : [];
    const failure = await failureOf(
      guardedFetch("https://a.test/start", request({ connect, allow, names, permitted })),
    );
    expect(failure).toMatchObject({ name: "GuardRefusal", verdict });
    expect(addresses).toEqual(["93.184.216.34:443"]);
  });

  it("a guarded fetch follows relative redirects and international names", async () => {
    const { connect, requests } = await sentOn(Buffer.from("/é?ü", "utf8").toString("latin1"));
    const response = await guardedFetch("https://a.test/start", request({ connect }));
    expect(response.url).toBe("https://a.test/%C3%A9?%C3%BC");
    expect(requests[1]!.url).toBe("/%C3%A9?%C3%BC");
  });

  it("a guarded fetch follows at most ten redirects", async () => {
    let left = 10;
    const { connect, requests } = await network((_, response) => {
      if (left-- > 0) response.writeHead(302, { location: `/${left}` }).end();
      else response.end("there");
    });
    expect((await guardedFetch("https://a.test/", request({ connect }))).url).toBe("https://a.test/0");
    left = 100;
    requests.length = 0;
    const failure = await failureOf(guardedFetch("https://a.test/", request({ connect })));
    expect(failure).toMatchObject({ name: "NetError", kind: "redirects" });
    expect(requests).toHaveLength(11);
  });

  it("a redirect to another origin does not receive the user name, password or cookies", async () => {
    const { connect, requests } = await network((asked, response) => {
      const to = { "/1": "/2", "/2": "https://b.test/3", "/3": "https://a.test/4" }[asked.url!];
      response.writeHead(to ? 302 : 200, { ...(to && { location: to }), "set-cookie": "a=b" }).end();
    });
    const headers = { Cookie: "c=d", "X-Api-Key": "k", Accept: "text/html", "Accept-Language": "de" };
    const permitted = ["https://a.test"];
    const response = await guardedFetch("https://me:p%20w%@a.test/1", request({ connect, headers, permitted }));
    expect(response.url).toBe("https://a.test/4");
    const sent = requests.map(({ headers: seen }) => [
      seen.authorization,
      seen.cookie,
      seen["x-api-key"],
      seen["accept-language"],
    ]);
    const basic = `Basic ${Buffer.from("me:p%20w%").toString("base64")}`;
    expect(sent).toEqual([
      [basic, "c=d", "k", "de"],
      [basic, "c=d", "k", "de"],
      [undefined, undefined, undefined, "de"],
      [undefined, undefined, undefined, "de"],
    ]);
  });
});

describe("timeouts of guarded requests", () => {
  const kindWithin = async (asked: Partial<GuardedRequest>, totalMs: number) => {
    const started = performance.now();
    const failure = await failureOf(
      guardedFetch("http://a.test/", request({ ...asked, limits: { totalMs } })).then((response) => bytesOf(response)),
    );
    expect(performance.now() - started).toBeLessThan(totalMs + 3000);
    return failure instanceof NetError ? failure.kind : String(failure);
  };

  it("the time limit of a guarded fetch ends a slow lookup, head or body", async () => {
    expect(await kindWithin({ resolve: () => new Promise(() => {}) }, 200)).toBe("timeout");
    const silent = await network(() => {});
    expect(await kindWithin({ connect: silent.connect }, 200)).toBe("timeout");
    const dripping = await network((_, response) => {
      const timer = setInterval(() => response.write("a"), 20);
      response.on("close", () => clearInterval(timer));
    });
    expect(await kindWithin({ connect: dripping.connect }, 300)).toBe("timeout");
    const turning = await network((_, response) =>
      setTimeout(() => response.writeHead(302, { location: "/" }).end(), 60),
    );
    expect(await kindWithin({ connect: turning.connect }, 300)).toBe("timeout");
  });

  it("an abort signal ends a guarded fetch before and during the request", async () => {
    const reason = new Error("stopped");
    const { connect } = await network((_, response) => response.write("a"));
    expect(
      await failureOf(guardedFetch("http://a.test/", request({ connect, signal: AbortSignal.abort(reason) }))),
    ).toBe(reason);
    const stop = new AbortController();
    const response = await guardedFetch("http://a.test/", request({ connect, signal: stop.signal }));
    setTimeout(() => stop.abort(reason), 20);
    expect(await failureOf(bytesOf(response))).toBe(reason);
  });
});

describe("guarded requests through a proxy", () => {
  const names = { "a.test": ["93.184.216.34"], "inside.test": ["10.0.0.1"] };

  it("a guarded fetch passes the host name to the proxy, after judging the addresses it can resolve", async () => {
    const asked: (string | undefined)[] = [];
    const port = await listen(createServer((seen, response) => response.end(String(asked.push(seen.url)))));
    const env = { http_proxy: `http://127.0.0.1:${port}` };
    const go = (url: string) => guardedFetch(url, request({ env, names }));
    expect((await go("http://a.test/x")).status).toBe(200);
    expect((await go("http://only-the-proxy-knows.test/")).status).toBe(200);
    for (const url of [
      "http://inside.test/",
      "http://10.0.0.1/",
      "http://metadata.google.internal/",
      "http://intranet/",
    ])
      expect(await failureOf(go(url))).toMatchObject({ verdict: "deny" });
    expect(asked).toEqual(["http://a.test/x", "http://only-the-proxy-knows.test/"]);
  });

  it("a silent name server does not delay a guarded fetch for long", async () => {
    const port = await listen(createServer((_, response) => response.end()));
    const env = { http_proxy: `http://127.0.0.1:${port}` };
    const response = await guardedFetch("http://a.test/", request({ env, resolve: () => new Promise(() => {}) }));
    expect(response.status).toBe(200);
  });
});
