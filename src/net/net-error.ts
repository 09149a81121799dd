// NetError: why a request to a server failed, by kind.

/**
 * `refused`: nothing listens there. `dns`: the name has no address. `tls`: the certificate or handshake failed. `timeout`: no answer in
 * time. `idle`: the answer stopped coming. `reset`: the connection broke. `proxy`: the proxy refused. `redirects`: there were too many.
 */
export type NetErrorKind = "refused" | "dns" | "tls" | "timeout" | "idle" | "reset" | "proxy" | "redirects";

/** `isRepeatable`: nothing of the request was sent, or its method is safe, so a retry cannot do anything twice. */
export type BrokenRequest = { isReused: boolean; isRepeatable: boolean };

export class NetError extends Error {
  readonly kind: NetErrorKind;
  /** The host and port of the request. */
  readonly host: string;
  /** The host and port of the proxy, if there is one. */
  readonly proxy: string | undefined;
  /** Set if the connection broke before the response headers arrived. */
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

/** Returns the kind of an error by its code in Node. An unknown one counts as a broken connection. */
export function netErrorKind(error: unknown): NetErrorKind {
  const code = String((error as { code?: unknown } | undefined)?.code);
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

/** Finds the NetError among the causes of an error that a library wrapped. */
export function findNetError(error: unknown): NetError | undefined {
  let current = error;
  for (let depth = 0; depth < 8 && current instanceof Error; depth++) {
    if (current instanceof NetError) return current;
    current = current.cause;
  }
  return undefined;
}
