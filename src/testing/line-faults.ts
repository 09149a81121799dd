// Validates a line of a recording: every field that a reader relies on, and its type.
import { isObject } from "../json/object.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Part } from "../protocol/message.ts";

/** `at` names the value. Returns undefined if the value is valid. */
type Check = (value: unknown, at: string) => string | undefined;

const is =
  (what: string, fits: (value: unknown) => boolean): Check =>
  (value, at) =>
    fits(value) ? undefined : `"${at}" must be ${what}`;
const text = is("text", (value) => typeof value === "string");
const number = is("a number", (value) => typeof value === "number");
const flag = is("true or false", (value) => typeof value === "boolean");
const anything: Check = () => undefined;
const anyObject = is("an object", isObject);
const count = is("a whole number that is not negative", (value) => Number.isInteger(value) && (value as number) >= 0);
const oneOf = (...words: readonly string[]) =>
  is(`one of ${words.join(", ")}`, (value) => words.includes(value as string));
const maybe =
  (check: Check): Check =>
  (value, at) =>
    value === undefined ? undefined : check(value, at);
const fields =
  (table: Readonly<Record<string, Check>>): Check =>
  (value, at) =>
    isObject(value)
      ? firstOf(Object.entries(table), ([name, check]) => check(value[name], at === "" ? name : `${at}.${name}`))
      : `"${at}" must be an object`;
const listOf =
  (check: Check): Check =>
  (value, at) =>
    Array.isArray(value)
      ? firstOf(value.entries(), ([index, each]) => check(each, `${at}[${index}]`))
      : `"${at}" must be a list`;
/** Creates a check that chooses the fields to check by the value of `type`. */
const variants =
  (table: Readonly<Record<string, Readonly<Record<string, Check>>>>): Check =>
  (value, at) => {
    if (!isObject(value) || typeof value["type"] !== "string") return `"${at}" has no type`;
    const lineCheck = Object.hasOwn(table, value["type"]) ? table[value["type"]] : undefined;
    return lineCheck ? fields(lineCheck)(value, at) : `"${at}" has the type "${value["type"]}", which is not known`;
  };

function firstOf<Item>(items: Iterable<Item>, check: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const fault = check(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const ending = {
  durationMs: number,
  apiDurationMs: number,
  usage: maybe(anyObject),
  denials: maybe(listOf(anyObject)),
};
const call = { callId: text, tool: text, args: anything };

const event = variants({
  init: { sessionId: text, cwd: text, permissionMode: text, apiKeySource: text, model: maybe(text) },
  user: { text },
  thinking: { text },
  thinking_end: { text: maybe(text) },
  text: { text },
  text_end: { text },
  tool_start: call,
  tool_output: { callId: text, chunk: text },
  tool_end: { ...call, outcome: maybe(fields({ kind: text })) },
  ask: { kind: text },
  answer: { kind: text },
  retry: { attempt: number },
  notice: { kind: text, message: text },
  done: { text, ...ending },
  fail: { message: text, ...ending },
  other: {},
} satisfies Record<AgentEvent["type"], Readonly<Record<string, Check>>>);

const picture = { mime: text, digest: text };
const part = variants({
  text: { text },
  thinking: { text },
  image: picture,
  tool_call: { id: text, name: text },
  tool_result: { id: text, text, isError: flag, images: maybe(listOf(fields(picture))) },
} satisfies Record<Part["type"], Readonly<Record<string, Check>>>);

const parts = listOf(part);
const sizes = listOf(count);
const tokens = fields({ inputTokens: number, outputTokens: number, cacheReadTokens: number, cacheWriteTokens: number });

const message: Check = (value, at) =>
  fields({ role: oneOf("user", "assistant"), digest: text, parts: maybe(parts), reply: maybe(count) })(value, at);

const kinds = {
  event: fields({ event, digest: maybe(text) }),
  deltas: fields({ deltas: oneOf("text", "thinking"), text, sizes, at: listOf(number) }),
  request: fields({
    request: count,
    digest: text,
    agent: maybe(text),
    purpose: maybe(text),
    system: maybe(listOf(fields({ digest: text, text: maybe(text), builtIn: maybe(text) }))),
    tools: maybe(is("names with their digests", (value) => isObject(value) && Object.values(value).every(isText))),
    messages: fields({ kept: count, added: listOf(message) }),
  }),
  reply: fields({
    reply: count,
    parts: listOf((value, at) => part(value, at) ?? fields({ deltas: maybe(sizes) })(value, at)),
    usage: maybe(tokens),
    provider: maybe(text),
    error: maybe(fields({ code: text, message: text })),
  }),
};

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** Expects a line expanded with what it left out because earlier lines say it. */
export function lineFault(line: object): string | undefined {
  const kind = (Object.keys(kinds) as (keyof typeof kinds)[]).find((name) => name in line);
  return kind === undefined ? "it is neither a request nor a reply, an event or deltas" : kinds[kind](line, "");
}

const header = fields({
  chatId: text,
  mode: oneOf("default", "force", "plan", "ask"),
  trusted: flag,
  request: anyObject,
  places: fields({ workspace: text, home: text, config: text, temporary: text, roots: maybe(listOf(text)) }),
  model: fields({ id: text, displayName: text, contextTokens: number }),
});

export function headerFault(value: object): string | undefined {
  return header(value, "");
}
