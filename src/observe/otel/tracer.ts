// Exports a run as traces and metrics: a turn is `invoke_agent`, with a `chat` span for each model request and an
// `execute_tool` span for each call; a subagent is an `invoke_agent` in the call that started it. Names follow the
// conventions for generative AI.
import { randomBytes, randomUUID } from "node:crypto";
import type { EventOf, Usage } from "../../protocol/event.ts";
import type { Recorded } from "../../protocol/run.ts";
import type { Waited } from "../../protocol/waiting.ts";
import type { ModelAnswer, ModelCall, Observer } from "../observer.ts";
import { inputMessages, outputMessages, systemParts } from "./content.ts";
import { Exporter } from "./exporter.ts";
import { Metrics } from "./metrics.ts";
import type { OtelSettings, Target } from "./settings.ts";
import { type Attributes, metricsBody, type Span, tracesBody } from "./wire.ts";

export type TracerOptions = {
  settings: OtelSettings;
  env: NodeJS.ProcessEnv;
  version: string;
  redact(text: string): string;
  /** Called once for each warning. The run continues. */
  warn(message: string): void;
};

/** The maximum number of spans in one request, since collectors limit its size. */
const maxAtOnce = 256;
/** The most spans that may wait to be sent; further ones are dropped and counted. */
const maxWaiting = 2048;

type OpenSpan = Omit<Span, "endMs">;

export class Tracer implements Observer {
  readonly #options: TracerOptions;
  readonly #exporter: Exporter;
  readonly #metrics: Metrics;
  readonly #instance = randomUUID();
  /** Open turns by agent, calls by agent and id, model requests by number. */
  readonly #turns = new Map<string, OpenSpan>();
  readonly #calls = new Map<string, OpenSpan>();
  readonly #questions = new Map<number, OpenSpan>();
  /** The calls that started subagents, by the subagent's id. */
  readonly #starters = new Map<string, OpenSpan>();
  #main: string | undefined;
  #model: string | undefined;
  #waiting: Span[] = [];
  #dropped = 0;
  #hasWarned = false;
  #timer: NodeJS.Timeout;

  constructor(options: TracerOptions) {
    const { settings, env, redact } = options;
    this.#options = options;
    this.#exporter = new Exporter({ env, redact });
    this.#metrics = new Metrics(settings);
    this.#timer = setInterval(() => this.#send(), settings.scheduleMs).unref();
    for (const warning of settings.warnings) options.warn(warning);
  }

