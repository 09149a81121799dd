// Retries a request: after a pause, with another key, with another model. Repeats only the request, never a tool call.
import { isRetryable, UserError } from "../protocol/error-codes.ts";
import { pause } from "./pause.ts";
import {
  type Effort,
  type ModelChunk,
  ModelError,
  type ModelInfo,
  type ModelRequest,
  type Provider,
} from "./provider.ts";
import { Refused } from "./refused.ts";

/** A model that can be asked, as first choice or as fallback. */
export type ModelCandidate = {
  /** The name of its vendor. */
  id: string;
  displayName: string;
  /** The vendor's id of the model; by default the model of the request. */
  modelId?: string;
  effort?: Effort;
  modelInfo?: ModelInfo;
  /** Opens the model. Returns one provider per key, best first. */
  open(): Promise<readonly Provider[]>;
};

/** Resolved only when needed: a fallback without a key (UserError) must not prevent the start. */
export type Fallback = { name: string; resolve(): ModelCandidate };

export type RetryOptions = {
  /** How many times the same model is retried; 3 by default. */
  retries?: number;
  fallbacks?: readonly Fallback[];
  /** Returns how many milliseconds of the run's time limit are left; undefined if it has none. */
  timeLeft?(): number | undefined;
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns a number between 0 and 1. */
  random?(): number;
};

/** The longest wait that a server may ask for if the run has no time limit. */
const longestWaitMs = 60 * 60_000;
/** The most that is added to the wait a server asks for, so that its clients do not all return at once. */
const maxExtraMs = 5_000;
/** How many times a model is retried after an empty answer. */
const maxEmptyAnswers = 2;
const firstPauseMs = 500;
const longestPauseMs = 20_000;
/** How many milliseconds a rate-limited key is not used if the vendor does not say. */
const keyRestMs = 60_000;

export function withRetries(primary: ModelCandidate, options: RetryOptions = {}): Provider {
  const keys = new KeyRests();
  const waiting = [...(options.fallbacks ?? [])];
  let refused = new Refused();
  let active = primary;

  return {
    get id() {
      return active.id;
    },
    async *stream(request) {
      const state = { shown: false };
      while (true) {
        const named = active === primary ? request : forCandidate(request, active);
        const asked = refused.without(named);
        const failure = yield* askCandidate(await active.open(), asked, { keys, state, options });
        if (!failure) return;
        const refusal = refused.note(failure, asked);
        if (refusal) {
          const message = `${active.displayName} is asked without ${refusal.without}, which its server refuses: ${failure.message}`;
          yield { type: "notice", kind: refusal.kind, message };
          continue;
        }
        const next = mayFallBack(failure) ? nextCandidate(waiting, failure) : undefined;
        if (!next) throw failure;
        if (state.shown) yield { type: "retry", attempt: 1, reason: failure.message, delayMs: 0 };
        state.shown = false;
        const reason = `${next.displayName} answers instead of ${active.displayName}: ${failure.message}`;
        active = next; // use the fallback for all later requests too, which would fail in the same way
        refused = new Refused();
        yield { type: "model", model: next.displayName, reason, ...(next.modelInfo && { info: next.modelInfo }) };
      }
    },
  };
}

/** Returns whether another model may succeed: the vendor failed or does not know the model, but the request is not at fault. */
function mayFallBack({ code }: ModelError): boolean {
  return isRetryable(code) || code === "MODEL_UNKNOWN";
}

/** Returns the first usable fallback. If all fail, throws the failure with their reasons. */
function nextCandidate(waiting: Fallback[], failure: ModelError): ModelCandidate | undefined {
  const reasons: string[] = [];
  while (waiting.length > 0) {
    const fallback = waiting.shift()!;
    try {
      return fallback.resolve();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      reasons.push(`The fallback ${fallback.name} cannot be used either: ${error.message}`);
    }
  }
  if (reasons.length > 0)
    throw new ModelError(failure.code, [failure.message, ...reasons].join(" "), { cause: failure });
  return undefined;
}

function forCandidate({ effort: _ofPrimary, ...request }: ModelRequest, candidate: ModelCandidate): ModelRequest {
  return {
    ...request,
    model: candidate.modelId ?? request.model,
    ...(candidate.effort && { effort: candidate.effort }),
  };
}

