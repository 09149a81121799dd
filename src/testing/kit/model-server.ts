// A model server on loopback that speaks the vendors' APIs, streaming or not, and gives the answers a test defines.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tryParse } from "../../json/object.ts";
import { isStreamed, type Wire, wireForPath, wires } from "./wires/index.ts";

/** A tool call in an answer. */
export type ToolCallAnswer = {
  id?: string;
  name: string;
  /** The arguments of the call. A string is sent unchanged, so that it can be invalid JSON. */
  args: unknown;
};

export type UsageAnswer = { input?: number; output?: number; cacheRead?: number; cacheWrite?: number };

/** An answer of the model server: a reply or a fault. */
export type ModelAnswer = {
  /** Any status but 200 is an error, with `body` or with the vendor's usual one. */
  status?: number;
  headers?: Record<string, string>;
  contentType?: string;
  /** Sent in place of an answer. A string is sent unchanged, anything else as JSON. */
  body?: unknown;
  thinking?: string;
  /** The text of the answer. Several strings are sent as separate deltas. */
  text?: string | readonly string[];
  toolCalls?: readonly ToolCallAnswer[];
  usage?: UsageAnswer;
  /** Why the model stopped, in the vendor's own term. */
  stopReason?: string;
  /** Raw bytes, one write each, instead of all the above. `status` still applies. */
  chunks?: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  /** What follows the chunks: a proper end (default), closing the connection without one, a reset, or silence. */
  ending?: "end" | "close" | "reset" | "silence";
  /** If set, the server accepts the connection and never responds. */
  acceptOnly?: true;
  /** If set, the server closes the connection without a response. */
  hangUp?: true;
  delayMs?: number;
  /** How many times this answer is given; once by default. */
  repeat?: number;
  /** Restricts the answer to matching requests. Other requests take the next answer. */
  when?(request: RecordedRequest): boolean;
};

/** A request that the model server received. */
export type RecordedRequest = {
  method: string;
  path: string;
  wire: Wire | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The parsed body, or undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: requests of every vendor are read by tests as they are
  json: any;
  model: string;
  key: string;
  /** When the head of the request arrived, from performance.now(). */
  at: number;
  /** Counts from 1, among the requests that want an answer; ids of replies and calls are made of it. */
  number: number;
};

/** A server on loopback that speaks the APIs of model vendors. */
export interface ModelServer {
  /** The base URL of the server; every API is below `${url}/v1`. */
  url: string;
  /** The requests that the server received, in order. */
  requests: readonly RecordedRequest[];
  /** Variables that make programs use it instead of Anthropic, OpenAI and Google. */
  env: Record<string, string>;
  /** A `courser.json` in which `anthropic`, `openai` (responses), `google` and `chat` (OpenAI's older API) are this server. */
  settings: { providers: Record<string, object> };
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Gives the answers one after the other, or as the function returns them. Listens on a free loopback port. `lists` says whether
 * it answers GET by itself, with a list of models; `after` is the number before that of its first request.
 */
export async function modelServer(
  answers: readonly ModelAnswer[] | ((request: RecordedRequest) => ModelAnswer | Promise<ModelAnswer>),
  { lists = true, after = 0 }: { lists?: boolean; after?: number } = {},
): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  const next = typeof answers === "function" ? answers : queue(answers);
  const server = createServer((message, response) => {
    const at = performance.now();
    const pieces: Buffer[] = [];
    message.on("data", (piece: Buffer) => pieces.push(piece));
    message.on("end", async () => {
      const number = after + requests.filter(({ method }) => method !== "GET").length + 1;
      const request = {
        ...record(message.method ?? "", message.url ?? "", message.headers, Buffer.concat(pieces), at),
        number,
      };
      requests.push(request);
      if (lists && request.method === "GET") return sendJson(response, 200, modelList(request));
      try {
        await give(response, request, await next(request));
      } catch (error) {
        sendJson(response, 500, {
          error: { message: `model server: ${(error as Error).message}`, type: "server_error" },
        });
      }
    });
    message.on("error", () => {});
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests, ...clientSettings(`${url}/v1`), stop, [Symbol.asyncDispose]: stop };
}

const keyVariables = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];

