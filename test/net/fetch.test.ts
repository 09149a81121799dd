import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttp, type IncomingMessage, type Server } from "node:http";
import { createServer as createHttps } from "node:https";
import { connect, createServer as createTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createFetch, type FetchOptions } from "../../src/net/fetch.ts";
import { findNetError } from "../../src/net/net-error.ts";
import { openServers } from "../support/open-servers.ts";

const { listen, serve, close, servers: open, sockets } = openServers();
afterEach(close);

const ask = (url: string, options: FetchOptions = {}, init: RequestInit = {}): Promise<Response> =>
  createFetch({ env: {}, ...options })(url, init);

async function kindOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return findNetError(error)?.kind ?? String(error);
  }
  return "no error";
}

describe("an HTTP request", () => {
  it("our fetch sends method, headers and body, and returns status, headers and text", async () => {
    const url = await serve(async (request, response) => {
      const body = await bodyOf(request);
      response
        .writeHead(201, {
          "x-seen": `${request.method} ${request.url} ${request.headers["x-mine"]}`,
          "x-twice": ["a", "b"],
        })
        .end(`got ${body}`);
    });
    const response = await ask(`${url}/path?q=1`, {}, { method: "POST", headers: { "X-Mine": "1" }, body: "häy" });
    expect(response.status).toBe(201);
    expect(response.ok).toBe(true);
    expect(response.headers.get("X-Seen")).toBe("POST /path?q=1 1");
    expect(Object.fromEntries([...(response.headers as unknown as Iterable<[string, string]>)])["x-twice"]).toBe(
      "a, b",
    );
    expect(await response.text()).toBe("got häy");
  });

  it("our fetch streams responses: the first chunk arrives before the last is sent", async () => {
    let finish = (): void => {};
    const url = await serve((_, response) => {
      response.write("one");
      finish = () => response.end("two");
    });
    const reader = (await ask(url)).body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("one");
    finish();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("two");
    expect((await reader.read()).done).toBe(true);
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
  ] as const)("%s is decompressed", async (encoding, pack) => {
    const url = await serve((_, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(pack(Buffer.from('{"a":1}'))),
    );
    const response = await ask(url);
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(await response.json()).toEqual({ a: 1 });
  });

  it("our fetch does not follow redirects", async () => {
    const url = await serve((_, response) => response.writeHead(302, { location: "/elsewhere" }).end());
    const response = await ask(url);
    expect(response.status).toBe(302);
    expect(response.ok).toBe(false);
  });

  it("our fetch reuses connections, even if one was closed meanwhile", async () => {
    const ports = new Set<number>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort!);
      response.end("ok");
    });
    const light = createFetch({ env: {} });
    await (await light(url)).text();
    await (await light(url)).text();
    expect(ports.size).toBe(1);
    // The server drops the idle connection: the next request finds out, or is sent again.
    for (const socket of sockets) socket.destroy();
    expect(await (await light(url)).text()).toBe("ok");
    expect(ports.size).toBe(2);
  });

  it("our fetch refuses addresses with protocols other than HTTP", async () => {
    await expect(ask("file:///etc/hosts")).rejects.toThrow(/Only http and https/);
  });
});

