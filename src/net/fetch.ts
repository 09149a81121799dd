// The only fetcher: a `fetch` over node:http(s) with proxies and time limits. It never follows redirects.
// Node 20's own fetch costs 145 ms and 40 MB at its first use, so the agent does not use it.
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { LookupFunction } from "node:net";
import type { Duplex, Readable } from "node:stream";
import type { ConnectionOptions } from "node:tls";
import { closeIdle, closeStale, noteKept } from "./kept-connections.ts";
import { NetError, netErrorKind } from "./net-error.ts";
import { type ProxyServer, proxyFor } from "./proxy.ts";
import { responseOf } from "./response.ts";
import type { TunnelledRequest } from "./tunnel.ts";

export type Fetch = typeof fetch;

export type FetchOptions = {
  /** The environment to read proxy variables from; default process.env. */
  env?: NodeJS.ProcessEnv;
  /** Time limit for connecting, TLS and proxy included; default 30 s. 0 = no limit, here and below. */
  connectMs?: number;
  /** The time limit for the response headers in milliseconds; 120,000 by default. */
  responseMs?: number;
  /** The longest silence within the response body in milliseconds; 120,000 by default. */
  idleMs?: number;
  /** Encodings to ask for. A response that is compressed anyway is decompressed. */
  acceptEncoding?: string;
  tls?: Pick<ConnectionOptions, "ca" | "rejectUnauthorized">;
  /** If set, only these addresses are connected to, whatever the name resolves to. Has no effect behind a proxy. */
  pinned?: PinnedAddresses;
};

export type PinnedAddresses = {
  addresses: readonly string[];
  /** Replaces the network: returns the stream to speak HTTP over, with TLS already done. */
  connect?: Connect;
};

export type Connect = (place: { host: string; port: number; address: string }) => Duplex;

type Route = { url: URL; proxy: ProxyServer | undefined; host: string; through: string | undefined };

export function createFetch(options: FetchOptions = {}): Fetch {
  const agents = new Map<string, Promise<Agent>>();
  const agentFor = (route: Route): Promise<Agent> => {
    const key = route.url.protocol + (route.proxy && route.url.protocol === "https:" ? route.through : "");
    const existing = agents.get(key) ?? createAgent(route, options);
    agents.set(key, existing);
    return existing;
  };

  const lightFetch = async (input: string | URL | { url: string }, init: RequestInit = {}): Promise<Response> => {
    const route = routeTo(new URL(typeof input === "string" || input instanceof URL ? input : input.url), options);
    const agent = await agentFor(route);
    try {
      return await send(route, init, agent, options);
    } catch (error) {
      // A reused connection broke before the response headers. The server may have closed it before reading the request or after
      // carrying it out, so only requests that are safe to repeat are retried, on a new connection.
      if (!(error instanceof NetError) || !error.broke?.isReused) throw error;
      closeIdle(agent);
      if (!error.broke.isRepeatable) throw error;
      return await send(route, init, agent, options);
    }
  };
  return lightFetch as Fetch;
}

function routeTo(url: URL, options: FetchOptions): Route {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(`Only http and https URLs can be asked, not ${url.protocol}//`);
  }
  const host = url.port ? url.host : `${url.hostname}:${url.protocol === "https:" ? 443 : 80}`;
  try {
    const proxy = proxyFor(url, options.env ?? process.env);
    return { url, proxy, host, through: proxy && `${proxy.hostname}:${proxy.port}` };
  } catch (error) {
    throw new NetError("proxy", (error as Error).message, { host });
  }
}

async function createAgent(route: Route, options: FetchOptions): Promise<Agent> {
  const pinned = route.proxy ? undefined : options.pinned;
  const common = {
    keepAlive: options.pinned === undefined,
    // Node tries the next address of a name after 250 ms, which is too soon for a slow connection.
    autoSelectFamilyAttemptTimeout: 2_000,
    ...(pinned && { lookup: lookupOf(pinned) }),
  };
  if (route.url.protocol === "http:") return pin(new (await import("node:http")).Agent(common), pinned);
  if (route.proxy) return (await import("./tunnel.ts")).tunnelAgent(route.proxy, options.tls ?? {});
  return pin(new (await import("node:https")).Agent({ ...common, ...options.tls }), pinned);
}

