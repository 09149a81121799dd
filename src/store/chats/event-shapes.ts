// What an event must have to be shown again. One that has not was damaged, or is of another making, and is told as unreadable.
import { isObject, tryParse } from "../../json/object.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import type { ChatProblem } from "./chat.ts";
import type { StoreConnection } from "./connection.ts";

/** The texts that each kind is nothing without. */
const texts: Record<AgentEvent["type"], readonly string[]> = {
  init: ["sessionId", "cwd"],
  user: ["text"],
  thinking: ["text"],
  thinking_end: [],
  text: ["text"],
  text_end: ["text"],
  tool_start: ["callId", "tool"],
  tool_output: ["callId", "chunk"],
  tool_end: ["callId", "tool"],
  ask: ["kind"],
  answer: ["kind"],
  retry: [],
  notice: ["kind", "message"],
  done: ["text"],
  fail: ["message"],
  other: [],
};

export function eventIn(body: unknown): AgentEvent | undefined {
  const event = typeof body === "string" ? tryParse(body) : undefined;
  if (!isObject(event) || typeof event["type"] !== "string" || !Object.hasOwn(texts, event["type"])) return undefined;
  const wanted = texts[event["type"] as AgentEvent["type"]];
  return wanted.every((field) => typeof event[field] === "string") ? (event as AgentEvent) : undefined;
}

/**
 * The same question to SQLite, which answers it for a long chat in a few milliseconds. What is kept as a difference to other
 * events is only known to be whole.
 */
const isBroken = [
  `json_extract(body, '$.type') NOT IN (${Object.keys(texts).map((kind) => `'${kind}'`)})`,
  ...Object.entries(texts).flatMap(([kind, fields]) =>
    fields.map((field) => `kind = '${kind}' AND json_type(body, '$.${field}') IS NOT 'text'`),
  ),
].join(" OR ");

/** What is told of a chat beside what was said in it: its title, its mode, its model. */
export function metaProblems(meta: object, isOurs: boolean): ChatProblem[] {
  if (!isOurs || "latestRootBlobId" in meta) return [];
  return [{ code: "STORE_CORRUPT", message: "The title, the mode and the model of this chat are no longer readable." }];
}

/** Throws what SQLite says where it cannot read them at all. */
export function eventProblems(store: StoreConnection): ChatProblem[] {
  const rows = store.rows(
    `SELECT sequence FROM courser_events WHERE NOT json_valid(body) OR (body NOT LIKE '[%' AND (${isBroken})) ORDER BY sequence`,
  );
  return unreadable(rows.map(([sequence]) => Number(sequence)));
}

export function unreadable(sequences: readonly number[]): ChatProblem[] {
  if (sequences.length === 0) return [];
  const more = sequences.length > 5 ? ", …" : "";
  const message = `Some events of this chat are no longer readable: ${sequences.slice(0, 5).join(", ")}${more}.`;
  return [{ code: "STORE_CORRUPT", message }];
}
