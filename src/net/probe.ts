// The way to a server, hop by hop: name, connection, proxy, TLS, HTTP. Sends nothing but a request without a key.
import type { Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { type ProxyServer, proxyFor } from "./proxy.ts";

/** `detail`: what was found, or why it ended here. */
export type Hop = { hop: "name" | "tcp" | "proxy" | "tls" | "http"; ok: boolean; detail: string };

export type ProbeOptions = { env: NodeJS.ProcessEnv; timeoutMs?: number; insecure?: boolean };

/** Up to the first hop that fails. Never rejects. */
export async function probe(address: string, options: ProbeOptions): Promise<Hop[]> {
  const hops: Hop[] = [];
  const pass = (hop: Hop["hop"], detail: string) => hops.push({ hop, ok: true, detail });
  let current: Hop["hop"] = "name";
  let socket: Socket | undefined;
  try {
    const url = new URL(address);
    const proxy = proxyFor(url, options.env);
    const target = proxy ?? direct(url);
    const via = proxy ? `proxy ${proxy.hostname}:${proxy.port}` : target.hostname;
    pass("name", `${via} is ${await resolveName(target.hostname)}`);
    current = "tcp";
    socket = await withTimeout(connectTcp(target), options, `no answer from ${target.hostname}:${target.port}`);
    pass("tcp", `connected to ${target.hostname}:${target.port}`);
    if (proxy) {
      current = "proxy";
      if (proxy.protocol === "https:") socket = (await secured(socket, proxy.hostname, options)).socket;
      pass("proxy", await withTimeout(openTunnel(socket, proxy, url), options, "the proxy does not answer"));
    }
    if (url.protocol === "https:") {
      current = "tls";
      const { socket: secure, detail } = await withTimeout(
        secured(socket, url.hostname, options),
        options,
        "the handshake does not end",
      );
      socket = secure;
      pass("tls", detail);
    }
    current = "http";
    pass("http", await withTimeout(ask(socket, url), options, "the server does not answer"));
  } catch (error) {
    hops.push({ hop: current, ok: false, detail: wordsFor(error) });
  } finally {
    socket?.destroy();
  }
  return hops;
}

type Target = { hostname: string; port: number };

function direct(url: URL): Target {
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
  const { hostname, port } = direct(url);
  const target = hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
  const login = proxy.authorization ? `Proxy-Authorization: ${proxy.authorization}\r\n` : "";
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${login}\r\n`);
  const head = await headOf(socket);
  if (/^HTTP\/1\.\d 200/.test(head)) return `opens a tunnel to ${target}`;
  const isLogin = /^HTTP\/1\.\d 407/.test(head);
  throw new Error(`it answered '${head}'${isLogin ? ": it requires a login, http://user:password@host:port" : ""}`);
}

async function secured(
  socket: Socket,
  hostname: string,
  { insecure }: ProbeOptions,
): Promise<{ socket: TLSSocket; detail: string }> {
  const [{ connect }, { isIP }] = await Promise.all([import("node:tls"), import("node:net")]);
  const name = hostname.replace(/^\[|\]$/g, "");
  const secure = await new Promise<TLSSocket>((resolve, reject) => {
    // Looked at even where it is not trusted, so that its issuer can be told.
    const opened = connect({ socket, rejectUnauthorized: false, ...(isIP(name) === 0 && { servername: name }) }, () =>
      resolve(opened),
    );
    opened.once("error", reject);
  });
  const chain = chainOf(secure.getPeerCertificate(true));
  const detail = `${secure.getProtocol() ?? "TLS"}, certificate of ${chain.join(" ← ")}`;
  if (!secure.authorized && !insecure) {
    const why = String((secure.authorizationError as Error | undefined)?.message ?? secure.authorizationError);
    throw new Error(`${why}; ${detail}`);
  }
  return { socket: secure, detail };
}

/** From the server to the issuer that signed last. */
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

async function ask(socket: Socket, url: URL): Promise<string> {
  socket.write(
    `HEAD ${url.pathname || "/"} HTTP/1.1\r\nHost: ${url.host}\r\nUser-Agent: courser-doctor\r\nConnection: close\r\n\r\n`,
  );
  const head = await headOf(socket);
  if (!head.startsWith("HTTP/")) throw new Error(`it does not speak HTTP: '${head.slice(0, 60)}'`);
  return `answers '${head}'`;
}

/** The first line of what comes. */
function headOf(socket: Socket): Promise<string> {
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
  const known: Record<string, string> = {
    ENOTFOUND: "the name has no address",
    EAI_AGAIN: "DNS lookups fail: no network, or no name server",
    ECONNREFUSED: "nothing is listening there",
    ETIMEDOUT: "no answer",
    EHOSTUNREACH: "there is no route to it",
    ENETUNREACH: "there is no network",
    ECONNRESET: "the connection was cut",
  };
  return (code !== undefined && known[code]) || message;
}
