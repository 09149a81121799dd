// Checks the way to a server hop by hop: name, connection, proxy, TLS, HTTP. Sends only a request without a key.
import type { Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { type ProxyServer, proxyFor } from "./proxy.ts";

/** `detail`: what was found, or why it failed here. `doubt`: it succeeded but may still not work. `next`: what to try. */
export type Hop = {
  hop: "name" | "tcp" | "proxy" | "tls" | "http";
  ok: boolean;
  detail: string;
  doubt?: true;
  next?: string;
};
type Found = string | Omit<Hop, "hop" | "ok">;

export type ProbeOptions = { env: NodeJS.ProcessEnv; timeoutMs?: number; insecure?: boolean };

/** Stops at the first hop that fails. Never rejects. */
export async function probe(endpoint: string, options: ProbeOptions): Promise<Hop[]> {
  const hops: Hop[] = [];
  const pass = (hop: Hop["hop"], found: Found) =>
    hops.push({ hop, ok: true, ...(typeof found === "string" ? { detail: found } : found) });
  let current: Hop["hop"] = "name";
  let socket: Socket | undefined;
  try {
    const url = new URL(endpoint);
    const proxy = proxyFor(url, options.env);
    const target = proxy ?? directTarget(url);
    const via = proxy ? `proxy ${proxy.hostname}:${proxy.port}` : target.hostname;
    const address = await withTimeout(resolveName(target.hostname), options, "the DNS lookup does not end");
    pass("name", `${via} is ${address}`);
    current = "tcp";
    socket = await withTimeout(connectTcp(target), options, `no answer from ${target.hostname}:${target.port}`);
    pass("tcp", `connected to ${target.hostname}:${target.port}`);
    if (proxy) {
      current = "proxy";
      if (proxy.protocol === "https:") {
        const securing = connectTls(socket, proxy.hostname, options);
        socket = (await withTimeout(securing, options, "the TLS handshake with the proxy does not end")).socket;
      }
      pass("proxy", await withTimeout(openTunnel(socket, proxy, url), options, "the proxy does not answer"));
    }
    if (url.protocol === "https:") {
      current = "tls";
      const securing = connectTls(socket, url.hostname, options);
      const { socket: secure, found } = await withTimeout(securing, options, "the handshake does not end");
      socket = secure;
      pass("tls", found);
    }
    current = "http";
    const isForwarded = proxy !== undefined && url.protocol === "http:";
    pass(
      "http",
      await withTimeout(ask(socket, url, isForwarded ? proxy : undefined), options, "the server does not answer"),
    );
  } catch (error) {
    const { next } = error as { next?: string };
    hops.push({ hop: current, ok: false, detail: wordsFor(error), ...(next !== undefined && { next }) });
  } finally {
    socket?.destroy();
  }
  return hops;
}

type Target = { hostname: string; port: number };

function directTarget(url: URL): Target {
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  return { hostname, port: Number(url.port) || (url.protocol === "https:" ? 443 : 80) };
}

async function resolveName(name: string): Promise<string> {
  const { lookup } = await import("node:dns/promises");
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address).join(", ");
}

async function connectTcp({ hostname, port }: Target): Promise<Socket> {
  const { connect } = await import("node:net");
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port }, () => resolve(socket));
    socket.once("error", reject);
  });
}

