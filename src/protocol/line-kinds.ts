// Maps each kind of stream-json line to its event: the rows of the line, in wire order.

import type { Row } from "../json/key-table.ts";
import { isObject, type JsonObject, setUntrustedKey, stringOrEmpty } from "../json/object.ts";
import { toolEnd, toolStart } from "./call-lines.ts";
import { constantField, field, type LineKind, type Of, session, time, withTime } from "./line-rows.ts";
import { done, fail } from "./result-lines.ts";

const init: LineKind<Of<"init">> = {
  start(line) {
    if (typeof line.session_id !== "string") return undefined;
    const event: Of<"init"> = {
      type: "init",
      sessionId: line.session_id,
      cwd: stringOrEmpty(line.cwd),
      permissionMode: stringOrEmpty(line.permissionMode),
      apiKeySource: stringOrEmpty(line.apiKeySource),
    };
    if (typeof line.model === "string") event.model = line.model;
    if (isListOf(line.tools, isText)) event.tools = line.tools;
    if (isListOf(line.mcp_servers, isServer)) event.mcpServers = line.mcp_servers;
    if (typeof line.policy_hash === "string") event.policyHash = line.policy_hash;
    return withTime(event, line);
  },
  rows: [
    constantField("type", "system"),
    constantField("subtype", "init"),
    field("apiKeySource", "apiKeySource"),
    field("cwd", "cwd"),
    field("session_id", "sessionId"),
    field("model", "model", "given"),
    field("permissionMode", "permissionMode"),
    field("tools", "tools", "given"),
    field("mcp_servers", "mcpServers", "given"),
    {
      key: "policy_hash",
      when: "given",
      holds: (value, event) => event.policyHash === value,
      write: (event, scope) => (scope.extensions === false ? undefined : event.policyHash),
    },
    time("foreign"),
  ],
};

function isListOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isServer(value: unknown): value is { name: string; status: string } {
  return isObject(value) && typeof value.name === "string" && typeof value.status === "string";
}

/** Returns the row for a message. The event represents a single text block; any other content is stored whole in `carried`. */
function message<Event extends { text: string }>(role: "user" | "assistant"): Row<Event> {
  return {
    key: "message",
    when: "always",
    holds: (value) => isPlain(value as JsonObject, role),
    write: (event) => ({ role, content: [{ type: "text", text: event.text }] }),
  };
}

function isPlain(value: JsonObject, role: string): boolean {
  const { content } = value;
  if (value.role !== role || !Array.isArray(content) || content.length !== 1 || !isObject(content[0])) return false;
  const [block] = content;
  return (
    typeof block.text === "string" && block.type === "text" && hasTwoKeys(block, "type") && hasTwoKeys(value, "role")
  );
}

/** Returns whether an object has only two keys, and the given one first. Both are known to exist. */
function hasTwoKeys(object: JsonObject, first: string): boolean {
  let count = 0;
  for (const key in object) if (++count > 2 || (count === 1 && key !== first)) return false;
  return true;
}

/** Joins the texts of a message. Returns undefined if the value is not an object. */
function contentText(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { content } = value;
  if (!Array.isArray(content)) return stringOrEmpty(content);
  let text = "";
  for (const block of content) if (isObject(block) && typeof block.text === "string") text += block.text;
  return text;
}

const user: LineKind<Of<"user">> = {
  start(line) {
    const text = contentText(line.message);
    return text === undefined ? undefined : withTime({ type: "user", text }, line);
  },
  rows: [constantField("type", "user"), message("user"), session(), time("foreign")],
};

const text: LineKind<Of<"text">> = {
  start(line) {
    const text = contentText(line.message);
    return text === undefined ? undefined : { type: "text", text, at: line.timestamp_ms as number };
  },
  rows: [
    constantField("type", "assistant"),
    message("assistant"),
    session(),
    // The time is what marks a line as a delta, so it is always written.
    { ...time("always"), write: (event) => event.at ?? Date.now() },
  ],
};

const textEnd: LineKind<Of<"text_end">> = {
  start(line) {
    const text = contentText(line.message);
    if (text === undefined) return undefined;
    const event: Of<"text_end"> = { type: "text_end", text };
    if (typeof line.model_call_id === "string") event.modelCallId = line.model_call_id;
    return withTime(event, line);
  },
  rows: [
    constantField("type", "assistant"),
    message("assistant"),
    session(),
    field("model_call_id", "modelCallId", "given"),
    // Written only before a tool call: readers take an assistant line without a time for the answer.
    {
      ...time("given"),
      write: (event, scope) => (event.modelCallId === undefined || scope.segmentTimes === false ? undefined : event.at),
    },
  ],
};

const thinking: LineKind<Of<"thinking">> = {
  start(line) {
    if (typeof line.text !== "string") return undefined;
    const event: Of<"thinking"> = { type: "thinking", text: line.text };
    if (typeof line.timestamp_ms === "number") event.at = line.timestamp_ms;
    return event;
  },
  rows: [
    constantField("type", "thinking"),
    constantField("subtype", "delta"),
    field("text", "text"),
    session(),
    time("given"),
  ],
};

const thinkingEnd: LineKind<Of<"thinking_end">> = {
  start: (line) => withTime({ type: "thinking_end" }, line),
  rows: [constantField("type", "thinking"), constantField("subtype", "completed"), session(), time("given")],
};

type Exchange = { id: string | number; kind: string; body: unknown };

