// Talks to every vendor through the AI SDK's LanguageModel interface: turns a request into a stream of chunks.
import type {
  LanguageModelV3,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider";
import { isObject } from "../json/object.ts";
import type { Fetch } from "../net/fetch.ts";
import type { Usage } from "../protocol/event.ts";
import type { ToolCallPart } from "../protocol/message.ts";
import { contextTokens } from "../protocol/usage.ts";
import { isBlankText } from "../text/blank.ts";
import { tryOr } from "../text/try-or.ts";
import { type Opaque, toPrompt } from "./ai-sdk-prompt.ts";
import { type AnswerWatch, tooLong, watchAnswer } from "./answer-watch.ts";
import { type RequestedModel, toModelError } from "./failure.ts";
import { type ModelChunk, ModelError, type ModelRequest, type Provider, type ToolSpec } from "./provider.ts";
import type { Vendor } from "./vendors/vendor.ts";

export function aiSdkProvider(vendor: Vendor, asked: RequestedModel, fetch: Fetch): Provider {
  const reported = new Set<string>();
  const takeModel = modelsOf(vendor);
  return {
    id: vendor.name,
    async *stream(given) {
      const { tools, leftOut } = await fittingTools(offeredIn(given, vendor), vendor);
      const request = { ...given, tools };
      const news = leftOut.filter((sentence) => !reported.has(sentence));
      for (const message of news) yield { type: "notice", kind: "tool_left_out", message };
      for (const message of news) reported.add(message);
      const sent = { length: 0 };
      const wire = rewriting(fetch, vendor, request, sent);
      const watch = watchAnswer(wire, { ...asked, model: request.model }, request.signal);
      const { model, giveBack } = takeModel(request.model, watch.fetch);
      try {
        const { stream } = await model.doStream({
          prompt: toPrompt(request, vendor),
          // Tools that are written into the body later do not go through a package that may refuse them.
          tools: (vendor.writesTools ? [] : tools).map((tool) => ({
            type: "function",
            name: tool.name,
            description: tool.description,
            inputSchema: tool.parameters,
            ...(vendor.saysNotStrict && { strict: false }),
          })),
          abortSignal: request.signal,
          ...(vendor.callIds && { includeRawChunks: true }),
          ...vendor.options(request),
        });
        for await (const chunk of readChunks(stream, { vendor, asked, watch, request })) {
          yield chunk;
          const message = chunk.type === "usage" && cutInput(chunk.usage, sent.length, asked);
          if (!message || reported.has("cut")) continue;
          reported.add("cut");
          yield { type: "notice", kind: "input_cut", message };
        }
      } catch (error) {
        throw toModelError(
          error,
          { ...asked, model: request.model },
          { signal: request.signal, answered: watch.answered },
        );
      } finally {
        giveBack();
      }
    },
  };
}

/** Reuses idle models, since opening one builds all the schemas of its wire format. */
function modelsOf(vendor: Vendor) {
  type Opened = { id: string; model: LanguageModelV3; ask: Fetch };
  const idle: Opened[] = [];
  return (id: string, ask: Fetch) => {
    const at = idle.findIndex((each) => each.id === id);
    const opened: Opened = idle.splice(at, at === -1 ? 0 : 1)[0] ?? {
      id,
      model: vendor.open(id, (url, init) => opened.ask(url, init)),
      ask,
    };
    opened.ask = ask;
    return { model: opened.model, giveBack: () => void idle.push(opened) };
  };
}

/** Returns the tools to send. A side question offers none, but some vendors require the tools of earlier calls. */
function offeredIn({ tools, messages }: ModelRequest, { needsTools }: Vendor): readonly ToolSpec[] {
  const hasCalls = () => messages.some(({ parts }) => parts.some(({ type }) => type === "tool_call"));
  return needsTools && tools.length === 0 && hasCalls() ? [noTool] : tools;
}

const noTool: ToolSpec = {
  name: "None",
  description: "There are no tools now: answer in words.",
  parameters: { type: "object", properties: {} },
};

/** Adapts schemas of MCP tools, which may be anything: one that a vendor refuses would fail every request. */
async function fittingTools(
  tools: readonly ToolSpec[],
  vendor: Vendor,
): Promise<{ tools: readonly ToolSpec[]; leftOut: readonly string[] }> {
  const isOwn = tools.every((tool) => tool.mcp === undefined);
  if (isOwn && !vendor.flatSchemas && !vendor.typedSchemas) return { tools, leftOut: [] };
  return (await import("./foreign-tools.ts")).fitTools(tools, vendor);
}

/**
 * Rewrites the body as the vendor requires, with the conversation last: everything before it is the same in every request, and so is
 * the conversation up to its newest messages.
 */
function rewriting(ask: Fetch, vendor: Vendor, request: ModelRequest, sent: { length: number }): Fetch {
  return (url, init) => {
    if (typeof init?.body !== "string" || vendor.isSealed) return ask(url, init);
    const body = JSON.parse(init.body);
    vendor.rewrite?.(body, request);
    const { messages, input, contents, ...rest } = body;
    const text = JSON.stringify({ ...rest, messages, input, contents });
    sent.length = text.length;
    return ask(url, { ...init, body: text });
  };
}

/** Returns a warning if a server counts far fewer tokens than it was sent: it has dropped the beginning without an error. */
function cutInput(usage: Usage, length: number, { vendorLabel, local }: RequestedModel): string | undefined {
  const counted = contextTokens({ ...usage, outputTokens: 0 });
  const about = Math.round(length / 4);
  if (!local || counted < 1000 || counted > about * 0.4) return undefined;
  return `${vendorLabel} was sent about ${about} tokens and counted ${counted}: it seems to have cut the conversation to its context window. Give it a larger one (Ollama: OLLAMA_CONTEXT_LENGTH), or set contextTokens in courser.json to what it has.`;
}

type StreamContext = { vendor: Vendor; asked: RequestedModel; watch: AnswerWatch; request: ModelRequest };
type Thought = { text: string; metadata?: SharedV3ProviderMetadata };

/** Reports whether an id is not from the stream although every call there had one: the package renamed a repeated call. */
function isRenamed(id: string, streamedIds: ReadonlySet<string | undefined>): boolean {
  return streamedIds.size > 0 && !streamedIds.has(undefined) && !streamedIds.has(id);
}

/** The maximum size of an answer in bytes. No valid answer is this long, but a broken server may not stop. */
const longestAnswer = 16 * 2 ** 20;
const maxCalls = 1000;

async function* readChunks(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  reading: StreamContext,
): AsyncGenerator<ModelChunk> {
  const { vendor, asked } = reading;
  let length = 0;
  let calls = 0;
  const thoughts = new Map<string, Thought>();
  const saidIds = new Set<string | undefined>();
  const details: unknown[] = [];
  /** The newest call: whether it is complete is known only when something follows it. */
  let call: LanguageModelV3ToolCall | undefined;
  /** The tool of the call whose arguments are still arriving. */
  let begun: string | undefined;
  let text = "";
  /** The end of the text received so far, and whether another text begins after it. */
  let spoken = "";
  let isNext = false;
  let hasContent = false;
  let finish: { reason: LanguageModelV3FinishReason; usage: LanguageModelV3Usage } | undefined;

  /** Ends the current text when something else follows, since SDK packages report its end late. */
  function* endText(): Generator<ModelChunk> {
    if (text) yield { type: "part", part: { type: "text", text } };
    text = "";
  }

  function* endCall(): Generator<ModelChunk> {
    if (call) yield { type: "part", part: callPart(call, vendor) };
    call = undefined;
  }

  for await (const part of stream) {
    if ("delta" in part) length += part.delta.length;
    if (length > longestAnswer) throw tooLong(`The answer of ${asked.vendorLabel} is too long`);
    if (part.type === "tool-input-start" && ++calls > maxCalls)
      throw new ModelError(
        "MODEL_TOO_LONG",
        `${asked.vendorLabel} made more than ${maxCalls} calls in one answer. Choose another model with --model.`,
      );
    switch (part.type) {
      case "raw":
        for (const id of vendor.callIds?.(part.rawValue) ?? []) saidIds.add(id);
        details.push(...(vendor.thinkingDetails?.(part.rawValue) ?? []));
        break;
      case "text-start":
        isNext = !isBlankText(spoken);
        break;
      case "text-delta": {
        if (!part.delta) break;
        yield* endCall();
        // Separate texts within one answer are paragraphs.
        const words = isNext && !spoken.endsWith("\n") ? `\n\n${part.delta}` : part.delta;
        isNext = false;
        spoken = part.delta;
        text += words;
        hasContent ||= !isBlankText(part.delta);
        yield { type: "text", text: words };
        break;
      }
      case "text-end":
        yield* endText();
        break;
      case "reasoning-start":
        yield* endText();
        thoughts.set(part.id, { text: "", metadata: part.providerMetadata });
        break;
      case "reasoning-delta": {
        const thought = thoughts.get(part.id) ?? { text: "" };
        thoughts.set(part.id, {
          text: thought.text + part.delta,
          metadata: merged(thought.metadata, part.providerMetadata),
        });
        if (part.delta) yield { type: "thinking", text: part.delta };
        break;
      }
      case "reasoning-end": {
        const thought = thoughts.get(part.id) ?? { text: "" };
        thoughts.delete(part.id);
        const metadata = merged(thought.metadata, part.providerMetadata);
        const opaque: Opaque = { from: vendor.name, ...(metadata && { metadata }) };
        if (thought.text || metadata) yield { type: "part", part: { type: "thinking", text: thought.text, opaque } };
        break;
      }
      case "tool-input-start":
        begun = part.toolName;
        break;
      case "tool-call":
        begun = undefined;
        yield* endText();
        if (part.providerExecuted) break;
        hasContent = true;
        if (isRenamed(part.toolCallId, saidIds)) break;
        yield* endCall();
        call = part;
        break;
      case "finish":
        finish = { reason: part.finishReason, usage: part.usage };
        break;
      case "error":
        if (isHarmless(part.error, reading)) break;
        throw part.error;
      default:
        break; // other chunks, such as argument deltas and sources, are not needed
    }
  }
  yield* endText();
  const cut = finish && cutReason(finish.reason);
  const isLastWhole = cut === undefined || !call || isWhole(call);
  const broken = cut === undefined ? undefined : (begun ?? (isLastWhole ? undefined : call?.toolName));
  if (isLastWhole) yield* endCall();
  if (details.length > 0) {
    const opaque = { from: vendor.name, metadata: { thinking: { details } } } as Opaque;
    yield { type: "part", part: { type: "thinking", text: "", opaque } };
  }
  if (cut !== undefined) yield { type: "cut", reason: cut, ...(broken !== undefined && { call: broken }) };
  if (finish) yield { type: "usage", usage: convertUsage(finish.usage) };
  if (cut === undefined) judgeEnding(finish?.reason, hasContent, reading);
}

/** Returns the vendor's reason why an answer stopped before its end; undefined if it is complete. */
function cutReason({ unified, raw }: LanguageModelV3FinishReason): string | undefined {
  return unified === "length" || cutWords.test(raw ?? "") ? (raw ?? "length") : undefined;
}

/** Words in the reasons of all vendors, of which packages know only some. */
const cutWords = /^pause_turn$|length|max_\w*tokens|context_window/i;
const refusalWords = /refus|filter|safety|sensitive|guardrail/i;
const failureWords = /error|malformed|unexpected|missing|too_many|insufficient|abort|fail|^(?:other|language)$/i;

/** Arguments that were cut are not an object, or an empty one if they had not begun. */
function isWhole({ input }: LanguageModelV3ToolCall): boolean {
  const args = parsedArguments(input);
  return isObject(args) && Object.keys(args).length > 0;
}

/** Converts a tool call. `opaque` is the vendor's metadata, which later requests to the same vendor contain again. */
function callPart(call: LanguageModelV3ToolCall, vendor: Vendor): ToolCallPart {
  const { toolCallId: id, toolName: name, input, providerMetadata: metadata } = call;
  const opaque: Opaque | undefined = metadata && { from: vendor.name, metadata };
  return { type: "tool_call", id, name, args: parsedArguments(input), ...(opaque && { opaque }) };
}

/** An unknown event, or a proper end mark without a finish reason, does not invalidate an answer. */
function isHarmless(error: unknown, { vendor }: StreamContext): boolean {
  const { name, message, value } = (error ?? {}) as { name?: string; message?: string; value?: { error?: unknown } };
  // a missing finish reason is checked at the end
  if (name === "AI_InvalidResponseDataError" && /without a finish reason/.test(message ?? "")) return true;
  return name === "AI_TypeValidationError" && vendor.addsEvents === true && value?.error === undefined;
}

/** Throws if the answer is invalid: cut, refused, failed or empty. */
function judgeEnding(
  reason: LanguageModelV3FinishReason | undefined,
  hasContent: boolean,
  { asked, watch }: StreamContext,
): void {
  const { vendorLabel } = asked;
  const raw = reason?.raw ?? "";
  const noReason = !reason || (reason.raw === undefined && (reason.unified === "other" || reason.unified === "error"));
  if (noReason && !watch.sawEndMark) {
    throw new ModelError("MODEL_TRUNCATED", `The answer of ${vendorLabel} ended before it was complete.`);
  }
  if (reason?.unified === "content-filter" || refusalWords.test(raw)) {
    throw new ModelError(
      "MODEL_REFUSED",
      `The model refused to answer (${raw || "content filter"}). Rephrase it, or choose another model with --model.`,
    );
  }
  if ((reason?.unified === "error" && raw) || failureWords.test(raw)) {
    throw new ModelError("MODEL_BAD_RESPONSE", `${vendorLabel} ended its answer with an error (${raw}).`);
  }
  if (hasContent) return;
  throw new ModelError(
    "MODEL_EMPTY",
    "The model returned an empty answer. Try again, or choose another model with --model.",
  );
}

function merged(
  left: SharedV3ProviderMetadata | undefined,
  right: SharedV3ProviderMetadata | undefined,
): SharedV3ProviderMetadata | undefined {
  if (!left || !right) return right ?? left;
  const result = { ...left };
  for (const [name, fields] of Object.entries(right)) result[name] = { ...result[name], ...fields };
  return result;
}

/** Returns the arguments, or their text if they are not JSON: the tool then reports the error to the model. */
function parsedArguments(input: string): unknown {
  if (input.trim() === "") return {};
  return tryOr(() => JSON.parse(input), input);
}

/** Counts tokens read from or written to the cache separately. */
function convertUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): Usage {
  const cacheReadTokens = inputTokens.cacheRead ?? 0;
  const cacheWriteTokens = inputTokens.cacheWrite ?? 0;
  return {
    inputTokens: inputTokens.noCache ?? Math.max(0, (inputTokens.total ?? 0) - cacheReadTokens - cacheWriteTokens),
    outputTokens: outputTokens.total ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}
