// A recorder on loopback: forwards a CLI's requests to the vendor and the replies back, and records both, without keys.
import { createFetch } from "../../net/fetch.ts";
import { createRedactor } from "../../redact/redact.ts";
import { redacted } from "../describe.ts";
import { type ModelAnswer, type ModelServer, modelServer, type RecordedRequest } from "../kit/model-server.ts";
import { type ExchangesHeader, ExchangeWriter } from "./exchange-file.ts";

/** A server that agent CLIs talk to in place of their vendor. */
export interface Middleman {
  /** Returns the address of this server that stands in for the vendor's address. */
  standIn(vendor: string): string;
  stop(): Promise<void>;
}

/** Matches the beginning of a request's path, which contains the number of the vendor. */
const route = /^\/vendor-(\d+)(?=\/|$)/;

/** Calls `answer` with each request, its path below the vendor's base address, and that address. */
export async function middleman(
  answer: (request: RecordedRequest, path: string, vendor: string) => Promise<ModelAnswer>,
): Promise<Middleman & { server: ModelServer }> {
  const vendors: string[] = [];
  const server = await modelServer(
    (request) => {
      const vendor = vendors[Number(route.exec(request.path)?.[1])];
      if (vendor === undefined) return { status: 404, body: { error: { message: `no vendor for ${request.path}` } } };
      return answer(request, request.path.replace(route, ""), vendor);
    },
    { lists: false },
  );
  return {
    server,
    standIn: (vendor) => `${server.url}/vendor-${vendors.push(vendor.replace(/\/$/, "")) - 1}`,
    stop: () => server.stop(),
  };
}

/** Headers that belong to a single connection, which are not forwarded. */
const ofConnection =
  /^(?:host|connection|keep-alive|transfer-encoding|content-length|accept-encoding|expect|upgrade|te|trailer|proxy-.*)$/;
const keptHeaders = ["content-type", "retry-after", "retry-after-ms", "x-should-retry"];

/** The time limit of a request. It is long, because models may think for minutes. */
const longestMs = 15 * 60_000;

export type RecorderOptions = {
  file: string;
  header: ExchangesHeader;
  env: NodeJS.ProcessEnv;
  /** The keys in use, which must not be recorded. */
  secrets: readonly string[];
};

export async function startRecorder({ file, header, env, secrets }: RecorderOptions): Promise<Middleman> {
  const writer = new ExchangeWriter(file, header);
  const begun = performance.now();
  const since = (start: number) => Math.round(performance.now() - start);
  const ask = createFetch({ env, responseMs: longestMs, idleMs: longestMs, acceptEncoding: "identity" });
  const knownSecrets = new Set(secrets);
  let { redact } = createRedactor({ values: secrets });
  let count = 0;

  const { server: _, ...made } = await middleman(async (request, path, vendor) => {
    if (request.key !== "" && !knownSecrets.has(request.key)) {
      knownSecrets.add(request.key);
      ({ redact } = createRedactor({ values: [...knownSecrets] }));
    }
    const number = ++count;
    writer.request({
      request: number,
      at: since(begun),
      method: request.method,
      vendor: redact(vendor),
      path: withoutKey(path),
      ...(request.body.length > 0 && { body: redacted(request.json ?? request.body.toString("utf8"), redact) }),
    });
    const abort = new AbortController();
    const response = await ask(`${vendor}${path}`, {
      method: request.method,
      headers: forwardedHeaders(request.headers),
      signal: abort.signal,
      ...(request.body.length > 0 && { body: new Uint8Array(request.body) }),
    }).catch((error: Error) => unreachableResponse(vendor, error));
    const { status, headers } = response;
    const head = performance.now();
    const at = since(begun);
    const kept = Object.fromEntries(
      keptHeaders.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)!]] : [])),
    );
    async function* passOn(): AsyncGenerator<Uint8Array> {
      const pieces: { after: number; bytes: Uint8Array }[] = [];
      let isWhole = false;
      try {
        for await (const bytes of response.body ?? []) {
          pieces.push({ after: since(head), bytes });
          yield bytes;
        }
        isWhole = true;
      } finally {
        if (!isWhole) abort.abort();
        const chunks = textChunks(pieces, redact);
        writer.reply({ reply: number, at, status, headers: kept, chunks, ...(!isWhole && { cut: true as const }) });
      }
    }
    const back = Object.fromEntries(
      [...headers].filter(([name]) => !ofConnection.test(name) && name !== "content-encoding"),
    );
    return { status, headers: back, chunks: passOn() };
  });
  return {
    ...made,
    async stop() {
      await made.stop();
      // Let a reply that was interrupted write its line first.
      await new Promise((resolve) => setImmediate(resolve));
      writer.close();
    },
  };
}

function unreachableResponse(vendor: string, error: Error): Response {
  const message = `The recorder could not reach ${vendor}: ${error.message}`;
  return new Response(JSON.stringify({ type: "error", error: { type: "api_error", message } }), {
    status: 502,
    headers: { "content-type": "application/json" },
  });
}

function forwardedHeaders(headers: RecordedRequest["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ofConnection.test(name) ? [] : [[name, String(value)]],
    ),
  );
}

/** Removes the key that Google's addresses may contain. */
export function withoutKey(path: string): string {
  return path.replace(/([?&])key=[^&]*&?/, "$1").replace(/[?&]$/, "");
}

/** Decodes and redacts across chunks, because the network may split a character or a secret. */
function textChunks(
  pieces: readonly { after: number; bytes: Uint8Array }[],
  redact: (text: string) => string,
): [number, string][] {
  const decoder = new TextDecoder();
  const chunks = pieces.map(({ after, bytes }): [number, string] => [after, decoder.decode(bytes, { stream: true })]);
  const text = chunks.map(([, piece]) => piece).join("");
  const clean = redact(text);
  return clean === text ? chunks : [[chunks[0]?.[0] ?? 0, clean]];
}
