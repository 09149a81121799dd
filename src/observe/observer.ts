// Observer: receives a run's events, its model requests and what it waited for. The log and the tracer
// are observers; they never change the run.
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "../model/provider.ts";
import type { Usage } from "../protocol/event.ts";
import type { Part } from "../protocol/message.ts";
import type { Recorded } from "../protocol/run.ts";
import type { Waited } from "../protocol/waiting.ts";

/** A request to a model, including its retries. */
export type ModelCall = {
  number: number;
  /** The model's display name, such as `GPT-5`. */
  name: string;
  provider: string;
  /** The address of the model's server, if it has one. */
  url?: string;
  request: ModelRequest;
  startedAt: number;
};

export type ModelAnswer = {
  endedAt: number;
  /** When the first chunk arrived; absent if none did. */
  firstAt?: number;
  usage?: Usage;
  parts: readonly Part[];
  error?: { code: string; message: string };
  /** Whether the run stopped reading before the end. */
  cut?: true;
};

export type ModelRetry = Extract<ModelChunk, { type: "retry" }>;

/** Receives what happens in a run. All times are milliseconds since 1970. */
export interface Observer {
  event(recorded: Recorded, at: number): void;
  asked(call: ModelCall): void;
  retried(call: ModelCall, retry: ModelRetry, at: number): void;
  answered(call: ModelCall, answer: ModelAnswer): void;
  /** Called after waiting for a hook, server or person; tool calls and model requests are reported above. */
  waited(waited: Waited, endedAt: number): void;
  /** Called with each debug message. */
  said(message: string, at: number): void;
  /** Called if the run cannot start or fails. */
  failed(error: unknown, at: number): void;
  /** Called last. Resolves to what went wrong with observing, if anything did. */
  end(): Promise<string | undefined>;
}

type ObservedModel = { displayName: string; baseUrl?: string };

let questions = 0;

/** Wraps a provider so that its requests and answers are reported to observers. */
export function observedProvider(provider: Provider, model: ObservedModel, observers: readonly Observer[]): Provider {
  return {
    get id() {
      return provider.id;
    },
    stream: (request) => listen(provider, model, request, observers),
    ...(provider.canSummarise && { canSummarise: () => provider.canSummarise!() }),
  };
}

async function* listen(
  provider: Provider,
  { displayName: name, baseUrl: url }: ObservedModel,
  request: ModelRequest,
  observers: readonly Observer[],
): AsyncGenerator<ModelChunk> {
  const call: ModelCall = {
    number: ++questions,
    name,
    provider: provider.id,
    ...(url !== undefined && { url }),
    request,
    startedAt: Date.now(),
  };
  for (const observer of observers) observer.asked(call);
  const answer: Omit<ModelAnswer, "endedAt" | "parts"> & { parts: Part[] } = { parts: [], cut: true };
  try {
    for await (const chunk of provider.stream(request)) {
      if (chunk.type === "retry") for (const observer of observers) observer.retried(call, chunk, Date.now());
      else answer.firstAt ??= Date.now();
      if (chunk.type === "part") answer.parts.push(chunk.part);
      if (chunk.type === "retry") answer.parts = [];
      if (chunk.type === "usage") answer.usage = chunk.usage;
      yield chunk;
    }
    answer.cut = undefined;
  } catch (error) {
    if (!request.signal.aborted) {
      answer.cut = undefined;
      const code = error instanceof ModelError ? error.code : "INTERNAL";
      answer.error = { code, message: error instanceof Error ? error.message : String(error) };
    }
    throw error;
  } finally {
    for (const observer of observers) observer.answered(call, { ...answer, endedAt: Date.now() });
  }
}
