// Servers and proxies that accept a connection and then say nothing, or not enough. Each request is made in a process of
// its own, which must end by itself: whatever the request leaves open would keep it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "silence-"));
const program = join(folder, "ask.mjs");
const servers: Server[] = [];
const sockets = new Set<Socket>();

const source = `
import { subscribe } from "node:diagnostics_channel";
import dns from "node:dns";
import { createFetch } from "./src/net/fetch.ts";
const { url, options, abortMs, deafDns, breakAtHead } = JSON.parse(process.argv[2]);
if (deafDns) dns.lookup = () => {};
if (breakAtHead) subscribe("http.client.response.finish", ({ response }) => queueMicrotask(() => response.destroy()));
process.on("unhandledRejection", (error) => { console.error(error); process.exit(9); });
const controller = new AbortController();
if (abortMs) setTimeout(() => controller.abort(new Error("not wanted")), abortMs);
let said;
try {
  const response = await createFetch(options)(url, { signal: controller.signal });
  said = "answered " + await response.text();
} catch (error) {
  said = error.kind ?? error.message;
}
await new Promise((resolve) => setTimeout(resolve, 20));
const left = process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Timeout|AddrInfo/.test(name));
console.log(JSON.stringify({ said, left }));
`;

beforeAll(async () => {
  await build({
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    outdir: folder,
    entryNames: "ask",
    outExtension: { ".js": ".mjs" },
    logLevel: "error",
  });
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  rmSync(folder, { recursive: true, force: true });
});

type Place = { url: string; options: object; deafDns?: boolean; breakAtHead?: boolean };
type Ended = { exit: number | null; said?: string; left?: string[]; errors: string };

/** A server that answers the first bytes with `words` and nothing after. */
async function mute(words = "", after: (socket: Socket) => void = () => {}): Promise<{ address: string }> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    socket.once("data", () => {
      if (words) socket.write(words);
      after(socket);
    });
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** `exit` is null when the process had to be ended. */
function ask(place: Place & { abortMs?: number }): Promise<Ended> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [program, JSON.stringify(place)], {
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 8_000,
      killSignal: "SIGKILL",
    });
    let out = "";
    let errors = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (errors += chunk));
    child.on("close", (exit) => done({ exit, errors, ...(out ? JSON.parse(out) : {}) }));
  });
}

async function throughProxy(words: string, protocol = "http"): Promise<Place> {
  const { address } = await mute(words);
  return { url: "https://model.test/v1", options: { env: { HTTPS_PROXY: `${protocol}://${address}` } } };
}

const places: Record<string, () => Promise<Place>> = {
  "a proxy that says nothing": () => throughProxy(""),
  "a proxy that answers CONNECT by half": () => throughProxy("HTTP/1.1 200 Connection Est"),
  "a proxy behind which nobody shakes hands": () => throughProxy("HTTP/1.1 200 Connection Established\r\n\r\n"),
  "an https proxy that shakes no hands": () => throughProxy("", "https"),
  "a proxy that says nothing to plain http": async () => {
    const { address } = await mute();
    return { url: "http://model.test/v1", options: { env: { HTTP_PROXY: `http://${address}` } } };
  },
  "a server that shakes no hands": async () => ({ url: `https://${(await mute()).address}/`, options: { env: {} } }),
  "a name that is looked up for ever": async () => ({
    url: "https://model.test/",
    options: { env: {} },
    deafDns: true,
  }),
  "a proxy whose name is looked up for ever": async () => ({
    url: "https://model.test/",
    options: { env: { HTTPS_PROXY: "http://proxy.test:3128" } },
    deafDns: true,
  }),
};

describe.concurrent.each(Object.entries(places))("a silent %s", (_, open) => {
  it("our fetch gives up if the answer takes too long, and leaves no socket", async ({ expect }) => {
    const { url, options, ...rest } = await open();
    expect(await ask({ url, options: { ...options, responseMs: 150 }, ...rest })).toEqual({
      exit: 0,
      said: "timeout",
      left: [],
      errors: "",
    });
  });

  it("our fetch gives up when cancelled, and leaves no socket", async ({ expect }) => {
    expect(await ask({ ...(await open()), abortMs: 150 })).toEqual({
      exit: 0,
      said: "not wanted",
      left: [],
      errors: "",
    });
  });
});

it("our fetch's connection timeout includes the proxy tunnel", async () => {
  const { url, options } = await throughProxy("");
  expect(await ask({ url, options: { ...options, connectMs: 150 } })).toMatchObject({ exit: 0, said: "timeout" });
});

describe("an answer that cannot be decompressed", () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1000\r\n\r\n";

  it("decompressing a response fails if the connection breaks after the head", async () => {
    const { address } = await mute(head, (socket) => socket.destroySoon());
    expect(await ask({ url: `http://${address}/`, options: { env: {} } })).toEqual({
      exit: 0,
      said: "reset",
      left: [],
      errors: "",
    });
  });

  it("decompressing a response fails if the connection is gone before the decoder is loaded", async () => {
    const { address } = await mute(head);
    const ended = await ask({ url: `http://${address}/`, options: { env: {} }, breakAtHead: true });
    expect(ended).toEqual({ exit: 0, said: "reset", left: [], errors: "" });
  });

  it("a failed decompression leaves no connection open", async () => {
    const { address } = await mute(`${head}this is not gzip`);
    const ended = await ask({ url: `http://${address}/`, options: { env: {}, idleMs: 0 } });
    expect(ended).toEqual({ exit: 0, said: "reset", left: [], errors: "" });
  });

  it("decompressing a response can be cancelled", async () => {
    const some = gzipSync(Buffer.alloc(100)).subarray(0, 12);
    const { address } = await mute(head, (socket) => void socket.write(some));
    const ended = await ask({ url: `http://${address}/`, options: { env: {}, idleMs: 0 }, abortMs: 150 });
    expect(ended).toEqual({ exit: 0, said: "not wanted", left: [], errors: "" });
  });
});