/** Returns the lookup for pinned addresses. Node calls it only for names; addresses in the URL were checked before. */
function lookupOf({ addresses }: PinnedAddresses): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_name, { all: wantsAll }, done) =>
    wantsAll ? done(null, all) : done(null, all[0]?.address ?? "", all[0]?.family ?? 4);
}

function pin<AnyAgent extends Agent>(agent: AnyAgent, pinned: PinnedAddresses | undefined): AnyAgent {
  const connect = pinned?.connect;
  if (!connect) return agent;
  const createConnection = ({ host, port }: { host?: string | null; port?: number | string | null }) =>
    connect({ host: host ?? "", port: Number(port), address: pinned.addresses[0] ?? "" });
  return Object.assign(agent, { createConnection });
}

async function send(route: Route, init: RequestInit, agent: Agent, options: FetchOptions): Promise<Response> {
  const { url, proxy } = route;
  const signal = init.signal ?? undefined;
  const secure = url.protocol === "https:";
  const body = bodyBytes(init.body);
  const headers: Record<string, string | number> = {
    host: url.host,
    "accept-encoding": options.acceptEncoding ?? "gzip, deflate, br",
  };
  for (const [name, value] of headerPairs(init.headers)) headers[name.toLowerCase()] = value;
  if (body) headers["content-length"] = body.byteLength;
  const viaProxy = proxy && !secure ? proxy : undefined;
  if (viaProxy?.authorization) headers["proxy-authorization"] = viaProxy.authorization;
  const unwanted = new AbortController();
  const request: RequestOptions & TunnelledRequest = {
    unwanted: unwanted.signal,
    agent,
    method: init.method ?? "GET",
    headers,
    hostname: viaProxy?.hostname ?? url.hostname.replace(/^\[|\]$/g, ""),
    port: viaProxy?.port ?? (url.port || (secure ? 443 : 80)),
    path: viaProxy ? `${url.origin}${url.pathname}${url.search}` : `${url.pathname}${url.search}`,
  };
  if (viaProxy?.protocol === "https:") {
    throw new NetError("proxy", "An https proxy cannot carry plain http requests. Use an http proxy for them.", {
      host: route.host,
    });
  }
  const client = secure ? await import("node:https") : await import("node:http");
  await closeStale(agent);
  // check this after the last await, since an earlier abort fires no event
  if (signal?.aborted) throw abortReason(signal);
  return await exchange(client.request(request), { route, body, signal, unwanted, options });
}

type Exchange = {
  route: Route;
  body: Uint8Array | undefined;
  signal: AbortSignal | undefined;
  unwanted: AbortController;
  options: FetchOptions;
};

