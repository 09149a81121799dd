// A fetch for one server that the user named: the server may be anywhere, the other hosts that it refers to may not.
import { judgeAddress } from "../policy/network.ts";
import { parseAddress } from "../text/ip-address.ts";
import { createFetch, type Fetch } from "./fetch.ts";
import { checkedAddresses, GuardRefusal } from "./guarded.ts";
import { Headers } from "./headers.ts";
import { withReaders } from "./response.ts";
import { TransformStream } from "./streams.ts";

const longestEvent = 16 * 2 ** 20;

export type ServerFetchOptions = {
  env: NodeJS.ProcessEnv;
  /** Headers that are sent only to the server itself, not to hosts it refers to. */
  headers?: Readonly<Record<string, string>>;
};

/**
 * Reaches `named` by exactly its host and port. Other hosts that it refers to (a login page, a token endpoint) must be encrypted and
 * public, unless the server itself is on this machine: then they may be too.
 */
export function createServerFetch(named: URL, { env, headers = {} }: ServerFetchOptions): Fetch {
  // An event stream may be silent for hours, and a response may take as long as the work behind it.
  const limits = { env, responseMs: 0, idleMs: 0 };
  const own = createFetch(limits);
  const serverFetch = async (input: string | URL | { url: string }, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(typeof input === "string" || input instanceof URL ? input : input.url);
    const body = init.body instanceof URLSearchParams ? String(init.body) : init.body;
    const request = { ...init, body: body ?? null };
    if (url.host === named.host && url.protocol === named.protocol)
      return bounded(await own(url, { ...request, headers: withHeaders(headers, init.headers) }));
    const addresses = await otherAddresses(url, named, env);
    const pinned = createFetch({ env, ...(addresses && { pinned: { addresses } }) });
    return bounded(await pinned(url, request));
  };
  return serverFetch as Fetch;
}

/** Merges the headers; those of the transport win over the configured ones. */
function withHeaders(configured: Readonly<Record<string, string>>, given: RequestInit["headers"]): [string, string][] {
  const merged = new Headers(configured);
  for (const [name, value] of new Headers(given as Record<string, string> | undefined)) merged.set(name, value);
  return [...merged];
}

/** Checks a URL that a server refers to, and returns its addresses; undefined if both are on this machine. */
async function otherAddresses(url: URL, named: URL, env: NodeJS.ProcessEnv): Promise<readonly string[] | undefined> {
  if (isLoopback(named) && isLoopback(url)) return undefined;
  if (url.protocol !== "https:")
    throw new GuardRefusal("deny", [`${named.host} leads to ${url.origin}, which is not encrypted.`], url.href);
  return checkedAddresses(url, { mode: "force", rules: [], env });
}

export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (host === "localhost") return true;
  return parseAddress(host) !== undefined && judgeAddress(host).kind === "loopback";
}

/** Limits what comes without a blank line: a reader would buffer an event that has no end. */
function bounded(response: Response): Response {
  if (!response.body) return response;
  let length = 0;
  let before = Buffer.alloc(0);
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const text = Buffer.concat([before, chunk]);
        const end = Math.max(...["\n\n", "\n\r\n", "\r\r"].map((blank) => text.lastIndexOf(blank)));
        before = text.subarray(-2);
        length = end === -1 ? length + chunk.length : text.length - end;
        if (length > longestEvent)
          controller.error(new Error(`it sent an event of more than ${longestEvent / 2 ** 20} MiB`));
        else controller.enqueue(chunk);
      },
    }),
  );
  return { ...response, ...withReaders(body) } as unknown as Response;
}
