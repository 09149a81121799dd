// HTTP client for the service that delivered this page: JSON both ways, the token in a header, errors as readable messages.
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export type Http = {
  get<T>(path: string, signal?: AbortSignal): Promise<T>;
  send<T>(method: "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<T>;
  open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
};

/** `onRefused` is called when the service no longer accepts the token. */
export function createHttp(token: string, onRefused: () => void): Http {
  const request = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { Authorization: `Bearer ${token}`, ...init.headers };
    const response = await fetch(path, { ...init, headers, cache: "no-store", credentials: "omit" }).catch((error) => {
      if (init.signal?.aborted) throw error;
      throw new ServiceError(0, "unreachable", "The service does not respond.");
    });
    if (response.ok) return response;
    if (response.status === 401) onRefused();
    throw await responseError(response);
  };
  return {
    get: async (path, signal) => (await request(path, signal ? { signal } : {})).json(),
    async send(method, path, body = {}) {
      const headers = { "Content-Type": "application/json" };
      const response = await request(path, { method, headers, body: JSON.stringify(body) });
      return response.json();
    },
    open: (path, headers, signal) => request(path, { headers, signal }),
  };
}

async function responseError(response: Response): Promise<ServiceError> {
  const body = (await response.json().catch(() => undefined)) as { error?: { code?: string; message?: string } };
  const { code = "failed", message = `The service answered ${response.status}.` } = body?.error ?? {};
  return new ServiceError(response.status, code, message);
}

/** Checks that the server at this address knows the token, before sending it to a service that was gone. */
export async function isSameService(token: string): Promise<boolean> {
  const nonce = [...crypto.getRandomValues(new Uint8Array(32))].map(byteToHex).join("");
  const response = await fetch(`/api/proof?nonce=${nonce}`, { cache: "no-store", credentials: "omit" });
  const { proof } = (await response.json()) as { proof: string };
  const bytes = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes.encode(token), algorithm, false, ["sign"]);
  const expected = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(`courser:${nonce}`)));
  return proof === [...expected].map(byteToHex).join("");
}

function byteToHex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
