// Reads the history of a chat from its store: every message in order, and which parts are missing or altered.

import { isObject, tryParse } from "../../json/object.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import { isPrompt, type Message } from "../../protocol/message.ts";
import { type BlobMessage, belongTogether, decodeMessage, messageNumber, parseBlob } from "./blobs.ts";
import type { ChatProblem, StoredEvent, StoredMessage } from "./chat.ts";
import type { StoreConnection } from "./connection.ts";
import { EventDecoder } from "./event-bodies.ts";
import { readRoot } from "./root.ts";
import { hasherFor, sha256 } from "./sha256.ts";

/** The chat's metadata as stored in row `0` of the table `meta`. */
export type StoreMeta = {
  agentId?: string;
  latestRootBlobId?: string;
  name?: string;
  mode?: string;
  createdAt?: number;
  lastUsedModel?: string;
};

/** A blob with its position in the conversation. */
export type HistoryRow = { sequence: number; turn: number; at?: number; blob: string };

export type History = {
  messages: StoredMessage[];
  rows: HistoryRow[];
  problems: ChatProblem[];
  wholeTurns: number;
  /** The highest number of a message that our program wrote. */
  lastNumber: number;
  /** Whether the order of messages comes from our own table. If another program wrote last, it comes from the root. */
  isOurs: boolean;
};

export function readMeta(store: StoreConnection): StoreMeta {
  const tables = store
    .statement("SELECT count(*) AS found FROM chat.sqlite_master WHERE name IN ('blobs', 'meta')")
    .get();
  // Report the error as SQLite does for a file that is not a database (code 26).
  if (tables?.["found"] !== 2) throw Object.assign(new Error("it has no tables of a chat"), { errcode: 26 });
  const value = store.statement("SELECT value FROM meta WHERE key = '0'").get()?.["value"];
  const text = typeof value === "string" ? value : value instanceof Uint8Array ? Buffer.from(value).toString() : "";
  // The original CLI stores the metadata as hexadecimal digits; some other programs store plain JSON.
  const json = text.startsWith("{") ? text : Buffer.from(text, "hex").toString("utf8");
  const parsed = tryParse(json);
  return isObject(parsed) ? parsed : {};
}

export function hasOwnTables(store: StoreConnection): boolean {
  const found = store
    .statement("SELECT 1 FROM chat.sqlite_master WHERE name IN ('courser_messages', 'courser_events')")
    .get();
  return found !== undefined;
}

export function ownState(store: StoreConnection, key: string): unknown {
  const row = store.statement("SELECT value FROM courser_state WHERE key = ? ORDER BY turn DESC LIMIT 1").get(key);
  return row === undefined ? undefined : parseStored(row["value"]);
}

export function setOwnState(store: StoreConnection, key: string, value: unknown, turn = 0): void {
  store
    .statement("INSERT OR REPLACE INTO courser_state (key, turn, value) VALUES (?, ?, ?)")
    .run(key, turn, JSON.stringify(value ?? null));
}

export function eventsFrom(store: StoreConnection, from: number, most: number): StoredEvent[] {
  const rows = store
    .statement("SELECT sequence, turn, at, body FROM courser_events WHERE sequence >= ? ORDER BY sequence LIMIT ?")
    .all(from, most);
  const decoder = new EventDecoder(store);
  return rows.map(({ sequence, turn, at, body }) => ({
    sequence: Number(sequence),
    turn: Number(turn),
    at: Number(at),
    event: parseStored(decoder.decode(Number(sequence), body)) as AgentEvent,
  }));
}

/** Parses JSON that was valid when it was stored. Throws with SQLite's code for a damaged database, since that is the cause. */
export function parseStored(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    throw Object.assign(new Error("a value in it is no longer readable"), { errcode: 11 });
  }
}

