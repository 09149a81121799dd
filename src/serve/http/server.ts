// The HTTP server: loopback unless told otherwise, few connections, small bodies, every request through the guard.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { UserError } from "../../protocol/error-codes.ts";
import { createGuard, type Guard, type GuardOptions, securityHeaders } from "./guard.ts";
import type { Page } from "./page.ts";
import { proofPath, proveToken } from "./proof.ts";
import { type App, type Exchange, errorBody } from "./route.ts";

/** Pictures come as base64 text. */
const mostBodyBytes = 24 * 1024 * 1024;
const mostConnections = 256;
/** Answers of fewer bytes are not worth the work. */
const leastPressed = 1400;
/** Level 1 presses JSON to a tenth nearly as well as the default does, in a third of the time. */
const gzipped = (bytes: Buffer) => promisify(gzip)(bytes, { level: 1 });
/** How long a connection may be silent while nothing is being answered. */
const idleMs = 10_000;

export type HttpService = {
  port: number;
  /** Requests that are being answered, streams among them. */
  readonly open: number;
  close(): Promise<void>;
};

export type HttpOptions = Pick<GuardOptions, "hosts"> & {
  host: string;
  token: string;
  /** A way in beside the token. */
  password?: string;
  /** The files of the page, which hold nothing secret. */
  page: Page;
  /** 0: a free one. */
  port: number;
  app: App;
  /** Called when a request was answered. */
  onAnswered?(): void;
};

export async function listen(options: HttpOptions): Promise<HttpService> {
  let port = options.port;
  const { token, password, page, hosts } = options;
  const guard = createGuard({
    hosts,
    port: () => port,
    secrets: password === undefined ? [token] : [token, password],
    isPublic: (path) => path === proofPath || page.fileAt(path) !== undefined,
  });
  const busy = new Map<Socket, number>();
  let open = 0;
  const server = createServer(
    // No timer of the server's own: connections that are silent have one each, while they last.
    { connectionsCheckingInterval: 2 ** 31 - 1, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: idleMs },
    (request, response) => {
      open++;
      busy.set(request.socket, (busy.get(request.socket) ?? 0) + 1);
      request.socket.setTimeout(0);
      response.once("close", () => {
        open--;
        const left = (busy.get(request.socket) ?? 1) - 1;
        if (left > 0) busy.set(request.socket, left);
        else {
          busy.delete(request.socket);
          request.socket.setTimeout(idleMs);
        }
        options.onAnswered?.();
      });
      void answer(request, response, guard, options);
    },
  );
  limitConnections(server, busy);
  server.on("upgrade", (request, socket) => {
    const { status = 403 } = guard(request) ?? {};
    socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, options)));
    server.listen({ host: options.host, port: options.port }, resolve);
  });
  port = (server.address() as { port: number }).port;
  return {
    port,
    get open() {
      return open;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A newcomer takes the place of whoever has been idle longest: no flood of connections locks its user out. */
function limitConnections(server: Server, busy: ReadonlyMap<Socket, number>): void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    if (sockets.size <= mostConnections) return;
    for (const each of sockets) {
      if (busy.has(each) || each === socket) continue;
      sockets.delete(each);
      each.destroy();
      return;
    }
    socket.destroy();
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  guard: Guard,
  { app, page, token }: HttpOptions,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    const stranger = guard(request);
    if (stranger) return refuse(response, stranger);
    if (page.send(request, response) || proveToken(request, response, token)) return;
    const fault = bodyFault(request);
    const body = await bodyOf(request, { isWanted: fault === undefined });
    if (body === undefined) return refuse(response, fault ?? tooLarge);
    const exchange: Exchange = { outgoing: response, body, signal: gone.signal, isSent: false };
    const lastEventId = request.headers["last-event-id"];
    const headers: Record<string, string> = typeof lastEventId === "string" ? { "last-event-id": lastEventId } : {};
    const answered = await app.fetch(
      new Request(`http://service${pathOf(request)}`, { method: request.method ?? "GET", headers }),
      exchange,
    );
    if (exchange.isSent) return;
    const plain = Buffer.from(await answered.arrayBuffer());
    const isPressed = plain.length > leastPressed && /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
    const sent = isPressed ? await gzipped(plain) : plain;
    response.writeHead(answered.status, {
      ...securityHeaders,
      ...Object.fromEntries(answered.headers),
      "Content-Length": sent.length,
      ...(isPressed && { "Content-Encoding": "gzip", Vary: "Accept-Encoding" }),
    });
    response.end(sent);
  } catch {
    // A path that is no path, or a client that broke off.
    if (!response.headersSent)
      refuse(response, { status: 400, code: "invalid_request", message: "The request cannot be read." });
    else response.destroy();
  }
}

const tooLarge = { status: 413, code: "too_large", message: `The body may have at most ${mostBodyBytes} bytes.` };

/** What a form of another site can send is not JSON by its name. */
function bodyFault({ method = "", headers }: IncomingMessage) {
  const length = headers["content-length"];
  const hasBody = headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
  if (!hasBody) return undefined;
  if (method === "GET" || method === "HEAD")
    return { status: 400, code: "invalid_request", message: "A GET request must not have a body." };
  if (Number(length) > mostBodyBytes) return tooLarge;
  if (!/^application\/json(\s*;|$)/i.test(headers["content-type"] ?? ""))
    return {
      status: 415,
      code: "unsupported_media_type",
      message: "The body must be JSON: Content-Type: application/json.",
    };
  return undefined;
}

/**
 * Undefined: it is too large, or was not wanted. It is read all the same, within bounds, since who still writes would not
 * read the answer; who goes on for longer is cut off.
 */
async function bodyOf(request: IncomingMessage, { isWanted }: { isWanted: boolean }): Promise<string | undefined> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (isWanted && bytes <= mostBodyBytes) chunks.push(chunk);
    else chunks = [];
    if (bytes > 4 * mostBodyBytes) return undefined;
  }
  return isWanted && bytes <= mostBodyBytes ? Buffer.concat(chunks).toString("utf8") : undefined;
}

function pathOf({ url = "/" }: IncomingMessage): string {
  if (!url.startsWith("/")) throw new UserError("USAGE", "The path must start with a slash.");
  return url;
}

function refuse(
  response: ServerResponse,
  { status, code, message }: { status: number; code: string; message: string },
): void {
  const text = JSON.stringify(errorBody(code, message));
  response.writeHead(status, {
    ...securityHeaders,
    "Content-Type": "application/json",
    ...(status === 413 && { Connection: "close" }),
  });
  response.end(text);
}

function listenError(error: NodeJS.ErrnoException, { host, port }: HttpOptions): UserError {
  if (error.code === "EADDRINUSE")
    return new UserError(
      "PORT_TAKEN",
      `The port ${port} is in use. Choose another: serve --port <n>, or none for a free one.`,
    );
  return new UserError("USAGE", `The service cannot listen on ${host}:${port}: ${error.message}.`);
}
