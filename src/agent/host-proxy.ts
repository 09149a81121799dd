// An HTTP proxy that checks each host and each address. It is the only way out for programs with restricted network: for sandboxed commands
// it listens on a socket in the sandbox, for the browser on a local port.
import { lookup } from "node:dns/promises";
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { proxyFor } from "../net/proxy.ts";
import { words } from "../text/words.ts";

export type Target = { host: string; port: number };

/** Methods return undefined to allow, else the reason for the refusal as the end of a sentence. */
export type HostJudge = {
  /** Who refuses connections, as the subject of the error message's sentence. */
  who: string;
  /** Called with the host name before it is resolved. Returns why it is refused, or undefined. */
  name(target: Target): string | undefined;
  /** Called with all addresses that the name resolves to. */
  addresses(target: Target, addresses: readonly string[]): string | undefined;
};

export type HostProxyOptions = {
  /** Path of the socket to listen on; by default the proxy listens on a local port. */
  path?: string;
  judge: HostJudge;
  /** Closes refused requests without a response, which a page would take for the server's. */
  isSilent?: boolean;
  /** The maximum number of bytes that one connection may receive before it is closed. */
  maxBytes?: number;
  /** Environment variables that may name an upstream proxy. */
  env: NodeJS.ProcessEnv;
  /** Resolves all addresses of a name; by default with the system's resolver. */
  resolve?: (host: string) => Promise<readonly string[]>;
  /** Connects to an address that was checked; over TCP by default. */
  connect?: (place: { address: string; port: number }) => Socket;
};

export interface HostProxy {
  /** The port that the proxy listens on; 0 if it listens on a Unix socket. */
  port: number;
  /** Returns the refused connections since the last call, as sentences. */
  takeRefusals(): string[];
  close(): Promise<void>;
}

const connectMs = 30_000;
/** Limits the list so that it does not drown the command's own output. */
const maxRefusals = 10;

export async function startHostProxy(options: HostProxyOptions): Promise<HostProxy> {
  const refusals = new Set<string>();
  const sockets = new Set<Duplex>();
  const server = createServer();
  server.on("connection", (socket) => trackSocket(socket, sockets));
  server.on("clientError", (_error, socket) => socket.destroy());
  server.on("connect", (asked, socket: Duplex, head) => {
    socket.on("error", () => socket.destroy());
    const target = parseAuthority(asked.url ?? "");
    connectIfAllowed(target, options).then(
      (remote) => {
        trackSocket(remote, sockets);
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        if (head.length > 0) remote.write(head);
        pipeBothWays(socket, remote);
        cutBeyond(options.maxBytes, remote);
      },
      (error: Error) => {
        reportProblem(error);
        socket.end(
          `HTTP/1.1 ${errorStatus(error)}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${error.message}\n`,
        );
      },
    );
  });
  server.on("request", (asked, answer) => {
    forward(asked, answer, options, sockets).catch((error: Error) => {
      reportProblem(error);
      if (answer.headersSent || options.isSilent) answer.destroy();
      else
        answer
          .writeHead(Number(errorStatus(error).slice(0, 3)), { "content-type": "text/plain" })
          .end(`${error.message}\n`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.path === undefined ? { host: "127.0.0.1", port: 0 } : { path: options.path }, resolve);
  });
  server.unref();
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    takeRefusals() {
      const all = [...refusals];
      refusals.clear();
      return all;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };

  function reportProblem(error: Error): void {
    if (error instanceof Refusal && refusals.size < maxRefusals) refusals.add(error.message);
  }
}

/** Thrown for a target that is not allowed; an unreachable one throws a plain Error. */
class Refusal extends Error {}

function errorStatus(error: Error): string {
  return error instanceof Refusal ? "403 Forbidden" : "502 Bad Gateway";
}

function trackSocket(socket: Duplex, sockets: Set<Duplex>): void {
  sockets.add(socket);
  socket.on("error", () => socket.destroy());
  socket.once("close", () => sockets.delete(socket));
}

function pipeBothWays(one: Duplex, other: Duplex): void {
  one.pipe(other);
  other.pipe(one);
  one.once("close", () => other.destroy());
  other.once("close", () => one.destroy());
}

/** Destroys a stream after it has received `most` bytes. */
function cutBeyond(most: number | undefined, stream: Readable): void {
  if (most === undefined) return;
  let left = most;
  stream.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) stream.destroy();
  });
}