export function readHistory(store: StoreConnection, meta = readMeta(store)): History {
  const { blobs, altered } = readBlobs(store);
  const problems: ChatProblem[] = [];
  const hasTables = hasOwnTables(store);
  const ours = hasTables ? readRows(store) : [];
  const root = meta.latestRootBlobId;
  const isOurs = hasTables && ownState(store, ".root") === root;
  const { ids, problem } = walkRoot(root, blobs, altered);
  if (problem) problems.push(problem);
  // Courser's rows may be ahead of the root, but must start with it.
  const isInOrder = problem !== undefined || ids.every((id, index) => ours[index]?.blob === id);
  if (isOurs && !isInOrder) problems.push(disorderProblem(root));
  const alteredOthers = [...altered].filter((id) => id !== root);
  if (alteredOthers.length > 0) problems.push(alteredBlobs(alteredOthers));
  const rows = isOurs && isInOrder ? ours : orderRows(ids, ours);
  const missing = rows.filter(({ blob }) => !blobs.has(blob) && !altered.has(blob)).map((row) => row.blob);
  if (missing.length > 0) problems.push(missingBlobs(missing, "a part of the conversation"));
  return { ...assemble(rows, blobs), problems, isOurs };
}

/** A compacted conversation that replaces everything up to the message `after`. */
export type ModelView = { after: number; messages: Message[] };

/** The model's view of a chat that was never compacted. */
export const noView: ModelView = { after: 0, messages: [] };

/** Reads the newest view. An altered view is ignored, because the history behind it is complete. */
export function readView(store: StoreConnection): ModelView {
  const view = store.statement("SELECT after, hash, body FROM courser_views ORDER BY sequence DESC LIMIT 1").get();
  const body = String(view?.["body"]);
  if (view === undefined || sha256(body) !== view["hash"]) return noView;
  return { after: Number(view["after"]), messages: parseStored(body) as Message[] };
}

/** Returns the model's conversation: the compacted part and the messages since. */
export function modelView({ after, messages: shortened }: ModelView, messages: readonly StoredMessage[]): Message[] {
  const since = messages.filter(({ sequence }) => sequence > after).map(({ message }) => message);
  return [...shortened, ...since];
}

/** Blobs by id, in table order: messages as text, and nodes as bytes. */
export type BlobMap = Map<string, string | Uint8Array>;

const everyBlob =
  "SELECT id, CASE WHEN hex(substr(data, 1, 1)) = '7B' THEN CAST(data AS TEXT) ELSE data END FROM blobs ORDER BY rowid";

function readBlobs(store: StoreConnection): { blobs: BlobMap; altered: Set<string> } {
  const rows = store.rows(everyBlob) as [id: string, data: unknown][];
  let bytes = 0;
  for (const [, data] of rows) bytes += (data as Partial<Uint8Array> | null)?.length ?? 0;
  const hash = hasherFor(bytes);
  const blobs: BlobMap = new Map();
  const altered = new Set<string>();
  for (const [id, data] of rows) {
    const isContent = typeof data === "string" || data instanceof Uint8Array;
    if (isContent && hash(data) === id) blobs.set(id, data);
    else altered.add(id);
  }
  return { blobs, altered };
}

/** Returns the rows after `after`, and always the last one. */
export function readRows(store: StoreConnection, after = 0): HistoryRow[] {
  const found = store.rows(
    "SELECT sequence, turn, at, blob FROM courser_messages WHERE sequence > min(?, (SELECT max(sequence) - 1 FROM courser_messages)) ORDER BY sequence",
    after,
  );
  return (found as [number, number, number | null, string][]).map(([sequence, turn, at, blob]) =>
    at === null ? { sequence, turn, blob } : { sequence, turn, at, blob },
  );
}

/** Returns the ids named by the root; if it is lost, those of the best other root; without any, every message in table order. */
function walkRoot(
  root: string | undefined,
  blobs: BlobMap,
  altered: ReadonlySet<string>,
): { ids: string[]; problem?: ChatProblem } {
  const node = root === undefined ? undefined : blobs.get(root);
  const named = node instanceof Uint8Array ? readRoot(node) : undefined;
  if (named) return { ids: named };
  const older = bestRoot(blobs);
  const ids =
    older?.ids ?? [...blobs].filter(([, data]) => typeof data === "string" && parseBlob(data)).map(([id]) => id);
  if (root === undefined) return { ids };
  const offer = older
    ? `The last complete root, ${older.id}, names ${count(older.ids, "blob")}.`
    : "There is no older root.";
  const problem = altered.has(root) ? alteredBlobs([root]) : missingBlobs([root], "the order of the conversation");
  return { ids, problem: { ...problem, message: `${problem.message} ${offer}` } };
}