  event({ event, agent }: Recorded, at: number): void {
    switch (event.type) {
      case "init":
        if (agent === undefined) [this.#main, this.#model] = [event.sessionId, event.model];
        return;
      case "user":
        this.#beginTurn(agent, event, at);
        return;
      case "tool_start":
        this.#beginCall(agent, event, at);
        return;
      case "tool_end":
        this.#endCall(agent, event, at);
        return;
      case "done":
      case "fail":
        this.#endTurn(agent, event, at);
        return;
      default:
        return;
    }
  }

  asked(call: ModelCall): void {
    const { agent = "" } = call.request;
    const parent =
      this.#turns.get(agent) ?? this.#turns.get(this.#main ?? "") ?? this.#turnOfSubagent(agent, call.startedAt);
    const content = this.#options.settings.captureContent && {
      "gen_ai.input.messages": this.#clean(inputMessages(call.request.messages)),
      "gen_ai.system_instructions": this.#clean(systemParts(call.request.system)),
    };
    this.#questions.set(
      call.number,
      this.#open(`chat ${call.request.model}`, 3, call.startedAt, parent, {
        ...chatAttributes(call, this.#main),
        ...content,
      }),
    );
  }

  retried(call: ModelCall): void {
    this.#metrics.add("courser.model.retries", 1, modelAttributes(call));
  }

  answered(call: ModelCall, { endedAt, firstAt, usage, error, cut, parts }: ModelAnswer): void {
    const span = this.#questions.get(call.number);
    this.#questions.delete(call.number);
    const failure = error ? { "error.type": error.code } : {};
    const reason = parts.some(({ type }) => type === "tool_call") ? "tool_call" : "stop";
    if (span)
      this.#close(span, endedAt, {
        attributes: {
          ...usageAttributes(usage),
          ...(firstAt !== undefined && { "gen_ai.response.time_to_first_chunk": (firstAt - call.startedAt) / 1000 }),
          ...failure,
          ...(!error && !cut && { "gen_ai.response.finish_reasons": [reason] }),
          ...(this.#options.settings.captureContent && {
            "gen_ai.output.messages": this.#clean(outputMessages(parts, reason)),
          }),
        },
        failure: error?.message,
      });
    const attributes = { "gen_ai.operation.name": "chat", ...modelAttributes(call) };
    this.#metrics.add("gen_ai.client.operation.duration", (endedAt - call.startedAt) / 1000, {
      ...attributes,
      ...failure,
    });
    if (firstAt !== undefined)
      this.#metrics.add("gen_ai.client.operation.time_to_first_chunk", (firstAt - call.startedAt) / 1000, attributes);
    for (const [type, tokens] of [
      ["input", inputTokens(usage)],
      ["output", usage?.outputTokens],
    ] as const)
      if (tokens !== undefined)
        this.#metrics.add("gen_ai.client.token.usage", tokens, { ...attributes, "gen_ai.token.type": type });
  }

  waited(_waited: Waited): void {}

  said(): void {}

  failed(): void {}

  async end(): Promise<string | undefined> {
    clearInterval(this.#timer);
    const now = Date.now();
    for (const open of [this.#questions, this.#calls, this.#turns])
      for (const span of open.values()) this.#close(span, now, { attributes: {}, failure: "the run ended first" });
    const { metrics } = this.#options.settings;
    this.#send();
    const measured = metrics ? this.#metrics.take() : [];
    if (metrics && measured.length > 0) this.#export(metrics, metricsBody(measured, this.#resource(), this.#scope()));
    await this.#exporter.end();
    const { fault } = this.#exporter;
    const lost =
      this.#dropped > 0 ? `OpenTelemetry: ${this.#dropped} spans were dropped, the collector was too slow.` : undefined;
    return this.#hasWarned ? undefined : (fault ?? lost);
  }

  #beginTurn(agent: string | undefined, event: EventOf<"user">, at: number): void {
    const id = agent ?? this.#main ?? "";
    // A prompt that arrives during a turn is part of that turn.
    if (this.#turns.has(id)) return;
    if (agent !== undefined) this.#turnOfSubagent(agent, at);
    else
      this.#turns.set(
        id,
        this.#open("invoke_agent courser", 1, at, undefined, this.#turnAttributes(id, "courser", event.text)),
      );
  }

  #turnAttributes(id: string, name: string, prompt?: string): Attributes {
    const { captureContent } = this.#options.settings;
    return {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "courser",
      "gen_ai.agent.name": name,
      "gen_ai.agent.id": id,
      "gen_ai.agent.version": this.#options.version,
      "gen_ai.conversation.id": this.#main,
      "gen_ai.request.model": this.#model,
      ...(captureContent &&
        prompt !== undefined && {
          "gen_ai.input.messages": this.#clean(
            inputMessages([{ role: "user", parts: [{ type: "text", text: prompt }] }]),
          ),
        }),
    };
  }

  /** Returns the span of a subagent's turn, which begins at its first event. */
  #turnOfSubagent(agent: string, at: number): OpenSpan | undefined {
    if (agent === "") return undefined;
    const starter = this.#starters.get(agent) ?? this.#turns.get(this.#main ?? "");
    const name = String(starter?.attributes["courser.subagent"] ?? "subagent");
    const span =
      this.#turns.get(agent) ?? this.#open(`invoke_agent ${name}`, 1, at, starter, this.#turnAttributes(agent, name));
    this.#turns.set(agent, span);
    return span;
  }

  #endTurn(agent: string | undefined, event: EventOf<"done" | "fail">, at: number): void {
    const id = agent ?? this.#main ?? "";
    const span = this.#turns.get(id);
    this.#turns.delete(id);
    const failure = event.type === "fail" ? event : undefined;
    const attributes = {
      ...usageAttributes(event.usage),
      ...(failure && { "error.type": failure.code ?? "INTERNAL" }),
    };
    if (span)
      this.#close(span, at, {
        attributes: { ...attributes, "courser.denials": event.denials?.length },
        failure: failure && this.#clean(failure.message),
      });
    this.#metrics.add("gen_ai.client.operation.duration", event.durationMs / 1000, {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "courser",
      ...(failure && { "error.type": failure.code ?? "INTERNAL" }),
    });
  }

  #beginCall(agent: string | undefined, event: EventOf<"tool_start">, at: number): void {
    const parent = this.#turns.get(agent ?? this.#main ?? "");
    const args = typeof event.args === "object" && event.args !== null ? (event.args as Record<string, unknown>) : {};
    const { agentId, subagentType } = args as { agentId?: unknown; subagentType?: unknown };
    const span = this.#open(`execute_tool ${event.tool}`, 1, event.startedAt ?? at, parent, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": event.tool,
      "gen_ai.tool.call.id": event.callId,
      "gen_ai.tool.type": "function",
      "gen_ai.conversation.id": this.#main,
      ...(typeof agentId === "string" && { "courser.subagent": subagentName(subagentType) }),
      ...(this.#options.settings.captureContent && {
        "gen_ai.tool.call.arguments": this.#clean(JSON.stringify(event.args ?? {})),
      }),
    });
    this.#calls.set(`${agent ?? ""} ${event.callId}`, span);
    if (typeof agentId === "string") this.#starters.set(agentId, span);
  }

  #endCall(agent: string | undefined, event: EventOf<"tool_end">, at: number): void {
    const key = `${agent ?? ""} ${event.callId}`;
    const span = this.#calls.get(key);
    this.#calls.delete(key);
    const kind = event.outcome?.kind ?? "none";
    const isGood = kind === "success";
    const { exitCode } = (event.outcome?.value ?? {}) as { exitCode?: number };
    if (span)
      this.#close(span, event.completedAt ?? at, {
        attributes: {
          ...(!isGood && { "error.type": kind }),
          ...(typeof exitCode === "number" && { "process.exit.code": exitCode }),
          ...(this.#options.settings.captureContent && {
            "gen_ai.tool.call.result": this.#clean(JSON.stringify(event.outcome?.value ?? {})),
          }),
        },
        failure: isGood ? undefined : `the call ended as ${kind}`,
      });
    this.#metrics.add("courser.tool.calls", 1, { "gen_ai.tool.name": event.tool, "courser.outcome": kind });
    if (kind === "rejected" || kind === "permissionDenied")
      this.#metrics.add("courser.denials", 1, { "gen_ai.tool.name": event.tool });
  }

  #open(
    name: string,
    kind: Span["kind"],
    startMs: number,
    above: OpenSpan | undefined,
    attributes: Attributes,
  ): OpenSpan {
    const { parent } = this.#options.settings;
    const traceId = above?.traceId ?? parent?.traceId ?? randomHex(16);
    const parentSpanId = above?.spanId ?? parent?.spanId;
    return {
      traceId,
      spanId: randomHex(8),
      ...(parentSpanId !== undefined && { parentSpanId }),
      ...(parent?.traceState !== undefined && { traceState: parent.traceState }),
      name,
      kind,
      startMs,
      attributes,
    };
  }

  #close(
    span: OpenSpan,
    endMs: number,
    { attributes, failure }: { attributes: Attributes; failure?: string | undefined },
  ): void {
    if (!this.#options.settings.traces || !this.#isSampled(span.traceId)) return;
    if (this.#waiting.length >= maxWaiting) {
      this.#dropped++;
      return;
    }
    const ended = { ...span, endMs, attributes: { ...span.attributes, ...attributes } };
    this.#waiting.push(failure === undefined ? ended : { ...ended, failure: this.#clean(failure) });
  }

  /** Returns whether a trace is exported: as a whole or not at all. */
  #isSampled(traceId: string): boolean {
    const { parent, isParentBased, ratio } = this.#options.settings;
    if (parent && isParentBased) return parent.isSampled;
    return Number.parseInt(traceId.slice(-8), 16) / 2 ** 32 < ratio;
  }

  #send(): void {
    const { traces } = this.#options.settings;
    const spans = this.#waiting.splice(0);
    if (traces)
      for (let first = 0; first < spans.length; first += maxAtOnce)
        this.#export(traces, tracesBody(spans.slice(first, first + maxAtOnce), this.#resource(), this.#scope()));
    if (this.#exporter.fault === undefined || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.warn(this.#exporter.fault);
  }

  #export(target: Target, body: object): void {
    this.#exporter.send(target, body);
  }

  #resource(): Attributes {
    const { settings, version } = this.#options;
    return {
      "service.version": version,
      "telemetry.sdk.name": "courser",
      "telemetry.sdk.language": "nodejs",
      "telemetry.sdk.version": version,
      // With this id, collectors distinguish the counters of different processes.
      "service.instance.id": this.#instance,
      ...settings.resource,
    };
  }

  #scope() {
    return { name: "courser", version: this.#options.version };
  }

  #clean(text: string): string {
    return this.#options.redact(text);
  }
}