describe("network errors", () => {
  it("our fetch reports a refused connection as such", async () => {
    const port = await listen(createTcp());
    await new Promise((resolve) => open.pop()!.close(resolve));
    expect(await kindOf(ask(`http://127.0.0.1:${port}`))).toBe("refused");
  });

  it("our fetch reports an unknown host as such", async () => {
    expect(await kindOf(ask("http://no-such-host.invalid"))).toBe("dns");
  });

  it("our fetch reports a missing answer as such", async () => {
    const port = await listen(createTcp());
    expect(await kindOf(ask(`http://127.0.0.1:${port}`, { responseMs: 60 }))).toBe("timeout");
  });

  it("our fetch reports a server without TLS as such", async () => {
    const port = await listen(createTcp((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n")));
    expect(await kindOf(ask(`https://127.0.0.1:${port}`))).toBe("tls");
  });

  it("our fetch reports a connection that breaks before the answer as such", async () => {
    const port = await listen(createTcp((socket) => socket.once("data", () => socket.resetAndDestroy())));
    expect(await kindOf(ask(`http://127.0.0.1:${port}`))).toBe("reset");
  });

  it("our fetch reports an answer that stalls or breaks as such", async () => {
    const silent = await serve((_, response) => void response.write("a"));
    const response = await ask(silent, { idleMs: 60 });
    expect(await kindOf(response.text())).toBe("idle");
    const broken = await serve((_, answer) => {
      answer.write("a");
      setTimeout(() => answer.destroy(), 20);
    });
    expect(await kindOf((await ask(broken)).text())).toBe("reset");
  });

  it("our fetch does not take a slow reader for a silent server", async () => {
    const url = await serve((_, response) => response.end("x".repeat(400_000)));
    const response = await ask(url, { idleMs: 60 });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect((await response.text()).length).toBe(400_000);
  });

  it("a cancelled fetch fails with the reason of the cancellation", async () => {
    const port = await listen(createTcp());
    const before = AbortSignal.abort(new Error("not wanted"));
    await expect(ask(`http://127.0.0.1:${port}`, {}, { signal: before })).rejects.toThrow("not wanted");
    await expect(ask(`http://127.0.0.1:${port}`, {}, { signal: AbortSignal.timeout(30) })).rejects.toMatchObject({
      name: "TimeoutError",
    });
    const url = await serve((_, response) => void response.write("a"));
    const controller = new AbortController();
    const response = await ask(url, {}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(response.text()).rejects.toMatchObject({ name: "AbortError" });
  });
});

/** A proxy that knows `model.test` as our server, and writes down what it was asked. */
async function startProxy(
  target: () => number,
  options: { login?: string } = {},
): Promise<{ url: string; asked: string[]; headers: IncomingMessage["headers"][] }> {
  const asked: string[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const refuses = (request: IncomingMessage): boolean =>
    options.login !== undefined &&
    request.headers["proxy-authorization"] !== `Basic ${Buffer.from(options.login).toString("base64")}`;
  const server = createHttp((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    if (refuses(request)) return void response.writeHead(407).end();
    response.end(`proxied ${request.headers.host}`);
  });
  server.on("connect", (request, socket, head) => {
    asked.push(`CONNECT ${request.url}`);
    headers.push(request.headers);
    if (refuses(request)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const onward = connect(target(), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  return { url: `127.0.0.1:${await listen(server)}`, asked, headers };
}

describe("requests through a proxy", () => {
  it("our fetch sends plain http requests to a proxy in absolute form, with the login of the proxy's URL", async () => {
    const proxy = await startProxy(() => 0, { login: "me:secret" });
    const response = await ask("http://model.test/v1?x=1", { env: { HTTP_PROXY: `http://me:secret@${proxy.url}` } });
    expect(await response.text()).toBe("proxied model.test");
    expect(proxy.asked).toEqual(["GET http://model.test/v1?x=1"]);
  });

  it("our fetch bypasses the proxy for loopback and for hosts in NO_PROXY", async () => {
    const proxy = await startProxy(() => 0);
    const url = await serve((_, response) => response.end("direct"));
    expect(await (await ask(url, { env: { HTTP_PROXY: `http://${proxy.url}` } })).text()).toBe("direct");
    expect(
      await kindOf(
        ask("http://no-such-host.invalid/", { env: { HTTP_PROXY: `http://${proxy.url}`, NO_PROXY: ".invalid" } }),
      ),
    ).toBe("dns");
    expect(proxy.asked).toEqual([]);
  });

  it("our fetch names an unreachable proxy in its error", async () => {
    const port = await listen(createTcp());
    await new Promise((resolve) => open.pop()!.close(resolve));
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    await expect(ask("https://model.test/", { env })).rejects.toMatchObject({
      kind: "refused",
      proxy: `127.0.0.1:${port}`,
      host: "model.test:443",
    });
  });

  it("our fetch reports a proxy that requires a login", async () => {
    const proxy = await startProxy(() => 0, { login: "me:secret" });
    await expect(ask("https://model.test/", { env: { HTTPS_PROXY: `http://${proxy.url}` } })).rejects.toThrow(
      /407.*user:password@host/,
    );
  });

  const certificate = makeCertificate();
  afterAll(() => certificate && rmSync(certificate.folder, { recursive: true, force: true }));
  const withTls = certificate ? it : it.skip;
  if (!certificate) console.warn("openssl is not here: the CONNECT tests are skipped");

  withTls("https goes through a CONNECT tunnel, checked against the certificate, and the tunnel is kept", async () => {
    const port = await listen(
      createHttps({ key: certificate!.key, cert: certificate!.cert }, async (request, response) =>
        response.end(`secure ${request.headers.host} ${await bodyOf(request)}`),
      ) as unknown as Server,
    );
    const proxy = await startProxy(() => port, { login: "me:secret" });
    const light = createFetch({
      env: { HTTPS_PROXY: `http://me:secret@${proxy.url}` },
      tls: { ca: certificate!.cert },
    });
    for (const body of ["one", "two"]) {
      const response = await light("https://model.test/v1", { method: "POST", body });
      expect(await response.text()).toBe(`secure model.test ${body}`);
    }
    expect(proxy.asked).toEqual(["CONNECT model.test:443"]);
    expect(proxy.headers[0]!.authorization).toBeUndefined();
  });

  withTls("a certificate that nobody vouches for is refused", async () => {
    const port = await listen(createHttps({ key: certificate!.key, cert: certificate!.cert }) as unknown as Server);
    const proxy = await startProxy(() => port);
    expect(await kindOf(ask("https://model.test/", { env: { HTTPS_PROXY: `http://${proxy.url}` } }))).toBe("tls");
    expect(await kindOf(ask(`https://127.0.0.1:${port}/`))).toBe("tls");
  });

  withTls("https works directly as well", async () => {
    const port = await listen(
      createHttps({ key: certificate!.key, cert: certificate!.cert }, (_, response) =>
        response.end("secure"),
      ) as unknown as Server,
    );
    expect(await (await ask(`https://localhost:${port}/`, { tls: { ca: certificate!.cert } })).text()).toBe("secure");
  });
});

function makeCertificate(): { folder: string; key: string; cert: string } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "certificate-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = "subjectAltName=DNS:model.test,DNS:localhost";
  const made = spawnSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-keyout",
      key,
      "-out",
      cert,
      "-days",
      "1",
      "-subj",
      "/CN=model.test",
      "-addext",
      names,
    ],
    { timeout: 20_000 },
  );
  if (made.status === 0) return { folder, key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
