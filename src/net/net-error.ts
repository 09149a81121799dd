// NetError: why a server could not be asked, by kind.

/**
 * `refused`: nobody listens there. `dns`: the name has no address. `tls`: the certificate or handshake failed.
 * `timeout`: no answer in time. `idle`: the answer stopped coming. `reset`: the connection broke. `proxy`: the proxy said no.
 * `redirects`: it only ever sent us on.
 */
export type NetErrorKind = "refused" | "dns" | "tls" | "timeout" | "idle" | "reset" | "proxy" | "redirects";

/** `isRepeatable`: nothing of it was sent, or its method is safe, so that nothing can be done twice. */
export type BrokenRequest = { isReused: boolean; isRepeatable: boolean };

export class NetError extends Error {
  readonly kind: NetErrorKind;
  /** host:port that was asked for. */
  readonly host: string;
  /** host:port of the proxy in between, if there is one. */
  readonly proxy: string | undefined;
  /** Of a connection that broke before the head of an answer. */
  readonly broke: BrokenRequest | undefined;

  constructor(
    kind: NetErrorKind,
    message: string,
    place: { host: string; proxy?: string; cause?: unknown; broke?: BrokenRequest },
  ) {
    super(message, { cause: place.cause });
    this.name = "NetError";
    this.kind = kind;
    this.host = place.host;
    this.proxy = place.proxy;
    this.broke = place.broke;
  }
}

/** Node's error codes, told apart; anything unknown is a broken connection. */
export function netErrorKind(error: unknown): NetErrorKind {
  const code = String((error as { code?: unknown } | undefined)?.code ?? "");
  if (code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EAI_FAIL" || code === "ENODATA") return "dns";
  if (code === "ETIMEDOUT" || code === "ESOCKETTIMEDOUT") return "timeout";
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN|EACCES|EPERM)$/.test(code))
    return "refused";
  if (
    /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_OSSL|EPROTO|HOSTNAME_MISMATCH|INVALID_CA)/.test(code)
  )
    return "tls";
  return "reset";
}

/** The NetError inside whatever a library wrapped around it. */
export function findNetError(error: unknown): NetError | undefined {
  let current = error;
  for (let depth = 0; depth < 8 && current instanceof Error; depth++) {
    if (current instanceof NetError) return current;
    current = current.cause;
  }
  return undefined;
}
