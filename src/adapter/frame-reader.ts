// Converts frames of a CLI to events of the turn contract. Frame types that are not forwarded are listed here.

import { isObject, type JsonObject, tryParse } from "../json/object.ts";
import type { Frame } from "../protocol/frames.ts";
import { createDecoder } from "../protocol/stream-json.ts";
import { toolKeyOf, toolOfKey } from "../protocol/tool-calls.ts";
import type { Fault } from "../protocol/turn-contract.ts";
import { type ContractToolCall, callFault, type ToolTable, type TurnEvent } from "../protocol/turn-contract.ts";
import { codeOfWords } from "./failure.ts";
import { type CallShape, RepeatedCalls } from "./repeated-calls.ts";
import { RepeatedText } from "./repeated-text.ts";

/** What one frame means to the caller. */
export type ReadFrame = {
  /** The events of the contract: assistant lines in full, even if they only repeat deltas. */
  events: readonly TurnEvent[];
  /** The text that the frame adds to the answer. */
  newText: string;
  /** A tool of the CLI itself that it started to use. */
  ownTool?: string;
  /** A fault in the stream, after which nothing more is read. */
  fault?: Fault;
};

const nothing: ReadFrame = { events: [], newText: "" };

export class FrameReader {
  readonly #tools: ToolTable;
  readonly #decode = createDecoder();
  readonly #calls = new RepeatedCalls();
  #hasUsage = false;
  /** Whether this is the stream of a CLI, where unknown types are not a fault since newer versions may add some. */
  #isCliStream = false;
  /** All new text of this stream, and the number of texts it arrived in. */
  #said = "";
  #texts = 0;
  /** The text of each kind of delta, since a CLI may send both kinds. */
  readonly #forwarded = { assistant: "", assistant_delta: "" };
  /** The text since the last flush or call, which a CLI that starts again would repeat. */
  #open = "";
  #retelling: RepeatedText | undefined;

  constructor(tools: ToolTable) {
    this.#tools = tools;
  }

  read({ kind, type, value }: Frame): ReadFrame {
    if (kind === "other") return this.#unknown(type, value);
    if (!isObject(value.data)) this.#isCliStream = true;
    switch (type) {
      case "assistant_delta":
        return this.#text(type, (value.data as { content: string }).content, deltaLine(value));
      case "assistant":
        return this.#text(type, assistantText(value), value);
      case "tool_call":
        return this.#call(value);
      case "usage":
        this.#hasUsage = true;
        return { events: [contractOnly(type, value.data as JsonObject)], newText: "" };
      case "error":
      case "done":
        return { events: [contractOnly(type, value.data as JsonObject)], newText: "" };
      case "result":
        return this.#result(value);
      case "retry":
      case "connection":
        this.#decodeText(value);
        return nothing;
      // Lines of type thinking, system, user and interaction_query are for display only and not forwarded.
      default:
        return nothing;
    }
  }

  /** The turn contract has a fixed list of types: an unknown one may be a misspelt call or ending. */
  #unknown(type: string, { data }: JsonObject): ReadFrame {
    if (this.#isCliStream || !isObject(data)) return nothing;
    const message = `Wrong frame: the turn contract has no type ${JSON.stringify(type)}.`;
    return { ...nothing, fault: { code: "FRAME_SCHEMA", message } };
  }

  #text(kind: "assistant" | "assistant_delta", content: string, line: JsonObject): ReadFrame {
    if (content === "") return nothing;
    const events: TurnEvent[] = [{ type: "assistant_delta", data: { content } }];
    return { events, newText: this.#isRepeated(kind, content, line) ? "" : this.#decodeText(line) };
  }

  /** Adds to the decoder's checks: an answer repeated whole after its parts, and deltas that repeat those of the other kind. */
  #isRepeated(kind: "assistant" | "assistant_delta", content: string, line: JsonObject): boolean {
    if (line.timestamp_ms === undefined) return this.#texts > 1 && content === this.#said;
    if (line.model_call_id !== undefined) return false;
    this.#forwarded[kind] += content;
    const other = this.#forwarded[kind === "assistant" ? "assistant_delta" : "assistant"];
    return other !== "" && other.startsWith(this.#forwarded[kind]);
  }

