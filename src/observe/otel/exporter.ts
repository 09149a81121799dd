// Sends telemetry to a collector in the background; only the end of the run waits for it, and briefly.
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { isObject, tryParse } from "../../json/object.ts";
import { createFetch, type Fetch } from "../../net/fetch.ts";
import { abortAfter } from "../../protocol/abort-after.ts";
import type { Target } from "./settings.ts";

/** How many milliseconds the end of a run waits for the collector. */
const patienceMs = 2000;
/** Status codes that OTLP allows to retry, and the number of attempts. */
const retryable = [429, 502, 503, 504];
const maxAttempts = 5;

type Refusal = { error: Error; isFinal: boolean; afterMs?: number | undefined };

export class Exporter {
  readonly #requests = new Map<number, Fetch>();
  readonly #env: NodeJS.ProcessEnv;
  readonly #redact: (text: string) => string;
  readonly #open = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  /** When the run stops waiting for the collector; infinite until the run ends. */
  #deadline = Number.POSITIVE_INFINITY;
  /** The error message of the first failure. */
  fault: string | undefined;

  constructor({ env, redact }: { env: NodeJS.ProcessEnv; redact(text: string): string }) {
    this.#env = env;
    this.#redact = redact;
  }

  send(target: Target, body: object): void {
    const signal = AbortSignal.any([this.#abort.signal, abortAfter(target.timeoutMs)]);
    const sending = this.#deliver(target, JSON.stringify(body), signal)
      .catch((error: Error) => {
        const { host } = new URL(target.url);
        this.fault ??= this.#redact(
          `OpenTelemetry: the collector at ${host} did not accept the data: ${error.message}. The run is not affected.`,
        );
      })
      .finally(() => this.#open.delete(sending));
    this.#open.add(sending);
  }

  /** Retries, while there is time, if the collector asks for it or cannot be reached. */
  async #deliver(target: Target, body: string, signal: AbortSignal): Promise<void> {
    const until = Date.now() + target.timeoutMs;
    const bytes = target.compress ? await promisify(gzip)(body) : body;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#post(target, bytes, signal).catch((error: Error) => this.#explainUnreachable(error));
      if (!outcome) return;
      const pauseMs = outcome.afterMs ?? 200 * 2 ** (attempt - 1) * (0.5 + Math.random());
      const isTooLate = Date.now() + pauseMs > Math.min(until, this.#deadline);
      if (outcome.isFinal || attempt === maxAttempts || isTooLate || signal.aborted) throw outcome.error;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Returns why the collector cannot be reached. At the end of a run, this is not retried. */
  #explainUnreachable(error: Error): Refusal {
    return { error, isFinal: Number.isFinite(this.#deadline) };
  }

  /** Returns undefined if the collector accepted the data. */
  async #post(
    { url, headers, timeoutMs, compress }: Target,
    body: string | Uint8Array,
    signal: AbortSignal,
  ): Promise<Refusal | undefined> {
    const response = await this.#requestFor(timeoutMs)(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", ...(compress && { "content-encoding": "gzip" }) },
      body: body as BodyInit,
      signal,
    });
    const answer = await response.text();
    if (response.ok) {
      const partial = partialSuccess(answer);
      return partial === undefined ? undefined : { error: new Error(partial), isFinal: true };
    }
    return {
      error: new Error(`status ${response.status} ${answer.slice(0, 200)}`.trim()),
      afterMs: retryAfterMs(response.headers.get("retry-after")),
      isFinal: !retryable.includes(response.status),
    };
  }

  #requestFor(timeoutMs: number): Fetch {
    const known =
      this.#requests.get(timeoutMs) ??
      createFetch({ env: this.#env, connectMs: timeoutMs, responseMs: timeoutMs, idleMs: timeoutMs });
    this.#requests.set(timeoutMs, known);
    return known;
  }

  /** Resolves when everything is sent, or after the wait is over. */
  async end(): Promise<void> {
    this.#deadline = Date.now() + patienceMs;
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

/** Describes a partial success: with status 200, a collector may reject a part or add a message. That is not retried. */
function partialSuccess(answer: string): string | undefined {
  const parsed = tryParse(answer);
  const partial = isObject(parsed) ? parsed["partialSuccess"] : undefined;
  if (!isObject(partial)) return undefined;
  const rejected = Number(partial["rejectedSpans"] ?? partial["rejectedDataPoints"] ?? 0);
  const errorMessage = typeof partial["errorMessage"] === "string" ? partial["errorMessage"].slice(0, 200) : "";
  if (rejected === 0 && errorMessage === "") return undefined;
  const what = partial["rejectedSpans"] === undefined ? "data points" : "spans";
  return [...(rejected > 0 ? [`${rejected} ${what} rejected`] : []), ...(errorMessage ? [errorMessage] : [])].join(
    ": ",
  );
}

/** Parses a Retry-After header, which contains seconds or a date. */
function retryAfterMs(value: string | null): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
