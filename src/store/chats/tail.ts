// Reads the end of a chat that Courser left in order: the model's messages are read, everything before is only checked.
import { tryOr } from "../../text/try-or.ts";
import type { StoredMessage } from "./chat.ts";
import type { StoreConnection } from "./connection.ts";
import { assemble, type BlobMap, ownState, readRows } from "./history.ts";
import { type RootBuilder, referenceDigits, rootOfDigits } from "./root.ts";
import { hasherFor } from "./sha256.ts";

export type Tail = {
  messages: StoredMessage[];
  root: RootBuilder;
  turn: number;
  lastSequence: number;
  lastNumber: number;
};

/**
 * Returns the messages after `after`, and always the last. Returns undefined if anything is unusual: a missing or altered blob,
 * another order, a later change by another program. The caller then reads the whole history.
 */
export function readTail(store: StoreConnection, rootId: string | undefined, after: number): Tail | undefined {
  if (rootId === undefined || ownState(store, ".root") !== rootId) return undefined;
  const rows = readRows(store, after);
  // If SQLite cannot concatenate the blobs because of their size, or the store is damaged, the caller reads the whole history.
  const checked = tryOr(() => checkBlobs(store, new Set([rootId, ...rows.map(({ blob }) => blob)])), undefined);
  if (!checked || checked.order !== orderOf(store)) return undefined;
  const root = rootOfDigits(checked.order);
  const node = checked.wanted.get(rootId);
  if (!(node instanceof Uint8Array) || !root.was(node)) return undefined;
  const { messages, lastNumber } = assemble(rows, checked.wanted);
  const last = rows.at(-1);
  if (last && lastNumber === 0) return undefined;
  return { messages, root, turn: last?.turn ?? 0, lastSequence: last?.sequence ?? 0, lastNumber };
}

/** Reads in batches, because there may be many images. Concatenated by SQLite, since one row per blob takes twice as long. */
const nextBlobs = `
  SELECT max(row), group_concat(id, ''), CAST(group_concat(CAST(data AS TEXT), '') AS BLOB), group_concat(length(data))
  FROM (SELECT rowid AS row, id, data FROM blobs WHERE rowid > ? ORDER BY rowid LIMIT 256)`;

/** Checks every blob against its id. `order` lists the messages in table order; `wanted` has the contents of `ids`. */
function checkBlobs(store: StoreConnection, ids: ReadonlySet<string>): { order: string; wanted: BlobMap } | undefined {
  const wanted: BlobMap = new Map();
  const order: string[] = [];
  for (let row = 0; ; ) {
    const [last, expected, data, lengths] = store.rows(nextBlobs, row)[0] ?? [];
    if (typeof last !== "number") break;
    if (!(data instanceof Uint8Array)) return undefined;
    const hash = hasherFor(data.length);
    let end = 0;
    const found = String(lengths)
      .split(",", 256)
      .map((length) => {
        const content = data.subarray(end, (end += Number(length)));
        const id = hash(content);
        const isMessage = content[0] === firstOfMessage;
        if (isMessage) order.push(id);
        if (ids.has(id)) wanted.set(id, isMessage ? Buffer.from(content).toString() : content);
        return id;
      });
    if (found.join("") !== expected) return undefined;
    row = last;
  }
  return { order: order.join(referenceDigits), wanted };
}

const firstOfMessage = "{".charCodeAt(0);

/** Returns the message ids in the order of our own table. */
function orderOf(store: StoreConnection): string {
  const ids = store.rows(
    `SELECT group_concat(blob, '${referenceDigits}') FROM (SELECT blob FROM courser_messages ORDER BY sequence)`,
  );
  return String(ids[0]?.[0] ?? "");
}