type Context = { keys: KeyRests; state: { shown: boolean }; options: RetryOptions };

/** Asks one model. Yields its answer, or returns the error. */
async function* askCandidate(
  providers: readonly Provider[],
  request: ModelRequest,
  { keys, state, options }: Context,
): AsyncGenerator<ModelChunk, ModelError | undefined> {
  const { retries = 3, sleep = pause, random = Math.random, timeLeft } = options;
  let asked = 0;
  let repeated = 0;
  keys.giveAnotherChance(providers);
  while (true) {
    const provider = keys.best(providers)!;
    let failure: ModelError;
    try {
      asked++;
      for await (const chunk of provider.stream(request)) {
        if (chunk.type !== "usage") state.shown = true;
        yield chunk;
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof ModelError) || request.signal.aborted) throw error;
      failure = error;
    }

    const place = `API key ${providers.indexOf(provider) + 1} of ${providers.length}`;
    if (failure.code === "MODEL_AUTH_ERROR") {
      keys.rest(provider, Number.POSITIVE_INFINITY);
      if (!keys.best(providers)) return failure;
      state.shown = false;
      yield atOnce(asked, `${place} was rejected and is no longer used. ${failure.message}`);
      continue;
    }
    if (failure.code === "MODEL_RATE_LIMIT" && providers.length > 1) {
      keys.rest(provider, failure.retryAfterMs ?? keyRestMs);
      if (keys.isFresh(keys.best(providers))) {
        state.shown = false;
        yield atOnce(asked, `${place} is rate limited and paused. ${failure.message}`);
        continue;
      }
    }
    if (!isRetryable(failure.code) || failure.mayStillAnswer) return failure;
    const wanted = failure.retryAfterMs ?? 0;
    const left = timeLeft?.() ?? longestWaitMs;
    if (wanted > left) {
      const message = `${failure.message}. It asks to wait ${seconds(wanted)}, longer than the run may still take (${seconds(left)}).`;
      return new ModelError(failure.code, message, { retryAfterMs: wanted, cause: failure });
    }
    const most = failure.code === "MODEL_EMPTY" ? Math.min(retries, maxEmptyAnswers) : retries;
    if (repeated >= most)
      return asked === 1
        ? failure
        : new ModelError(failure.code, `${failure.message} (${asked} attempts)`, { cause: failure });

    const delayMs = Math.round(
      wanted > 0
        ? wanted + random() * Math.min(wanted / 4, maxExtraMs)
        : Math.min(longestPauseMs, firstPauseMs * 2 ** repeated) * (0.75 + random() / 2),
    );
    repeated++;
    state.shown = false;
    yield { type: "retry", attempt: asked, reason: failure.message, delayMs };
    await sleep(delayMs, request.signal);
  }
}

/** Keeps track of keys (one provider each) that are not used: for good if refused, for a while if rate limited. */
class KeyRests {
  readonly #until = new Map<Provider, number>();

  /** Makes refused keys available again if all were refused, since the server may have been repaired. */
  giveAnotherChance(providers: readonly Provider[]): void {
    if (!this.best(providers)) this.#until.clear();
  }

  rest(provider: Provider, ms: number): void {
    this.#until.set(provider, Date.now() + ms);
  }

  isFresh(provider: Provider | undefined): boolean {
    return provider !== undefined && (this.#until.get(provider) ?? 0) <= Date.now();
  }

  /** Returns the first that is not paused, otherwise the one paused the shortest; undefined if all were refused. */
  best(providers: readonly Provider[]): Provider | undefined {
    const fresh = providers.find((provider) => this.isFresh(provider));
    if (fresh) return fresh;
    const resting = providers.filter((provider) => this.#until.get(provider) !== Number.POSITIVE_INFINITY);
    return resting.sort((left, right) => this.#until.get(left)! - this.#until.get(right)!)[0];
  }
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.ceil(ms / 1000))} s`;
}

/** Returns the notice of a retry with another key, which starts without a delay. */
function atOnce(attempt: number, reason: string): ModelChunk {
  return { type: "retry", attempt, reason, delayMs: 0 };
}
