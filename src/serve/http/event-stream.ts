// EventStream: sends server-sent events to one client at its own pace. A slow client delays only itself.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { securityHeaders } from "./guard.ts";

const heartbeatMs = 15_000;

export class EventStream {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
    response.writeHead(200, {
      ...securityHeaders,
      "Content-Type": "text/event-stream; charset=utf-8",
      "X-Accel-Buffering": "no",
    });
    response.flushHeaders();
    this.#heartbeat = setInterval(() => void this.send("heartbeat", {}), heartbeatMs);
  }

  /** Resolves when the client can take more. The client sends back `id` when it reconnects. */
  async send(event: string, data: unknown, id?: number): Promise<void> {
    if (this.#signal.aborted) return;
    const head = id === undefined ? "" : `id: ${id}\n`;
    const hasRoom = this.#response.write(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (hasRoom) return;
    await once(this.#response, "drain", { signal: this.#signal }).catch(() => {});
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#response.end();
  }
}
