// Fetches URLs that a model asks for: checks every redirect and every address, connects only to the address that was checked, and
// limits time and size. Uses the same fetcher as everything else.
import type { Verdict } from "../policy/need.ts";
import { judgeAddresses, judgeUrl, type NetworkSituation } from "../policy/network.ts";
import { abortAfter } from "../protocol/abort-after.ts";
import { redactedStart } from "../redact/shorten.ts";
import { tryOr } from "../text/try-or.ts";
import { type Connect, createFetch } from "./fetch.ts";
import type { Headers } from "./headers.ts";
import { NetError, netErrorKind } from "./net-error.ts";
import { orAborted } from "./or-aborted.ts";
import { basicLogin, proxyFor } from "./proxy.ts";

export type GuardedRequest = NetworkSituation & {
  /** Origins that the user has approved, about which no question is asked. Denials still apply. */
  permitted?: readonly string[];
  /** Headers for the first origin. Others get only `accept`, `accept-language` and `user-agent`. */
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  limits?: Partial<GuardLimits>;
  /** The environment to read proxy variables from; default process.env. */
  env?: NodeJS.ProcessEnv;
  /** Returns all addresses of a name; default the system's lookup. */
  resolve?: Resolve;
  connect?: Connect;
};

export type GuardLimits = {
  redirects: number;
  /** The maximum size of the decompressed body in bytes. The rest is cut off. */
  bytes: number;
  /** The time limit from the first lookup to the last byte, in milliseconds. */
  totalMs: number;
};

export type Resolve = (host: string) => Promise<readonly string[]>;

export type GuardedResponse = {
  status: number;
  statusText: string;
  headers: Headers;
  /** The URL after all redirects. */
  url: string;
  /** The body. Either read it to its end or leave the loop: both close the connection. */
  body: AsyncIterable<Uint8Array>;
  /** Whether the body was longer than the limit. Known once it has been read. */
  readonly isTruncated: boolean;
};

/** A refused request or redirect: `ask` if a rule or the user could permit it, `deny` if not. */
export class GuardRefusal extends Error {
  readonly verdict: Exclude<Verdict, "allow">;
  readonly reasons: readonly string[];
  readonly url: string;

  constructor(verdict: Exclude<Verdict, "allow">, reasons: readonly string[], url: string) {
    super(reasons.join(" "));
    this.name = "GuardRefusal";
    this.verdict = verdict;
    this.reasons = reasons;
    this.url = url;
  }
}

const usualLimits: GuardLimits = { redirects: 10, bytes: 10 * 2 ** 20, totalMs: 30_000 };

/** Behind a proxy the local lookup is only a second opinion, and there may be no name server to answer it. */
const opinionMs = 1_500;

const goesAnywhere = new Set(["accept", "accept-language", "user-agent"]);

/** Fetches a URL that the rules permit. Throws GuardRefusal if they refuse it or a redirect, NetError if a server cannot be reached. */
export async function guardedFetch(address: string, request: GuardedRequest): Promise<GuardedResponse> {
  const limits = { ...usualLimits, ...request.limits };
  const deadline = startDeadline(limits.totalMs, request.signal, address);
  try {
    return await follow(address, request, limits, deadline);
  } catch (error) {
    deadline.end();
    throw error;
  }
}

async function follow(
  address: string,
  request: GuardedRequest,
  limits: GuardLimits,
  deadline: Deadline,
): Promise<GuardedResponse> {
  let url = permittedUrl(address, request);
  const { host } = url;
  let headers = { ...request.headers, ...loginOf(url) };
  url.username = url.password = "";
  for (let redirects = 0; ; redirects++) {
    const response = await askOnce(url, headers, request, deadline.signal);
    const location = redirectOf(response);
    if (location === undefined) return boundedResponse(response, url, limits.bytes, deadline);
    await response.body?.cancel();
    if (redirects === limits.redirects)
      throw new NetError("redirects", `${host} redirected more than ${limits.redirects} times.`, { host });
    const next = await nextUrl(location, url, request, deadline.signal);
    if (next.origin !== url.origin) headers = withoutSecrets(headers);
    url = next;
  }
}

function permittedUrl(address: string | URL, request: GuardedRequest): URL {
  const { verdict, reasons } = judgeUrl(address, request);
  if (verdict === "deny") throw new GuardRefusal("deny", reasons, String(address));
  const url = new URL(address);
  if (verdict === "ask" && !request.permitted?.includes(url.origin)) throw new GuardRefusal("ask", reasons, url.href);
  return url;
}

async function nextUrl(location: string, from: URL, request: GuardedRequest, signal: AbortSignal): Promise<URL> {
  // Servers write non-ASCII names as UTF-8 bytes, which Node decodes as Latin-1.
  const text = Buffer.from(location, "latin1").toString("utf8");
  const sentOn = (reason: string) => `${from.host} redirects to ${redactedStart(text, 200)}: ${reason}`;
  if (!URL.canParse(text, from.href)) throw new GuardRefusal("deny", [sentOn("that is not a URL.")], text);
  const next = new URL(text, from.href);
  const refusal = redirectRefusal(from, next, request);
  if (!refusal) return next;
  if (refusal.verdict === "ask") await closedBehind(next, request, signal);
  throw new GuardRefusal(refusal.verdict, refusal.reasons.map(sentOn), next.href);
}