function exchange(request: ClientRequest, { route, body, signal, unwanted, options }: Exchange): Promise<Response> {
  const { connectMs = 30_000, responseMs = 120_000, idleMs = 120_000 } = options;
  const place = { host: route.host, ...(route.through && { proxy: route.through }) };
  const named = route.through ? `${route.host} (through the proxy ${route.through})` : route.host;

  return new Promise((resolve, reject) => {
    const expire = (ms: number, words: string): NodeJS.Timeout | undefined =>
      ms > 0 ? setTimeout(() => stop(new NetError("timeout", words, place)), ms) : undefined;
    const connecting = expire(connectMs, `No connection to ${named} within ${seconds(connectMs)}.`);
    const answering = expire(responseMs, `No answer from ${named} within ${seconds(responseMs)}.`);
    const settle = (): void => {
      clearTimeout(connecting);
      clearTimeout(answering);
    };
    const fail = (error: unknown): void => {
      settle();
      signal?.removeEventListener("abort", abort);
      reject(translate(error));
    };
    // Destroying a request without a socket emits no event, so reject the promise here.
    const stop = (error: Error): void => {
      fail(error);
      request.destroy(error);
      unwanted.abort(error);
    };
    const abort = (): void => stop(abortReason(signal!));
    const translate = (error: unknown): unknown => {
      if (signal?.aborted) return abortReason(signal);
      if (error instanceof NetError) return error;
      const kind = netErrorKind(error);
      const cause = error as Error;
      const why = cause.message || cause.name;
      if (kind !== "reset" || answered)
        return new NetError(kind, `${whatHappened[kind]} ${named}: ${why}`, { ...place, cause });
      const isRepeatable = safeMethods.has(request.method) || !isUp || request.socket?.bytesWritten === writtenBefore;
      const after = isRepeatable ? "" : " after the request was sent, which may have been carried out";
      const broke = { isReused: request.reusedSocket, isRepeatable };
      return new NetError(kind, `${whatHappened[kind]} ${named}${after}: ${why}`, { ...place, cause, broke });
    };
    let answered = false;
    let isUp = false;
    let writtenBefore = 0;

    signal?.addEventListener("abort", abort, { once: true });
    const connected = (): void => {
      isUp = true;
      clearTimeout(connecting);
    };
    request.on("socket", (socket) => {
      writtenBefore = socket.bytesWritten;
      if (!socket.connecting) return connected();
      socket.once(route.url.protocol === "https:" ? "secureConnect" : "connect", connected);
    });
    request.on("error", fail);
    const accept = async (message: IncomingMessage): Promise<void> => {
      answered = true;
      settle();
      noteKept(message);
      const decoded = await decode(message);
      const limits = {
        idleMs,
        // A server may send its headers at once and only then start working on the answer.
        firstMs: idleMs > 0 && responseMs > 0 ? Math.max(idleMs, responseMs) : 0,
        onIdle: (begun: boolean) =>
          begun || responseMs <= idleMs
            ? new NetError("idle", `${named} stopped answering: nothing came for ${seconds(idleMs)}.`, place)
            : new NetError("timeout", `No answer from ${named} within ${seconds(responseMs)}.`, place),
        translate,
        onEnd: () => signal?.removeEventListener("abort", abort),
      };
      resolve(responseOf(message, decoded, route.url.href, limits));
    };
    request.on("response", (message) => void accept(message).catch(stop));
    request.end(body);
  });
}

/** HTTP methods that change nothing, however often they are repeated (RFC 9110, 9.2.1). */
const safeMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

const whatHappened = {
  refused: "Cannot connect to",
  dns: "Cannot find the address of",
  tls: "No secure connection to",
  timeout: "No connection to",
  idle: "No data from",
  reset: "The connection broke with",
  proxy: "The proxy refused",
  redirects: "Too many redirects from",
};

async function decode(message: IncomingMessage): Promise<Readable> {
  const encoding = message.headers["content-encoding"]?.trim().toLowerCase();
  if (!encoding || encoding === "identity" || !/^(x-gzip|gzip|deflate|br)$/.test(encoding)) return message;
  const zlib = await import("node:zlib");
  // The connection broke while the module was loading: its events have already fired, so report the error here.
  if (message.destroyed) throw Object.assign(new Error("aborted"), { code: "ECONNRESET" });
  // Pass on decompressed bytes at once; the reader detects a truncated end.
  const flush = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  const unpack =
    encoding === "br"
      ? zlib.createBrotliDecompress()
      : encoding === "deflate"
        ? zlib.createInflate()
        : zlib.createGunzip(flush);
  message.on("error", (error) => unpack.destroy(error));
  return message.pipe(unpack);
}

function headerPairs(headers: RequestInit["headers"]): Iterable<[string, string]> {
  if (!headers) return [];
  if (Symbol.iterator in headers) return headers as Iterable<[string, string]>;
  return Object.entries(headers as Record<string, string>);
}

function bodyBytes(body: RequestInit["body"]): Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return Buffer.from(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError("A request body is a string or bytes.");
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException("This operation was aborted", "AbortError");
}

function seconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`;
}
