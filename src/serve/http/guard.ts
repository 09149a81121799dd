// Guards every request before anything else reads it: checks its host, origin, token and method.
// Whatever is not explicitly allowed is refused.

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export type GuardOptions = {
  /** The host names and addresses of this service, without the port. */
  hosts: readonly string[];
  port(): number;
  secrets: readonly string[];
  /** Paths of the page's own files, which hold nothing secret: a browser cannot send a token header when it opens an address. */
  isPublic(path: string): boolean;
};

export type Refusal = { status: number; code: string; message: string };

export type Guard = (request: IncomingMessage) => Refusal | undefined;

export const loopbackHosts = ["127.0.0.1", "localhost", "[::1]"];

/** Returns the host names of a service that listens on an address; one on a loopback address accepts only that and `localhost`. */
export function hostNames(host: string): string[] {
  const name = host.includes(":") ? `[${host}]` : host.toLowerCase();
  return ["127.0.0.1", "[::1]"].includes(name) ? [name, "localhost"] : [...loopbackHosts, name];
}

const reading = ["GET", "HEAD"];
const methods = [...reading, "POST", "PATCH", "DELETE"];

export function createGuard({ hosts, port, secrets, isPublic }: GuardOptions): Guard {
  const digests = secrets.map(digestOf);
  return ({ method = "", url = "", headers, rawHeaders }) => {
    // Refuse duplicate headers: this check would read the first, and a proxy in front of the service perhaps the
    // second.
    if (rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length > 1)
      return refuse(400, "two_hosts", "A request has one Host header.");
    const allowedHosts = hosts.map((host) => `${host}:${port()}`);
    const host = headers.host?.toLowerCase() ?? "";
    if (!allowedHosts.includes(host))
      return refuse(403, "forbidden_host", "This service does not have that host name.");
    // Refuse requests from pages of other origins, even with a valid token.
    const { origin } = headers;
    if (origin !== undefined && origin.toLowerCase() !== `http://${host}`)
      return refuse(403, "forbidden_origin", "Requests from other origins are rejected.");
    const site = headers["sec-fetch-site"];
    const sites = reading.includes(method) ? ["same-origin", "none"] : ["same-origin"];
    // Any site may link to the page: by itself the page holds no data, does nothing, and cannot be framed.
    const isVisit = reading.includes(method) && headers["sec-fetch-dest"] === "document" && isPublic(pathIn(url));
    if (site !== undefined && !sites.includes(String(site)) && !isVisit)
      return refuse(403, "forbidden_site", "Requests from other sites are rejected.");
    if (headers.upgrade !== undefined) return refuse(403, "no_upgrade", "This service supports plain HTTP only.");
    if (!methods.includes(method)) return refuse(405, "method_not_allowed", `${method} is not used here.`);
    if (reading.includes(method) && isPublic(pathIn(url))) return undefined;
    const secret = secretIn(headers.authorization);
    if (secret === undefined || !isOneOf(digestOf(secret), digests))
      return refuse(401, "unauthorized", "A token is required: Authorization: Bearer <token>. It is in serve.json.");
    return undefined;
  };
}

function pathIn(url: string): string {
  return url.split("?")[0]!;
}

function refuse(status: number, code: string, message: string): Refusal {
  return { status, code, message };
}

/** Reads the token from Bearer, or from the user name of Basic; never from the address or a cookie. */
function secretIn(header: string | undefined): string | undefined {
  const [, scheme, value] = /^(Bearer|Basic) +(\S+)$/i.exec(header ?? "") ?? [];
  if (value === undefined) return undefined;
  if (scheme!.toLowerCase() === "bearer") return value;
  return Buffer.from(value, "base64").toString("utf8").split(":")[0];
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Compares a secret with the accepted ones in constant time. */
function isOneOf(secretDigest: Buffer, digests: readonly Buffer[]): boolean {
  return digests.map((digest) => timingSafeEqual(secretDigest, digest)).includes(true);
}

/** Headers of every response: nothing from this service may be framed, sniffed or cached, or contact other origins. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};