function redirectRefusal(from: URL, next: URL, request: GuardedRequest): GuardRefusal | undefined {
  try {
    permittedUrl(next, request);
  } catch (error) {
    if (error instanceof GuardRefusal) return error;
    throw error;
  }
  if (next.username || next.password)
    return new GuardRefusal("deny", ["it contains a user name or a password."], next.href);
  if (from.protocol === "http:" || next.protocol === "https:") return undefined;
  return new GuardRefusal("ask", ["that is no longer encrypted. Fetch it directly if you mean it."], next.href);
}

/** Throws if the addresses of a host are denied in any case, so that the user is not asked about the redirect in vain. */
async function closedBehind(url: URL, request: GuardedRequest, signal: AbortSignal): Promise<void> {
  try {
    await judgedAddresses(url, request, signal);
  } catch (error) {
    if (error instanceof GuardRefusal || signal.aborted) throw error;
  }
}

function redirectOf({ status, headers }: Response): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? (headers.get("location") ?? undefined) : undefined;
}

/** Removes passwords, cookies and other headers of the caller, which only the first origin may see. */
function withoutSecrets(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => goesAnywhere.has(name.toLowerCase())));
}

function loginOf(url: URL): Record<string, string> {
  return url.username === "" && url.password === "" ? {} : { authorization: basicLogin(url) };
}

async function askOnce(
  url: URL,
  headers: Record<string, string>,
  request: GuardedRequest,
  signal: AbortSignal,
): Promise<Response> {
  const addresses = await judgedAddresses(url, request, signal);
  const light = createFetch({
    ...(request.env && { env: request.env }),
    pinned: { addresses, ...(request.connect && { connect: request.connect }) },
  });
  return await light(url, { headers, signal });
}

/** Returns the addresses that a host may be reached at, for requests made elsewhere. */
export function checkedAddresses(url: URL, request: GuardedRequest): Promise<readonly string[]> {
  const { href } = permittedUrl(url, request);
  const signal = request.signal ?? abortAfter(usualLimits.totalMs);
  return judgedAddresses(new URL(href), request, signal);
}

function isProxied(url: URL, env: NodeJS.ProcessEnv): boolean {
  return tryOr(() => proxyFor(url, env) !== undefined, false); // the fetcher reports what is wrong with the URL
}

/** Behind a proxy the proxy resolves the name: the local lookup can only refuse what it sees from here. */
async function judgedAddresses(url: URL, request: GuardedRequest, signal: AbortSignal): Promise<readonly string[]> {
  const literal = /^\[(.*)\]$|^([\d.]+)$/.exec(url.hostname);
  if (literal) return [literal[1] ?? literal[2]!]; // the address was checked together with the URL
  const proxied = isProxied(url, request.env ?? process.env);
  let addresses: readonly string[];
  try {
    const asked = (request.resolve ?? systemResolve)(url.hostname.replace(/\.$/, ""));
    addresses = await orAborted(asked, proxied ? AbortSignal.any([signal, abortAfter(opinionMs)]) : signal);
    if (addresses.length === 0) throw Object.assign(new Error("it has no address"), { code: "ENODATA" });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (proxied) return [];
    const cause = error as Error;
    throw new NetError(netErrorKind(cause), `Cannot find the address of ${url.host}: ${cause.message}`, {
      host: url.host,
      cause,
    });
  }
  const { verdict, reasons } = judgeAddresses(url, addresses, request);
  if (verdict !== "allow") throw new GuardRefusal(verdict, reasons, url.href);
  return addresses;
}

async function systemResolve(host: string): Promise<string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}

function boundedResponse(response: Response, url: URL, limit: number, deadline: Deadline): GuardedResponse {
  let isTruncated = false;
  async function* boundedBody(): AsyncGenerator<Uint8Array> {
    let left = limit;
    try {
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        isTruncated = chunk.byteLength > left;
        const keptChunk = isTruncated ? chunk.subarray(0, left) : chunk;
        if (keptChunk.byteLength > 0) yield keptChunk;
        if (isTruncated) return; // leaving the loop closes the connection
        left -= keptChunk.byteLength;
      }
    } finally {
      deadline.end();
    }
  }
  return {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers as unknown as Headers,
    url: url.href,
    body: boundedBody(),
    get isTruncated() {
      return isTruncated;
    },
  };
}

type Deadline = { signal: AbortSignal; end(): void };

function startDeadline(totalMs: number, signal: AbortSignal | undefined, address: string): Deadline {
  const controller = new AbortController();
  const host = URL.canParse(address) ? new URL(address).host : "";
  const late = () =>
    controller.abort(
      new NetError("timeout", `${host} did not finish its answer within ${totalMs / 1000} s.`, { host }),
    );
  const timer = setTimeout(late, totalMs);
  const either = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
  return { signal: either, end: () => clearTimeout(timer) };
}
