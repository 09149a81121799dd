// The offline model: follows direct instructions in plain English, deterministically, without a network. The default when there is no key.
//
// How a sentence becomes a call: `quotes` puts one character in the place of each quoted text, `rewording` makes orders
// of wishes ("a.txt should be deleted"), `clauses` parts the orders, `politeness` and `stories` take away what asks for
// nothing. An order is then looked up in the rows of `grammar/`, which fit from its first word to its last, or not at
// all; what rows cannot hold is read by the part that its verb stands for (`verbs`: reading, finding, searching, writing,
// replacing, moving, running, todos), with `phrases` for the names of files. The result is steps. `accounting` refuses
// changes of which a word was not used. `carry-out` makes the calls, one a reply, and says what came of them.
// Patterns are functions: one that is never asked costs a start nothing.
import { isObject } from "../../json/object.ts";
import type { Message } from "../../protocol/message.ts";
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "../provider.ts";
import { carryOut } from "./carry-out.ts";
import type { ToolOutcome, ToolUse } from "./desk.ts";
import { todosIn } from "./todos.ts";
import { type Plan, understand } from "./understand.ts";

export const offlineProvider: Provider = { id: "offline", stream, canSummarise: () => false };

/** A prompt is understood once, not for each reply of its turn. */
const plans = new WeakMap<Message, Plan>();

/** Needs nothing but the messages: a resumed session goes on where it was. */
async function* stream(request: ModelRequest): AsyncGenerator<ModelChunk> {
  if (request.signal.aborted) throw new ModelError("INTERRUPTED", "Interrupted", { cause: request.signal.reason });
  const { messages, tools } = request;
  const asked = messages.flatMap((message, index) => {
    const text = message.role === "user" ? spokenText(message) : "";
    return text === "" ? [] : [{ text, index }];
  });
  const prompt = asked.at(-1);
  if (!prompt) throw new ModelError("MODEL_BAD_REQUEST", "The offline model was given no prompt.");

  const earlier = messages.slice(0, prompt.index);
  const todos = todosIn(earlier);
  const message = messages[prompt.index]!;
  const plan =
    plans.get(message) ??
    understand(prompt.text, {
      tools,
      todos,
      lastPath: lastPathIn(earlier),
      asked: asked.slice(0, -1).map((one) => one.text),
      answered: answersIn(earlier),
    });
  plans.set(message, plan);
  if ("refused" in plan) throw new ModelError("OFFLINE_LIMIT", plan.refused);

  const next = replay(carryOut(plan.steps, { tools, todos, bare: plan.bare }), callsIn(messages.slice(prompt.index)));
  if (typeof next === "string") {
    for (const text of inChunks(next)) yield { type: "text", text };
    yield { type: "part", part: { type: "text", text: next } };
  } else {
    yield { type: "part", part: { type: "tool_call", id: nextId(messages), name: next.name, args: next.args } };
  }
  const said = typeof next === "string" ? next.length : next.name.length + JSON.stringify(next.args).length;
  yield {
    type: "usage",
    usage: {
      inputTokens: tokens(lengthOf(messages)),
      outputTokens: tokens(said),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    },
  };
}

/** Runs the work again with the results it has had, up to the first call without one, or to the answer. */
function replay(
  work: Generator<ToolUse, string, ToolOutcome>,
  done: { name: string; result: ToolOutcome }[],
): ToolUse | string {
  let step = work.next();
  for (const { name, result } of done) {
    if (step.done) break;
    // A call that this model did not make (the session was begun by another) is passed over.
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

/** What the user typed, without what a harness puts around it: context in angle brackets. */
function spokenText(message: Message): string {
  const texts = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (!texts[0]?.includes("<")) return texts.find((text) => text.trim() !== "")?.trim() ?? "";
  const query = /<user_query>\s*([\s\S]*?)\s*<\/user_query>/.exec(texts.join("\n"));
  if (query) return query[1]!.trim();
  const around =
    /<(system[-_]reminder|user_info|timestamp|environment|context|hook_context|additional_context)\b[^>]*>[\s\S]*?<\/\1>/g;
  // What follows the first text (attached files, labels of images) was not typed.
  return texts.map((text) => text.replace(around, "").trim()).find((text) => text !== "") ?? "";
}

function answersIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => {
    const isAnswer = message.role === "assistant" && !message.parts.some((part) => part.type === "tool_call");
    const text = isAnswer ? spokenText(message) : "";
    return text === "" ? [] : [text];
  });
}

/** The file that was worked on last in earlier turns: what "it" means in this one. */
function lastPathIn(messages: readonly Message[]): string | undefined {
  const paths = messages
    .flatMap((message) => message.parts)
    .map(
      (part) =>
        part.type === "tool_call" && /^(?:Read|Write|Edit)$/.test(part.name) && isObject(part.args) && part.args.path,
    );
  return paths.findLast((path) => typeof path === "string");
}

function nextId(messages: readonly Message[]): string {
  const numbers = messages
    .flatMap((message) => message.parts)
    .map((part) => Number((part.type === "tool_call" && /^call_offline_(\d+)$/.exec(part.id)?.[1]) || 0));
  return `call_offline_${Math.max(0, ...numbers) + 1}`;
}

/** A dozen pieces at most, cut between words. */
function inChunks(text: string): string[] {
  const words = text.match(/\s*\S+(?:\s+$)?/g) ?? [text];
  const each = Math.max(2, Math.ceil(words.length / 12));
  const chunks: string[] = [];
  for (let at = 0; at < words.length; at += each) chunks.push(words.slice(at, at + each).join(""));
  return chunks;
}

function lengthOf(messages: readonly Message[]): number {
  const lengths = messages
    .flatMap((message) => message.parts)
    .map((part) => {
      if (part.type === "tool_call") return part.name.length + (JSON.stringify(part.args) ?? "").length;
      return part.type === "image" ? 0 : part.text.length;
    });
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** A common rule of thumb: four characters a token. */
function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}