function chatAttributes(call: ModelCall, conversation: string | undefined): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    ...modelAttributes(call),
    "gen_ai.conversation.id": conversation,
  };
}

/** Vendors that have another name in the conventions of OpenTelemetry. */
const wellKnown: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

function modelAttributes({ provider, request, url }: ModelCall): Attributes {
  return {
    "gen_ai.provider.name": wellKnown[provider] ?? provider,
    "gen_ai.request.model": request.model,
    ...(url !== undefined && URL.canParse(url) && serverAttributes(new URL(url))),
  };
}

function serverAttributes({ hostname, port, protocol }: URL): Attributes {
  return { "server.address": hostname, "server.port": Number(port) || (protocol === "https:" ? 443 : 80) };
}

function usageAttributes(usage: Usage | undefined): Attributes {
  return {
    "gen_ai.usage.input_tokens": inputTokens(usage),
    "gen_ai.usage.output_tokens": usage?.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage?.cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWriteTokens,
  };
}

/** Returns the number of input tokens, including those read from or written to a cache. */
function inputTokens(usage: Usage | undefined): number | undefined {
  return usage && usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** Reads the stream's form: `{custom: {name}}`, or `{explore: {}}`. */
function subagentName(type: unknown): string {
  if (typeof type !== "object" || type === null) return "subagent";
  const [key, value] = Object.entries(type)[0] ?? ["subagent", {}];
  return (value as { name?: string })?.name ?? key;
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