function bestRoot(blobs: BlobMap): { id: string; ids: string[] } | undefined {
  let best: { id: string; ids: string[] } | undefined;
  for (const [id, data] of blobs) {
    if (typeof data === "string" || data[0] !== 0x0a) continue;
    const ids = readRoot(data);
    // If two roots are equally long, the later one has the newer messages.
    if (ids && ids.length >= (best?.ids.length ?? 1) && ids.every((each) => blobs.has(each))) best = { id, ids };
  }
  return best;
}

/** Builds rows for the blobs that the root names; those known to Courser keep their turn and time. */
function orderRows(order: readonly string[], ours: readonly HistoryRow[]): HistoryRow[] {
  const known = new Map(ours.map((row) => [row.blob, row]));
  return order.map((blob, index) => {
    const { turn = unknownTurn, at } = known.get(blob) ?? {};
    return { sequence: index + 1, turn, ...(at !== undefined && { at }), blob };
  });
}

const unknownTurn = -1;

/** Assembles blobs into messages. A prompt of another program starts a turn. The complete turns end before the first missing blob. */
export function assemble(
  rows: HistoryRow[],
  blobs: BlobMap,
): Pick<History, "messages" | "rows" | "wholeTurns" | "lastNumber"> {
  const messages: StoredMessage[] = [];
  let turn = 0;
  let lastNumber = 0;
  let wholeTurns: number | undefined;
  let group: { rows: HistoryRow[]; blobs: BlobMessage[] } | undefined;
  const endMessage = () => {
    if (!group) return;
    const message = decodeMessage(group.blobs);
    const { sequence, at, turn: known } = group.rows[0]!;
    turn = known === unknownTurn && message && isPrompt(message) ? turn + 1 : Math.max(turn, known);
    for (const row of group.rows) row.turn = turn;
    if (message) messages.push(at === undefined ? { sequence, turn, message } : { sequence, turn, at, message });
    group = undefined;
  };
  for (const row of rows) {
    const data = blobs.get(row.blob);
    const blob = typeof data === "string" ? parseBlob(data) : undefined;
    if (group && blob && belongTogether(group.blobs.at(-1)!, blob)) {
      group.rows.push(row);
      group.blobs.push(blob);
      continue;
    }
    endMessage();
    if (blob) {
      group = { rows: [row], blobs: [blob] };
      lastNumber = Math.max(lastNumber, messageNumber(blob));
      continue;
    }
    row.turn = Math.max(turn, row.turn);
    if (data === undefined) wholeTurns ??= Math.max(0, row.turn - 1);
  }
  endMessage();
  return { messages, rows, wholeTurns: wholeTurns ?? turn, lastNumber };
}

function alteredBlobs(blobs: string[]): ChatProblem {
  return {
    code: "STORE_BLOB_HASH",
    message: `${count(blobs, "blob")} of this chat ${blobs.length === 1 ? "was" : "were"} altered, the content no longer fits the id: ${listIds(blobs)}.`,
    blobs,
  };
}

function missingBlobs(blobs: string[], what: string): ChatProblem {
  const message = `${count(blobs, "blob")} with ${what} ${blobs.length === 1 ? "is" : "are"} missing: ${listIds(blobs)}.`;
  return { code: "STORE_MISSING_BLOB", message, blobs };
}

function disorderProblem(root: string | undefined): ChatProblem {
  return { code: "STORE_CORRUPT", message: `The order of the conversation no longer fits the root ${root}.` };
}

function count(list: readonly unknown[], noun: string): string {
  return list.length === 1 ? `1 ${noun}` : `${list.length} ${noun}s`;
}

function listIds(ids: readonly string[]): string {
  return ids.length > 5 ? `${ids.slice(0, 5).join(", ")}, …` : ids.join(", ");
}
