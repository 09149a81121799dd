// Sends what was measured to a collector, beside the run: nothing waits for it but the end, and that not for long.
import { createFetch, type Fetch } from "../../net/fetch.ts";
import type { Target } from "./settings.ts";

/** The end of a run waits so long for a collector. */
const patienceMs = 2000;

export class Exporter {
  readonly #timeoutMs: number;
  readonly #request: Fetch;
  readonly #redact: (text: string) => string;
  readonly #open = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  /** What the first failure was. */
  fault: string | undefined;

  constructor({ timeoutMs, env, redact }: { timeoutMs: number; env: NodeJS.ProcessEnv; redact(text: string): string }) {
    this.#timeoutMs = timeoutMs;
    this.#redact = redact;
    this.#request = createFetch({ env, connectMs: timeoutMs, responseMs: timeoutMs, idleMs: timeoutMs });
  }

  send({ url, headers }: Target, body: object): void {
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(this.#timeoutMs)]);
    const sending = this.#post(url, headers, JSON.stringify(body), signal)
      .catch((error: Error) => {
        this.fault ??= this.#redact(
          `OpenTelemetry: ${new URL(url).host} does not take what is sent: ${error.message}. The run is not affected.`,
        );
      })
      .finally(() => this.#open.delete(sending));
    this.#open.add(sending);
  }

  async #post(url: string, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<void> {
    const response = await this.#request(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
      signal,
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`status ${response.status} ${answer.slice(0, 200)}`.trim());
  }

  /** Resolves when everything is out, or was waited for long enough. */
  async end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.fault ??= `OpenTelemetry: the collector did not answer within ${patienceMs / 1000} s. The run is not affected.`;
        resolve();
      }, patienceMs);
    });
    await Promise.race([Promise.all(this.#open), late]);
    clearTimeout(timer);
    this.#abort.abort();
  }
}
