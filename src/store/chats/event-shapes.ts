// Checks the fields that an event needs to be shown. Events without them are damaged or foreign, and are reported as unreadable.
import { isObject, tryParse } from "../../json/object.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import type { ChatProblem } from "./chat.ts";
import type { StoreConnection } from "./connection.ts";
import { EventDecoder } from "./event-bodies.ts";

/** The string fields that each type of event must have. */
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

/** The same check in SQL, which takes a few milliseconds for a long chat. Bodies stored as differences must be decoded. */
const isBroken = [
  `json_extract(body, '$.type') NOT IN (${Object.keys(texts).map((kind) => `'${kind}'`)})`,
  ...Object.entries(texts).flatMap(([kind, fields]) =>
    fields.map((field) => `kind = '${kind}' AND json_type(body, '$.${field}') IS NOT 'text'`),
  ),
].join(" OR ");

/** Reports unreadable chat metadata: the title, the mode and the model. */
export function metaProblems(meta: object, isOurs: boolean): ChatProblem[] {
  if (!isOurs || "latestRootBlobId" in meta) return [];
  return [{ code: "STORE_CORRUPT", message: "The title, the mode and the model of this chat are no longer readable." }];
}

/** Finds stored events that are damaged. Throws SQLite's error if the events cannot be read at all. */
export function eventProblems(store: StoreConnection): ChatProblem[] {
  const rows = store.rows(
    `SELECT sequence FROM courser_events WHERE NOT json_valid(body) OR (body NOT LIKE '[%' AND (${isBroken})) ORDER BY sequence`,
  );
  const decoder = new EventDecoder(store);
  const differences = store.rows("SELECT sequence, body FROM courser_events WHERE body LIKE '[%' ORDER BY sequence");
  const undecoded = differences.filter(([sequence, body]) => !eventIn(decoder.decode(Number(sequence), body)));
  const sequences = [...rows, ...undecoded].map(([sequence]) => Number(sequence));
  return [...unreadable([...new Set(sequences)].sort((one, other) => one - other)), ...missingEvents(store)];
}

/**
 * Reports missing events. Unless the chat was rewound, their numbers have no gaps, and a shortened conversation names
 * the messages it replaces.
 */
export function missingEvents(store: StoreConnection): ChatProblem[] {
  const [[numbers, views] = []] = store.rows(
    `SELECT (SELECT max(sequence) - count(*) FROM courser_events
        WHERE NOT EXISTS (SELECT 1 FROM courser_state WHERE key = '.rewinds')),
      EXISTS (SELECT 1 FROM courser_views WHERE length(hash) < 16 OR typeof(hash) <> 'text')`,
  );
  if (!numbers && !views) return [];
  return [{ code: "STORE_CORRUPT", message: "Some events of this chat are missing, so parts of it are not shown." }];
}

export function unreadable(sequences: readonly number[]): ChatProblem[] {
  if (sequences.length === 0) return [];
  const more = sequences.length > 5 ? ", …" : "";
  const message = `Some events of this chat are no longer readable: ${sequences.slice(0, 5).join(", ")}${more}.`;
  return [{ code: "STORE_CORRUPT", message }];
}
