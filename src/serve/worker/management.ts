// Serves a worker's health, readiness and metrics to probes, on loopback by default. It holds no secrets and changes nothing.
import { createServer, type IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { UserError } from "../../protocol/error-codes.ts";
import { systemErrorText } from "../../text/system-error.ts";
import { createGuard, loopbackHosts, securityHeaders } from "../http/guard.ts";
import { metricsText, metricsType, type WorkerStats } from "./stats.ts";

export type Management = { host: string; port: number; close(): Promise<void> };

type Page = (stats: WorkerStats) => { status: number; type: string; text: string };

const plain = "text/plain; charset=utf-8";

const pages: Readonly<Record<string, Page>> = {
  "/healthz": () => ({ status: 200, type: plain, text: "ok\n" }),
  "/readyz": ({ isReady }) => ({ status: isReady ? 200 : 503, type: plain, text: isReady ? "ready\n" : "not ready\n" }),
  "/metrics": (stats) => ({ status: 200, type: metricsType, text: metricsText(stats) }),
};

/** `PORT` and `:PORT` mean loopback; to listen beyond this machine, the host must be given. */
export function managementAddress(text: string): { host: string; port: number } {
  const [, host = "", port = ""] = /^(?:(\[[0-9a-f:.]+\]|[^:[\]\s]*):)?(\d{1,5})$/i.exec(text) ?? [];
  if (port === "" || Number(port) > 65_535)
    throw new UserError(
      "USAGE",
      `--management-addr '${text}' is not HOST:PORT. Example: --management-addr 127.0.0.1:8080`,
    );
  const name = host.replace(/^\[|\]$/g, "");
  return { host: name === "" || name === "localhost" ? "127.0.0.1" : name, port: Number(port) };
}

export async function listenForManagement(
  address: { host: string; port: number },
  stats: WorkerStats,
): Promise<Management> {
  let { port } = address;
  const guard = createGuard({
    hosts: namesOf(address.host),
    port: () => port,
    secrets: [],
    isPublic: (path) => path in pages,
  });
  const server = createServer(
    { requestTimeout: 5000, headersTimeout: 5000, keepAliveTimeout: 5000 },
    (request, response) => {
      const refusal = guard(withPlainHost(request, address.host, port));
      const page = refusal ? undefined : pages[request.url!.split("?")[0]!];
      const { status, type, text } = page?.(stats) ?? {
        status: refusal?.status ?? 404,
        type: plain,
        text: `${refusal?.message ?? "Not found."}\n`,
      };
      response.writeHead(status, {
        ...securityHeaders,
        "Content-Type": type,
        "Content-Length": Buffer.byteLength(text),
      });
      response.end(request.method === "HEAD" ? undefined : text);
    },
  );
  server.maxConnections = 32;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "another program listens there" : systemErrorText(error);
      reject(new UserError("PORT_TAKEN", `--management-addr ${address.host}:${port} cannot be used: ${why}.`));
    });
    server.listen(address, resolve);
  });
  port = (server.address() as { port: number }).port;
  server.unref();
  return {
    host: address.host,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The host names that are accepted, so that pages reached by another site's name (DNS rebinding) are refused. */
function namesOf(host: string): string[] {
  const name = isIP(host) === 6 ? `[${host}]` : host.toLowerCase();
  return [...new Set([...loopbackHosts, name, hostname().toLowerCase()])];
}

/** When listening on all addresses, accepts any IP address as the host: an address cannot be rebound like a name. */
function withPlainHost(request: IncomingMessage, host: string, port: number): IncomingMessage {
  const called = /^\[?([0-9a-f:.]+)\]?(?::\d+)?$/i.exec(request.headers.host ?? "")?.[1] ?? "";
  const isEverywhere = host === "0.0.0.0" || host === "::";
  if (isEverywhere && isIP(called) > 0 && request.headers.host !== undefined)
    request.headers.host = `127.0.0.1:${port}`;
  return request;
}