function clientSettings(baseUrl: string): Pick<ModelServer, "env" | "settings"> {
  const keys = Object.fromEntries(keyVariables.map((name) => [name, "test"]));
  const [anthropic, openai, google] = keyVariables.map((keyEnv) => ({ baseUrl, keyEnv }));
  const chat = { type: "openai-compatible", baseUrl, keyEnv: keyVariables[1] };
  return {
    env: { ...keys, ANTHROPIC_BASE_URL: baseUrl, OPENAI_BASE_URL: baseUrl, GOOGLE_GEMINI_BASE_URL: baseUrl },
    settings: { providers: { anthropic: anthropic!, openai: openai!, google: google!, chat } },
  };
}

/** Every model name works here; this list is for programs that look for one. */
function modelList({ headers }: RecordedRequest): object {
  if (headers["x-goog-api-key"] !== undefined) return { models: [{ name: "models/model", displayName: "Model" }] };
  const own = headers["anthropic-version"] === undefined ? { object: "model", owned_by: "test" } : { type: "model" };
  return { object: "list", data: [{ id: "model", ...own, display_name: "Model" }], has_more: false };
}

function queue(answers: readonly ModelAnswer[]): (request: RecordedRequest) => ModelAnswer {
  const left = answers.map((answer) => ({ answer, times: answer.repeat ?? 1 }));
  return (request) => {
    const found = left.find(({ answer, times }) => times > 0 && (answer.when?.(request) ?? true));
    if (!found)
      return { status: 500, body: { error: { message: "model server: no answer is left", type: "server_error" } } };
    found.times--;
    return found.answer;
  };
}

function record(
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  at: number,
): Omit<RecordedRequest, "number"> {
  // biome-ignore lint/suspicious/noExplicitAny: requests of every vendor are read by tests as they are
  const json: any = tryParse(body.toString("utf8"));
  const bearer = /^Bearer (.*)$/.exec(headers.authorization ?? "")?.[1];
  const key = bearer ?? headers["x-api-key"] ?? headers["x-goog-api-key"] ?? "";
  const model = json?.model ?? /models\/([^:]+):/.exec(path)?.[1] ?? "";
  return { method, path, wire: wireForPath(path), headers, body, json, model, key: String(key), at };
}

async function give(response: ServerResponse, request: RecordedRequest, answer: ModelAnswer): Promise<void> {
  if (answer.acceptOnly) return;
  if (answer.delayMs) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
  if (answer.hangUp) return void response.socket?.destroy();
  const status = answer.status ?? 200;
  if (!answer.chunks && (status !== 200 || answer.body !== undefined)) {
    const body = answer.body ?? wires[request.wire ?? "openai-chat"].failure(status);
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const type = answer.contentType ?? (typeof answer.body === "string" ? "text/plain" : "application/json");
    response.writeHead(status, { "content-type": type, ...answer.headers }).end(text);
    return;
  }
  if (!request.wire && !answer.chunks)
    return sendJson(response, 404, { error: { message: `no such path: ${request.path}` } });
  const isStream = isStreamed(request);
  const type = answer.contentType ?? (isStream || answer.chunks ? "text/event-stream" : "application/json");
  response.writeHead(status, { "content-type": type, ...answer.headers });
  response.flushHeaders();
  const said = () => {
    const { stream, whole } = wires[request.wire!];
    return isStream ? stream(answer, request) : [JSON.stringify(whole(answer, request))];
  };
  for await (const chunk of answer.chunks ?? said()) {
    if (response.destroyed) return;
    response.write(chunk);
    // Let each write leave before the next, so that it arrives as one read.
    await new Promise((resolve) => setImmediate(resolve));
  }
  switch (answer.ending ?? "end") {
    case "end":
      response.end();
      break;
    case "close":
      // Omit the last chunk of HTTP's framing: the connection just ends.
      response.socket?.end();
      break;
    case "reset":
      response.socket?.resetAndDestroy();
      break;
    case "silence":
      break;
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
