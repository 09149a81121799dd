// An https agent that connects through an HTTP proxy with CONNECT.
import type { IncomingMessage, RequestOptions } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import type { ConnectionOptions } from "node:tls";
import { NetError, netErrorKind } from "./net-error.ts";
import type { ProxyServer } from "./proxy.ts";

type ConnectCallback = (error: Error | null, socket?: Duplex) => void;
type Destroyable = { destroy(): unknown };
type TunnelTarget = { host?: string | null; port?: number | string | null; servername?: string; unwanted: AbortSignal };

/** An extra option of requests through a tunnel: `unwanted` aborts when the request ended before it was connected. */
export type TunnelledRequest = { unwanted: AbortSignal };

export async function tunnelAgent(proxy: ProxyServer, tls: ConnectionOptions): Promise<HttpsAgent> {
  const [http, https, { connect }] = await Promise.all([import("node:http"), import("node:https"), import("node:tls")]);
  const agent = new https.Agent({ keepAlive: true });
  const through = `${proxy.hostname}:${proxy.port}`;

  const createConnection = (place: TunnelTarget, done: ConnectCallback): void => {
    const host = place.host ?? "";
    const port = Number(place.port) || 443;
    const target = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    let parts: Destroyable[] = [];
    const end: ConnectCallback = (error, secure) => {
      place.unwanted.removeEventListener("abort", giveUp);
      if (error) for (const part of parts) part.destroy();
      done(error, secure);
    };
    // A connection that no request waits for must not keep the process alive: neither its CONNECT nor its handshake.
    // The time limits are those of the waiting request, which started earlier.
    const giveUp = (): void => end(place.unwanted.reason as Error);
    const fail = (error: unknown, message: string): void =>
      end(new NetError(error ? netErrorKind(error) : "proxy", message, { host: target, proxy: through, cause: error }));
    const request: RequestOptions = {
      hostname: proxy.hostname,
      port: proxy.port,
      method: "CONNECT",
      path: target,
      agent: false,
      headers: { host: target, ...(proxy.authorization && { "proxy-authorization": proxy.authorization }) },
    };
    const asked = proxy.protocol === "https:" ? https.request({ ...request, ...tls }) : http.request(request);
    parts = [asked];
    place.unwanted.addEventListener("abort", giveUp, { once: true });
    asked.on("error", (error) => fail(error, `The proxy ${through} cannot be reached: ${error.message}`));
    asked.once("connect", (answer: IncomingMessage, socket: Duplex) => {
      if (answer.statusCode !== 200) {
        parts = [socket];
        fail(undefined, proxyRefusalText(through, target, answer));
        return;
      }
      // TLS sends a server name only for host names, not for addresses.
      const servername = place.servername ?? (/[:]|^[\d.]+$/.test(host) ? undefined : host);
      const secure = connect({ ...tls, socket, ...(servername && { servername }) });
      parts = [secure, socket];
      const early = (error: Error): void => fail(error, `TLS with ${target} failed: ${error.message}`);
      secure.on("error", early);
      secure.once("secureConnect", () => {
        secure.off("error", early);
        end(null, secure);
      });
    });
    asked.end();
  };
  agent.createConnection = createConnection as unknown as typeof agent.createConnection;
  return agent;
}

function proxyRefusalText(proxy: string, target: string, answer: IncomingMessage): string {
  const reply = `The proxy ${proxy} answered ${answer.statusCode} ${answer.statusMessage ?? ""}`.trim();
  if (answer.statusCode === 407)
    return `${reply} for ${target}: it requires a login. Write it into the proxy's URL: http://user:password@host:port.`;
  return `${reply} for ${target}.`;
}