  /** Returns the new text in a line. The stream decoder recognises lines that only repeat others. */
  #decodeText(line: unknown): string {
    let text = "";
    for (const event of this.#decode(line)) {
      switch (event.type) {
        case "text":
          text += this.#retelling ? this.#retelling.next(event.text) : event.text;
          this.#open += event.text;
          break;
        case "text_end":
          this.#texts++;
          this.#open = "";
          this.#retelling = undefined;
          break;
        case "retry":
          if (!event.discards) break;
          this.#retelling = new RepeatedText(this.#open);
          this.#open = "";
          break;
      }
    }
    this.#said += text;
    return text;
  }

  #call(value: JsonObject): ReadFrame {
    if (isObject(value.data)) {
      const { name, args } = value.data as { name: string; args: Record<string, unknown> };
      return this.#readCall("contract", { name, args });
    }
    const call = value.tool_call as JsonObject;
    const nested = nestedCall(call);
    if (nested && this.#tools.has(nested.name)) {
      // A call that is reported as completed was run by the CLI itself.
      if (value.subtype !== undefined && value.subtype !== "started") return nothing;
      const fault = callFault(nested.name, nested.args, this.#tools);
      if (fault) return { ...nothing, fault };
      const { name, args } = nested as { name: string; args: Record<string, unknown> };
      return this.#readCall("nested", { name, args }, value.call_id);
    }
    this.#decodeText(value);
    const key = toolKeyOf(call);
    return { ...nothing, ownTool: key === undefined ? (nested?.name ?? "unknown") : toolOfKey(key) };
  }

  #readCall(shape: CallShape, data: ContractToolCall["data"], id?: unknown): ReadFrame {
    if (!this.#calls.isNew(shape, data, id)) return nothing;
    return { events: [{ type: "tool_call", data }], newText: "" };
  }

  #result(value: JsonObject): ReadFrame {
    const text = value.result as string;
    if (value.is_error === true) {
      const message = text.replace(/^Error: /, "") || "The CLI reported a failure and did not say which.";
      const code = typeof value.error_code === "string" ? value.error_code : (codeOfWords(text) ?? "CLI_FAILED");
      return { events: [{ type: "error", data: { code, message } }], newText: "" };
    }
    // Do not repeat a usage that was already reported.
    const usage = isObject(value.usage) && !this.#hasUsage ? [usageEvent(value.usage)] : [];
    return {
      events: [...usage, { type: "done", data: { finishReason: "stop" } }],
      // Use the text of the result if no other frame had any, as with some CLIs.
      newText: this.#said === "" ? text : "",
    };
  }
}

function contractOnly(type: "usage" | "error" | "done", data: JsonObject): TurnEvent {
  switch (type) {
    case "usage":
      return {
        type,
        data: { promptTokens: data.promptTokens as number, completionTokens: data.completionTokens as number },
      };
    case "error":
      return { type, data: { code: data.code as string, message: data.message as string } };
    case "done":
      return { type, data: { finishReason: (data.finishReason as string | undefined) ?? "stop" } };
  }
}

/** Converts the usage. Tokens that were read from a cache are part of the prompt. */
function usageEvent(usage: JsonObject): TurnEvent {
  const count = (...names: string[]) => {
    const name = names.find((each) => typeof usage[each] === "number");
    return name === undefined ? 0 : (usage[name] as number);
  };
  const cached =
    count("cacheReadTokens", "cache_read_tokens", "cache_read_input_tokens") +
    count("cacheWriteTokens", "cache_write_tokens", "cache_creation_input_tokens");
  return {
    type: "usage",
    data: {
      promptTokens: count("inputTokens", "input_tokens") + cached,
      completionTokens: count("outputTokens", "output_tokens"),
    },
  };
}

function assistantText(line: JsonObject): string {
  const { content } = line.message as { content: { type: string; text?: unknown }[] };
  let text = "";
  for (const block of content) if (block.type === "text" && typeof block.text === "string") text += block.text;
  return text;
}

/** Converts a delta of the contract to a line of stream-json. */
function deltaLine(frame: JsonObject): JsonObject {
  const { content } = frame.data as { content: string };
  return {
    type: "assistant",
    message: { role: "assistant", content: [{ type: "text", text: content }] },
    timestamp_ms: 0,
  };
}

/** Reads `tool_call{name, arguments|args}`, also below `function`; the arguments may be JSON in a string. */
function nestedCall(call: JsonObject): { name: string; args: unknown } | undefined {
  const inner = isObject(call.function) ? call.function : call;
  if (typeof inner.name !== "string" || inner.name === "") return undefined;
  const callArguments = inner.arguments ?? inner.args ?? {};
  return {
    name: inner.name,
    args:
      typeof callArguments === "string" ? (callArguments.trim() === "" ? {} : tryParse(callArguments)) : callArguments,
  };
}
