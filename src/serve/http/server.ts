// Runs the HTTP server: on loopback by default, with limits on connections and body size; every request passes the guard.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { createGuard, type Guard, type GuardOptions, securityHeaders } from "./guard.ts";
import type { Page } from "./page.ts";
import { proofPath, proveToken } from "./proof.ts";
import { type App, type Exchange, errorBody } from "./route.ts";

/** The maximum size of a request body, large enough for images in base64. */
const maxBodyBytes = 24 * 1024 * 1024;
const maxConnections = 256;
/** The size in bytes below which replies are not compressed. */
const leastPressed = 1400;
/** Level 1 compresses JSON to a tenth, nearly as well as the default, in a third of the time. */
const gzipped = (bytes: Buffer) => promisify(gzip)(bytes, { level: 1 });
/** How many milliseconds a connection may be idle while no request is being answered. */
const idleMs = 10_000;

export type HttpService = {
  port: number;
  /** The number of requests that are being answered, including open streams. */
  readonly open: number;
  close(): Promise<void>;
};

export type HttpOptions = Pick<GuardOptions, "hosts"> & {
  host: string;
  token: string;
  /** A password that is accepted instead of the token. */
  password?: string;
  /** The files of the studio's page, which contain no secrets. */
  page: Page;
  /** The port to listen on; 0 selects any free port. */
  port: number;
  app: App;
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
    // The server's own timers are off: each connection has its own idle timeout.
    { connectionsCheckingInterval: 2 ** 31 - 1, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: idleMs },
    (request, response) => {
      // Keep the socket: a request that is cut off no longer refers to it.
      const { socket } = request;
      open++;
      busy.set(socket, (busy.get(socket) ?? 0) + 1);
      socket.setTimeout(0);
      response.once("close", () => {
        open--;
        const left = (busy.get(socket) ?? 1) - 1;
        if (left > 0) busy.set(socket, left);
        else {
          busy.delete(socket);
          socket.setTimeout(idleMs);
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

/** Limits connections: a new one replaces the longest idle one, so that a flood of them cannot lock the user out. */
function limitConnections(server: Server, busy: ReadonlyMap<Socket, number>): void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    if (sockets.size <= maxConnections) return;
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
    const body = await readBody(request, { isWanted: fault === undefined });
    if (body === undefined) return refuse(response, fault ?? tooLarge);
    const exchange: Exchange = { outgoing: response, body, signal: gone.signal, isSent: false };
    const lastEventId = request.headers["last-event-id"];
    const headers: Record<string, string> = typeof lastEventId === "string" ? { "last-event-id": lastEventId } : {};
    const answered = await app.fetch(
      new Request(`http://service${requestPath(request)}`, { method: request.method ?? "GET", headers }),
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
    // The path of the request is invalid, or the client has disconnected.
    if (!response.headersSent)
      refuse(response, { status: 400, code: "invalid_request", message: "The request cannot be read." });
    else response.destroy();
  }
}

const tooLarge = { status: 413, code: "too_large", message: `The body may have at most ${maxBodyBytes} bytes.` };

/** Requires the JSON content type, which a form of another site cannot send. */
function bodyFault({ method = "", headers }: IncomingMessage) {
  const length = headers["content-length"];
  const hasBody = headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
  if (!hasBody) return undefined;
  if (method === "GET" || method === "HEAD")
    return { status: 400, code: "invalid_request", message: "A GET request must not have a body." };
  if (Number(length) > maxBodyBytes) return tooLarge;
  if (!/^application\/json(\s*;|$)/i.test(headers["content-type"] ?? ""))
    return {
      status: 415,
      code: "unsupported_media_type",
      message: "The body must be JSON: Content-Type: application/json.",
    };
  return undefined;
}

/**
 * Reads the body of a request; undefined if it is too large or not wanted. It is still read, within bounds, because a client that is
 * still writing would not read the reply; a client that sends more is cut off.
 */
async function readBody(request: IncomingMessage, { isWanted }: { isWanted: boolean }): Promise<string | undefined> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (isWanted && bytes <= maxBodyBytes) chunks.push(chunk);
    else chunks = [];
    if (bytes > 4 * maxBodyBytes) return undefined;
  }
  return isWanted && bytes <= maxBodyBytes ? Buffer.concat(chunks).toString("utf8") : undefined;
}

function requestPath({ url = "/" }: IncomingMessage): string {
  if (!url.startsWith("/")) throw usageError("The path must start with a slash.");
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
  return usageError(`The service cannot listen on ${host}:${port}: ${error.message}.`);
}
