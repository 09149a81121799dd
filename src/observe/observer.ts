// What can be watched of a run: its events, the questions to its models, what it waited for. A log and a tracer are observers; what
// they do never changes the run.
import type { ModelChunk, ModelRequest, Provider } from "../model/provider.ts";
import { ModelError } from "../model/provider.ts";
import type { Usage } from "../protocol/event.ts";
import type { Part } from "../protocol/message.ts";
import type { Recorded } from "../protocol/run.ts";
import type { Waited } from "../protocol/waiting.ts";

/** One question to a model, its retries included. */
export type ModelCall = {
  number: number;
  /** The model as it is shown, such as `GPT-5`. */
  name: string;
  provider: string;
  /** The address of its server, where it has one. */
  url?: string;
  request: ModelRequest;
  startedAt: number;
};

export type ModelAnswer = {
  endedAt: number;
  /** When the first piece came; absent where none did. */
  firstAt?: number;
  usage?: Usage;
  parts: readonly Part[];
  error?: { code: string; message: string };
  /** The run did not want the rest. */
  cut?: true;
};

export type ModelRetry = Extract<ModelChunk, { type: "retry" }>;

/** Times are milliseconds since 1970. */
export interface Observer {
  event(recorded: Recorded, at: number): void;
  asked(call: ModelCall): void;
  retried(call: ModelCall, retry: ModelRetry, at: number): void;
  answered(call: ModelCall, answer: ModelAnswer): void;
  /** For hooks, servers and people: calls of tools and questions to models are told above. */
  waited(waited: Waited, endedAt: number): void;
  /** For people who look for a fault. */
  said(message: string, at: number): void;
  /** The run cannot begin, or broke. */
  failed(error: unknown, at: number): void;
  /** Nothing follows. Says what went wrong with observing, if anything did. */
  end(): Promise<string | undefined>;
}

type ListenedModel = { displayName: string; baseUrl?: string };

let questions = 0;

/** The same provider, listened to. */
export function listenedTo(provider: Provider, model: ListenedModel, observers: readonly Observer[]): Provider {
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
  { displayName: name, baseUrl: url }: ListenedModel,
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
