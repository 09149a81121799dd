// A fetch for one server that the user named: it may be anywhere, other hosts that it leads to may not.
import { judgeAddress, parseAddress } from "../policy/network.ts";
import { createFetch, type Fetch } from "./fetch.ts";
import { checkedAddresses, GuardRefusal } from "./guarded.ts";
import { Headers } from "./headers.ts";
import { withReaders } from "./response.ts";

const longestLine = 16 * 2 ** 20;

export type ServerFetchOptions = {
  env: NodeJS.ProcessEnv;
  /** For the server itself: what it leads to does not get them. */
  headers?: Readonly<Record<string, string>>;
};

/**
 * For `named`, host and port as they stand there. Whatever else it sends us to (a place to log in, a token endpoint) must
 * be encrypted and public, unless the server itself is on this machine: then so may they be.
 */
export function createServerFetch(named: URL, { env, headers = {} }: ServerFetchOptions): Fetch {
  // A stream of events may be silent for hours, and an answer take as long as the work behind it.
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

/** What the transport itself says counts more. */
function withHeaders(configured: Readonly<Record<string, string>>, given: RequestInit["headers"]): [string, string][] {
  const merged = new Headers(configured);
  for (const [name, value] of new Headers((given ?? {}) as Record<string, string>)) merged.set(name, value);
  return [...merged];
}

/** Undefined: on this machine, as the server itself is. */
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

/** A line that never ends would be kept whole by whoever reads it. */
function bounded(response: Response): Response {
  if (!response.body) return response;
  let length = 0;
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const lastBreak = chunk.lastIndexOf(10);
        length = lastBreak === -1 ? length + chunk.length : chunk.length - lastBreak;
        if (length > longestLine)
          controller.error(new Error(`it sent a line of more than ${longestLine / 2 ** 20} MiB`));
        else controller.enqueue(chunk);
      },
    }),
  );
  return { ...response, ...withReaders(body) } as unknown as Response;
}