/** Parses `host:port`, with brackets around an IPv6 address. */
function parseAuthority(authority: string): Target {
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(authority) ?? [];
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

function authorityOf({ host, port }: Target): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Connects to one of the checked addresses, never to a name that would be resolved again. */
async function connectIfAllowed(target: Target, options: HostProxyOptions): Promise<Socket> {
  const { judge, env, resolve = resolveName, connect = connectAddress } = options;
  const hostAndPort = `${target.host}:${target.port}`;
  const refuse = (why: string) => new Refusal(`${judge.who} refused ${hostAndPort}: ${why.replace(/\.$/, "")}.`);
  const problem = judge.name(target);
  if (problem) throw refuse(problem);
  const proxy = proxyFor(new URL(`https://${authorityOf(target)}`), env);
  const addresses = isIP(target.host) !== 0 ? [target.host] : await resolve(target.host).catch(() => []);
  // Behind a proxy there may be no name server; then only the name is checked.
  if (addresses.length === 0 && !proxy) throw new Error(`${target.host} has no address`);
  const closed = addresses.length > 0 ? judge.addresses(target, addresses) : undefined;
  if (closed) throw refuse(closed);
  if (proxy) return throughProxy(proxy, target);
  let last: Error = new Error(`${hostAndPort} cannot be reached`);
  for (const address of addresses) {
    try {
      return await waitForConnect(connect({ address, port: target.port }));
    } catch (error) {
      last = error as Error;
    }
  }
  throw last;
}

async function resolveName(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function connectAddress({ address, port }: { address: string; port: number }): Socket {
  return connectTcp({ host: address, port });
}

function waitForConnect(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(connectMs, () => fail(new Error("no connection within 30 s")));
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("error", fail);
      resolve(socket);
    });
  });
}

function throughProxy(proxy: NonNullable<ReturnType<typeof proxyFor>>, target: Target): Promise<Socket> {
  const path = authorityOf(target);
  const headers = { host: path, ...(proxy.authorization && { "proxy-authorization": proxy.authorization }) };
  return new Promise((resolve, reject) => {
    const asked: ClientRequest = request({
      hostname: proxy.hostname,
      port: proxy.port,
      method: "CONNECT",
      path,
      headers,
      timeout: connectMs,
    });
    asked.once("timeout", () => asked.destroy(new Error("the proxy did not answer within 30 s")));
    asked.once("error", reject);
    asked.once("connect", (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      reject(new Error(`the proxy answered ${answer.statusCode}`));
    });
    asked.end();
  });
}

/** Hop-by-hop headers, which a proxy must not forward. */
const ownHeaders = words(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade",
);

/** Forwards a plain HTTP request. The host is taken from the checked URL, not from the request's headers. */
async function forward(
  asked: IncomingMessage,
  answer: ServerResponse,
  options: HostProxyOptions,
  sockets: Set<Duplex>,
): Promise<void> {
  const url = URL.canParse(asked.url ?? "") ? new URL(asked.url!) : undefined;
  if (url?.protocol !== "http:") throw new Refusal(`${options.judge.who} accepts only CONNECT and http:// addresses.`);
  const target = { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(url.port) || 80 };
  const remote = await connectIfAllowed(target, options);
  trackSocket(remote, sockets);
  const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !ownHeaders.has(name)));
  const passed = request({
    method: asked.method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, connection: "close" },
    createConnection: () => remote,
  });
  passed.once("error", () => answer.destroy());
  passed.once("response", (given) => {
    const passedHeaders = Object.entries(given.headers).filter(([name]) => !ownHeaders.has(name));
    answer.writeHead(given.statusCode ?? 502, Object.fromEntries(passedHeaders));
    given.pipe(answer);
    given.once("close", () => given.complete || answer.destroy());
    cutBeyond(options.maxBytes, given);
  });
  asked.pipe(passed);
}
