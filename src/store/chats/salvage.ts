// Salvages a store that SQLite refuses to open: copies the rows in its pages into a new store in memory.
import { existsSync } from "node:fs";
import { tryParse } from "../../json/object.ts";
import { readDatabaseFile, type SqlValue } from "../sqlite.ts";
import { newStore, type StoreConnection } from "./connection.ts";
import { type DatabasePages, leafRows, pagesOf, type SalvagedRow } from "./database-pages.ts";
import { addAllTables } from "./tables.ts";

/** Recovers the rows of a damaged store and passes a store of them to `read`. Returns undefined if there are none. */
export function salvage<T>(file: string, read: (store: StoreConnection) => T): T | undefined {
  const log = `${file}-wal`;
  const pages = pagesOf(readDatabaseFile(file), existsSync(log) ? readDatabaseFile(log) : undefined);
  const store = newStore();
  try {
    addAllTables(store);
    return insertRows(store, pages) > 0 ? read(store) : undefined;
  } finally {
    store.close();
  }
}

/** Inserts the rows, and returns the number of blobs and events among them. */
function insertRows(store: StoreConnection, pages: DatabasePages): number {
  store.exec("BEGIN");
  let found = 0;
  let hasMeta = false;
  for (const row of leafRows(pages)) {
    const table = tables.find(({ fits }) => fits(row));
    if (!table) continue;
    const { name, columns } = table;
    const values = columns.startsWith("sequence") ? [row.number, ...row.values.slice(1)] : row.values;
    if (columns.startsWith("rowid")) values.unshift(row.number);
    const marks = values.map(() => "?").join(", ");
    store.statement(`INSERT OR REPLACE INTO chat.${name} (${columns}) VALUES (${marks})`).run(...values);
    if (table.name === "blobs" || table.name === "courser_events") found++;
    hasMeta ||= table.name === "meta";
  }
  if (!hasMeta) restoreMeta(store);
  store.exec("COMMIT");
  return found;
}

/** Courser's own table also names the root of the conversation. */
function restoreMeta(store: StoreConnection): void {
  const root = store.statement("SELECT value FROM courser_state WHERE key = '.root'").get()?.["value"];
  const meta = JSON.stringify({ latestRootBlobId: tryParse(String(root)) });
  store.statement("INSERT INTO chat.meta VALUES ('0', ?)").run(Buffer.from(meta).toString("hex"));
}

type KnownTable = {
  name: string;
  /** The columns as in SQL. `sequence` and `rowid` get the number of the row; `rowid` only where nothing better gives the order. */
  columns: string;
  fits(row: SalvagedRow): boolean;
};

const isText = (value: SqlValue | undefined): value is string => typeof value === "string";
const isNumber = (value: SqlValue | undefined) => typeof value === "number";
const isHash = (value: SqlValue | undefined) => isText(value) && /^[0-9a-f]{64}$/.test(value);

/** A page does not name its table, but the rows of each table have a distinct shape. */
const tables: readonly KnownTable[] = [
  {
    name: "blobs",
    columns: "rowid, id, data",
    fits: ({ values: [id, data], values }) =>
      values.length === 2 && isHash(id) && (isText(data) || data instanceof Uint8Array),
  },
  {
    name: "meta",
    columns: "key, value",
    fits: ({ values: [key, value], values }) => values.length === 2 && key === "0" && isText(value),
  },
  {
    name: "courser_messages",
    columns: "sequence, turn, at, blob",
    fits: ({ values: [first, turn, , blob], values }) =>
      values.length === 4 && first === null && isNumber(turn) && isHash(blob),
  },
  {
    name: "courser_events",
    columns: "sequence, turn, at, kind, body",
    fits: ({ values: [first, turn, at, kind, body], values }) =>
      values.length === 5 && first === null && isNumber(turn) && isNumber(at) && !isHash(kind) && isText(body),
  },
  {
    name: "courser_views",
    columns: "sequence, turn, after, hash, body",
    fits: ({ values: [first, turn, after, hash, body], values }) =>
      values.length === 5 && first === null && isNumber(turn) && isNumber(after) && isHash(hash) && isText(body),
  },
  {
    name: "courser_state",
    columns: "key, turn, value",
    fits: ({ values: [key, turn, value], values }) =>
      values.length === 3 && isText(key) && isNumber(turn) && isText(value),
  },
];
