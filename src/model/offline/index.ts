// The offline model: carries out the sentences of one table (forms.ts), deterministically and offline. The default without a key.
//
// `parseOrders` (understand.ts) splits a prompt into orders, each a form of the table with the values of its slots
// (slots.ts), or refuses all of it. `carry-out` makes the calls, one per reply, and reports the
// results. Nothing is kept between replies: a resumed session continues where it was.
import type { Message, Part } from "../../protocol/message.ts";
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "../provider.ts";
import { carryOut } from "./carry-out.ts";
import type { Program, ToolOutcome, ToolUse } from "./desk.ts";
import { todosIn } from "./todos.ts";
import { explainMisunderstanding, parseOrders } from "./understand.ts";

export function offlineProvider(version = ""): Provider {
  return { id: "offline", stream: (request) => stream(request, version), canSummarise: () => false };
}

async function* stream(request: ModelRequest, version: string): AsyncGenerator<ModelChunk> {
  const { messages, tools, signal } = request;
  if (signal.aborted) throw new ModelError("INTERRUPTED", "Interrupted", { cause: signal.reason });
  const asked = messages.flatMap((message, index) => {
    const text = message.role === "user" ? spokenText(message) : "";
    return text === "" ? [] : [{ text, index }];
  });
  const prompt = asked.at(-1);
  if (!prompt) throw new ModelError("MODEL_BAD_REQUEST", "The offline model was given no prompt.");
  const understood = parseOrders(prompt.text);
  if ("part" in understood) throw new ModelError("OFFLINE_LIMIT", explainMisunderstanding(understood));

  const todos = todosIn(messages.slice(0, prompt.index));
  const work = carryOut(understood.orders, { version, tools, todos, lastPrompt: asked.at(-2)?.text });
  const next = replay(work, callsIn(messages.slice(prompt.index)));
  if (typeof next === "string") {
    for (const text of inChunks(next)) yield { type: "text", text };
    yield { type: "part", part: { type: "text", text: next } };
  } else {
    yield { type: "part", part: { type: "tool_call", id: nextId(messages), name: next.name, args: next.args } };
  }
  const length = messages.flatMap(({ parts }) => parts).reduce((sum, part) => sum + lengthOf(part), 0);
  const outputLength = typeof next === "string" ? next.length : next.name.length + JSON.stringify(next.args).length;
  // Estimate four characters per token.
  const usage = { inputTokens: Math.ceil(length / 4), outputTokens: Math.ceil(outputLength / 4) };
  yield { type: "usage", usage: { ...usage, cacheReadTokens: 0, cacheWriteTokens: 0 } };
}

/** Runs the work with the results so far, up to the first call without a result, or to the answer. */
function replay(work: Program, outcomes: readonly { name: string; result: ToolOutcome }[]): ToolUse | string {
  let step = work.next();
  for (const { name, result } of outcomes) {
    if (step.done) break;
    // Skips a call that this model did not make (another model began the session).
    if (step.value.name === name) step = work.next(result);
  }
  return step.value;
}

function callsIn(messages: readonly Message[]): { name: string; result: ToolOutcome }[] {
  const parts = messages.flatMap((message) => message.parts);
  const results = new Map(parts.flatMap((part) => (part.type === "tool_result" ? [[part.id, part]] : [])));
  return parts.flatMap((part) => {
    const result = part.type === "tool_call" && results.get(part.id);
    return result ? [{ name: part.name, result }] : [];
  });
}

/** Returns what the user typed, without the context in angle brackets that the agent adds. */
function spokenText(message: Message): string {
  const texts = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const query = /<user_query>\s*([\s\S]*?)\s*<\/user_query>/.exec(texts.join("\n"));
  if (query) return query[1]!.trim();
  const around =
    /<(system[-_]reminder|user_info|timestamp|environment|context|hook_context|additional_context)\b[^>]*>[\s\S]*?<\/\1>/g;
  // Ignore later texts, such as attached files and labels of images, which the user has not typed.
  return texts.map((text) => text.replace(around, "").trim()).find((text) => text !== "") ?? "";
}

function nextId(messages: readonly Message[]): string {
  const numbers = messages
    .flatMap((message) => message.parts)
    .map((part) => Number((part.type === "tool_call" && /^call_offline_(\d+)$/.exec(part.id)?.[1]) || 0));
  return `call_offline_${Math.max(0, ...numbers) + 1}`;
}

/** Splits into at most a dozen pieces, between words. */
function inChunks(text: string): string[] {
  const words = text.match(/\s*\S+(?:\s+$)?/g) ?? [text];
  const each = Math.max(2, Math.ceil(words.length / 12));
  const starts = words.map((_, index) => index).filter((index) => index % each === 0);
  return starts.map((at) => words.slice(at, at + each).join(""));
}

function lengthOf(part: Part): number {
  if (part.type === "tool_call") return part.name.length + (JSON.stringify(part.args) ?? "").length;
  return part.type === "image" ? 0 : part.text.length;
}