/** The body is under a name derived from the kind, or else under the first key that holds an object. */
function exchangeOf(kind: unknown, value: unknown, nameOf: (kind: string) => string): Exchange | undefined {
  if (typeof kind !== "string" || !isObject(value)) return undefined;
  const { id } = value;
  if (typeof id !== "string" && typeof id !== "number") return undefined;
  const name = nameOf(kind);
  const found = Object.hasOwn(value, name) ? name : Object.keys(value).find((key) => isObject(value[key]));
  return { id, kind, body: found === undefined ? undefined : value[found] };
}

/** `{id, <name>: value}` and nothing else is represented by the event; any other form is carried whole. */
function exchangeRows<Event extends Omit<Exchange, "body"> & { at?: number }>(
  subtype: string,
  property: keyof Event & string,
  nameOf: (kind: string) => string,
): Row<Event>[] {
  const body: Row<Event> = {
    key: property,
    when: "always",
    holds(value, event) {
      const keys = Object.keys(value as JsonObject);
      return keys.length === 2 && keys[0] === "id" && keys[1] === nameOf(event.kind);
    },
    write(event) {
      const object: JsonObject = { id: event.id };
      setUntrustedKey(object, nameOf(event.kind), event[property]);
      return object;
    },
  };
  return [
    constantField("type", "interaction_query"),
    constantField("subtype", subtype),
    field("query_type", "kind"),
    body,
    session(),
    time("given"),
  ];
}

const queryName = (kind: string) => kind;

/** For example, webFetchRequestQuery is answered by webFetchRequestResponse. */
const responseName = (kind: string) => kind.replace(/Query$/, "Response");

const ask: LineKind<Of<"ask">> = {
  start(line) {
    const asked = exchangeOf(line.query_type, line.query, queryName);
    return asked && withTime({ type: "ask", id: asked.id, kind: asked.kind, query: asked.body }, line);
  },
  rows: exchangeRows("request", "query", queryName),
};

const answer: LineKind<Of<"answer">> = {
  start(line) {
    const answered = exchangeOf(line.query_type, line.response, responseName);
    return (
      answered && withTime({ type: "answer", id: answered.id, kind: answered.kind, response: answered.body }, line)
    );
  },
  rows: exchangeRows("response", "response", responseName),
};

const toolOutput: LineKind<Of<"tool_output">> = {
  start(line) {
    if (typeof line.call_id !== "string" || typeof line.chunk !== "string") return undefined;
    return withTime({ type: "tool_output", callId: line.call_id, chunk: line.chunk }, line);
  },
  rows: [
    constantField("type", "tool_output"),
    field("call_id", "callId"),
    field("chunk", "chunk"),
    session(),
    time("foreign"),
  ],
};

const retry: LineKind<Of<"retry">> = {
  start(line) {
    if (typeof line.attempt !== "number" || typeof line.is_resume !== "boolean") return undefined;
    const event: Of<"retry"> = { type: "retry", attempt: line.attempt, discards: line.is_resume };
    if (typeof line.delay_ms === "number") event.delayMs = line.delay_ms;
    if (typeof line.message === "string") event.reason = line.message;
    return withTime(event, line);
  },
  rows: [
    constantField("type", "retry"),
    constantField("subtype", "starting"),
    session(),
    time("given"),
    field("attempt", "attempt"),
    field("is_resume", "discards"),
    field("delay_ms", "delayMs", "given"),
    field("message", "reason", "given"),
  ],
};

const notice: LineKind<Of<"notice">> = {
  start(line) {
    if (typeof line.subtype !== "string") return undefined;
    return withTime({ type: "notice", kind: line.subtype, message: stringOrEmpty(line.message) }, line);
  },
  rows: [
    constantField("type", "system"),
    field("subtype", "kind"),
    field("message", "message"),
    session(),
    time("given"),
  ],
  rest: {
    before: "session_id",
    of: (event) => event.fields,
    add(event, key, value) {
      event.fields ??= {};
      setUntrustedKey(event.fields, key, value);
    },
  },
};

/** The line kind of each event. `other` is missing, since it holds its own line. */
export const kinds = {
  init,
  user,
  thinking,
  thinking_end: thinkingEnd,
  text,
  text_end: textEnd,
  tool_start: toolStart,
  tool_output: toolOutput,
  tool_end: toolEnd,
  ask,
  answer,
  retry,
  notice,
  done,
  fail,
};

/** Returns the kind of a line, or undefined if it is unknown. */
// biome-ignore lint/suspicious/noExplicitAny: the kinds of all events stand in one table
export function lineKindOf(line: JsonObject): LineKind<any> | undefined {
  switch (line.type) {
    case "system":
      return line.subtype === "init" ? init : notice;
    case "user":
      return user;
    case "assistant":
      return typeof line.timestamp_ms === "number" && typeof line.model_call_id !== "string" ? text : textEnd;
    case "thinking":
      return bySubtype(line, "delta", thinking) ?? bySubtype(line, "completed", thinkingEnd);
    case "tool_call":
      return bySubtype(line, "started", toolStart) ?? bySubtype(line, "completed", toolEnd);
    case "tool_output":
      return toolOutput;
    case "interaction_query":
      return bySubtype(line, "request", ask) ?? bySubtype(line, "response", answer);
    case "retry":
      return bySubtype(line, "starting", retry);
    case "result":
      return line.is_error === true || line.subtype === "error" ? fail : done;
    default:
      return undefined;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the kinds of all events stand in one table
function bySubtype(line: JsonObject, subtype: string, kind: LineKind<any>): LineKind<any> | undefined {
  return line.subtype === subtype ? kind : undefined;
}