async function openTunnel(socket: Socket, proxy: ProxyServer, url: URL): Promise<string> {
  if (url.protocol !== "https:") return "plain requests go through it";
  const { hostname, port } = directTarget(url);
  const target = hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
  const login = proxy.authorization ? `Proxy-Authorization: ${proxy.authorization}\r\n` : "";
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${login}\r\n`);
  const head = await readStatusLine(socket);
  if (/^HTTP\/1\.\d 200/.test(head)) return `opens a tunnel to ${target}`;
  const isLogin = /^HTTP\/1\.\d 407/.test(head);
  throw new Error(`it answered '${head}'${isLogin ? ": it requires a login, http://user:password@host:port" : ""}`);
}

async function connectTls(
  socket: Socket,
  hostname: string,
  { insecure }: ProbeOptions,
): Promise<{ socket: TLSSocket; found: Found }> {
  const [{ connect }, { isIP }] = await Promise.all([import("node:tls"), import("node:net")]);
  const name = hostname.replace(/^\[|\]$/g, "");
  const secure = await new Promise<TLSSocket>((resolve, reject) => {
    // Accept even an untrusted certificate, so that its issuer can be reported. `host` is the name that it must be issued for.
    const identity = { host: name, ...(isIP(name) === 0 && { servername: name }) };
    const opened = connect({ socket, rejectUnauthorized: false, ...identity }, () => resolve(opened));
    opened.once("error", reject);
  });
  const certificate = secure.getPeerCertificate(true);
  const detail = `${secure.getProtocol() ?? "TLS"}, certificate of ${chainOf(certificate).join(" ← ")}`;
  if (secure.authorized) return { socket: secure, found: detail };
  const { code, message } = secure.authorizationError as NodeJS.ErrnoException;
  const [why, next] = explainUntrusted(code ?? String(secure.authorizationError), certificate) ?? [message, trustIt];
  if (insecure)
    return { socket: secure, found: { detail: `${detail}; not checked (--insecure): ${why}`, doubt: true } };
  throw Object.assign(new Error(`${why}; ${detail}`), { next });
}

const trustIt = "trust the issuer: NODE_EXTRA_CA_CERTS=<file.pem>, or --insecure for your own server";

/** Returns why the certificate is not trusted, and what to do about it. */
function explainUntrusted(code: string, { valid_from: from, valid_to: to, subject, subjectaltname }: PeerCertificate) {
  const names = subjectaltname?.replaceAll(/(DNS|IP Address):/g, "") ?? String(subject?.CN ?? "?");
  const explanations: Record<string, [string, string]> = {
    CERT_HAS_EXPIRED: [`the certificate expired on ${to}`, "renew the certificate of the server, and check the clock"],
    CERT_NOT_YET_VALID: [`the certificate is valid from ${from} on`, "check the clock of this machine"],
    DEPTH_ZERO_SELF_SIGNED_CERT: ["the certificate is self-signed", trustIt],
    SELF_SIGNED_CERT_IN_CHAIN: ["the root certificate is not trusted here", trustIt],
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["the issuer is not trusted here", trustIt],
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
      "the issuer is not trusted here, or the server does not send the whole chain",
      trustIt,
    ],
    ERR_TLS_CERT_ALTNAME_INVALID: [
      `the certificate is for another name: ${names}`,
      "use the name in the certificate, or check the address and DNS",
    ],
  };
  return explanations[code];
}

/** Lists the names in the chain, from the server to the last issuer. */
function chainOf(first: PeerCertificate & { issuerCertificate?: PeerCertificate }): string[] {
  const names: string[] = [];
  let certificate: (PeerCertificate & { issuerCertificate?: PeerCertificate }) | undefined = first;
  while (certificate?.subject && names.length < 10) {
    names.push(String(certificate.subject.CN ?? certificate.subject.O ?? "?"));
    const next: typeof certificate | undefined = certificate.issuerCertificate;
    if (!next || next === certificate) {
      const issuer = String(certificate.issuer?.CN ?? certificate.issuer?.O ?? "?");
      if (issuer !== names.at(-1)) names.push(issuer);
      break;
    }
    certificate = next;
  }
  return names;
}

/** Sends a request and reads its status. `proxy` is the proxy that forwards plain requests. */
async function ask(socket: Socket, url: URL, proxy?: ProxyServer): Promise<Found> {
  const path = url.pathname;
  const login = proxy?.authorization ? `Proxy-Authorization: ${proxy.authorization}\r\n` : "";
  socket.write(
    `HEAD ${proxy ? `${url.origin}${path}` : path} HTTP/1.1\r\nHost: ${url.host}\r\n${login}User-Agent: courser-doctor\r\nConnection: close\r\n\r\n`,
  );
  const head = await readStatusLine(socket);
  const [, status] = /^HTTP\/\d(?:\.\d)? (\d+)/.exec(head) ?? [];
  if (status === undefined) throw new Error(`it does not speak HTTP: '${head.slice(0, 60)}'`);
  const detail = `answers '${head}'`;
  if (status === "407") throw new Error(`${detail}: the proxy requires a login, http://user:password@host:port`);
  // Other statuses mean nothing, since the request has no key and the address may accept only POST.
  if (status.startsWith("5")) return { detail, doubt: true, next: "see whether the model answers: doctor --online" };
  if (/^30[1278]$/.test(status))
    return { detail, doubt: true, next: "redirects are not followed: use the address that it points to" };
  return detail;
}

/** Reads the first line of a response. */
function readStatusLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const onData = (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (text.includes("\n") || text.length > 4096) settle(() => resolve(text.split(/\r?\n/)[0]!));
    };
    const onEnd = () => settle(() => reject(new Error("it closed the connection without an answer")));
    const onError = (error: Error) => settle(() => reject(error));
    const settle = (finish: () => void) => {
      socket.off("data", onData).off("close", onEnd).off("error", onError);
      finish();
    };
    socket.on("data", onData).on("close", onEnd).on("error", onError);
  });
}

async function withTimeout<Result>(
  work: Promise<Result>,
  { timeoutMs = 5000 }: ProbeOptions,
  message: string,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${message} within ${timeoutMs / 1000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function wordsFor(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const explanations: Record<string, string> = {
    ENOTFOUND: "the name has no address",
    EAI_AGAIN: "DNS lookups fail: no network, or no name server",
    ECONNREFUSED: "nothing is listening there",
    ETIMEDOUT: "no answer",
    EHOSTUNREACH: "there is no route to it",
    ENETUNREACH: "there is no network",
    ECONNRESET: "the connection was cut",
  };
  return (code !== undefined && explanations[code]) || message;
}
