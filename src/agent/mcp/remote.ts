// MCP transports over HTTP: streamable HTTP, and the older server-sent events.
import {
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { createServerFetch } from "../../net/server-fetch.ts";
import type { McpServer } from "../../store/mcp-servers.ts";
import type { ResolvedServer } from "../../store/mcp-variables.ts";
import { savedLogin } from "./oauth.ts";

type Remote = Extract<ResolvedServer, { kind: "url" }>;

export type RemoteContext = { env: Readonly<Record<string, string | undefined>>; configDir: string };

export function openRemote({ transport }: McpServer, remote: Remote, { env, configDir }: RemoteContext): Transport {
  const { url, headers, auth } = remote;
  const options = {
    fetch: createServerFetch(url, { env, headers }),
    // Use a saved login only. A run never opens a browser or registers an OAuth client.
    authProvider: savedLogin({ configDir, url, ...(auth && { auth }) }) ?? { token: async () => undefined },
  };
  if (transport === "sse") return new SSEClientTransport(url, options);
  const streamable = new StreamableHTTPClientTransport(url, options);
  return transport === "http"
    ? streamable
    : new EitherTransport(streamable, () => new SSEClientTransport(url, options));
}

/** Falls back to server-sent events when the server refuses the first message over streamable HTTP. */
class EitherTransport implements Transport {
  #way: Transport;
  readonly #older: () => Transport;
  #isSettled = false;

  constructor(way: Transport, older: () => Transport) {
    this.#way = way;
    this.#older = older;
  }

  set onclose(listen: (() => void) | undefined) {
    this.#way.onclose = listen;
  }
  get onclose(): (() => void) | undefined {
    return this.#way.onclose;
  }
  set onerror(listen: ((error: Error) => void) | undefined) {
    this.#way.onerror = listen;
  }
  get onerror(): ((error: Error) => void) | undefined {
    return this.#way.onerror;
  }
  set onmessage(listen: Transport["onmessage"]) {
    this.#way.onmessage = listen;
  }
  get onmessage(): Transport["onmessage"] {
    return this.#way.onmessage;
  }
  get sessionId(): string | undefined {
    return this.#way.sessionId;
  }
  get hasPerRequestStream(): boolean {
    return this.#way.hasPerRequestStream ?? false;
  }

  setProtocolVersion(version: string): void {
    this.#way.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    return this.#way.start();
  }

  async send(...message: Parameters<Transport["send"]>): Promise<void> {
    try {
      await this.#way.send(...message);
      this.#isSettled = true;
    } catch (error) {
      if (this.#isSettled || !isOlder(error)) throw error;
      this.#isSettled = true;
      const { onclose, onerror, onmessage } = this.#way;
      const older = this.#older();
      Object.assign(older, { onclose, onerror, onmessage });
      this.#way.onclose = undefined;
      await this.#way.close();
      this.#way = older;
      await older.start();
      await older.send(...message);
    }
  }

  async terminateSession(): Promise<void> {
    if (this.#way instanceof StreamableHTTPClientTransport) await this.#way.terminateSession();
  }

  close(): Promise<void> {
    return this.#way.close();
  }
}

function isOlder(error: unknown): boolean {
  return SdkHttpError.isInstance(error) && [400, 404, 405, 406, 415].includes(error.status ?? 0);
}
