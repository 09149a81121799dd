// The tables of a store: those that every reader knows, and Courser's own; and the creation of an empty store.
import { openDatabase } from "../sqlite.ts";
import type { StoreConnection } from "./connection.ts";

const knownTables = `
CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);`;

/**
 * courser_messages: a row for each blob of the conversation, in order; a message may have several.
 * courser_state: values by turn, so that a rewind restores the values of that turn. Keys with a dot are the store's own.
 * courser_views: what the model is sent in place of the messages up to `after`; `hash` covers the body.
 */
const ownTables = `
CREATE TABLE IF NOT EXISTS courser_messages (sequence INTEGER PRIMARY KEY, turn INTEGER, at INTEGER, blob TEXT);
CREATE TABLE IF NOT EXISTS courser_events (sequence INTEGER PRIMARY KEY, turn INTEGER, at INTEGER, kind TEXT, body TEXT);
CREATE TABLE IF NOT EXISTS courser_state (key TEXT, turn INTEGER, value TEXT, PRIMARY KEY (key, turn)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS courser_views (sequence INTEGER PRIMARY KEY, turn INTEGER, after INTEGER, hash TEXT, body TEXT);`;

/** The page size in bytes. Most rows are small; larger ones waste half a page on average, and an empty table takes a whole page. */
const pageSize = 1024;
/** The number of pages after which the log is checkpointed into the store. */
export const longestLog = 2000;

/** Adds Courser's tables to a store that another program made. */
export function addOwnTables(store: StoreConnection): void {
  store.exec(ownTables.replaceAll("NOT EXISTS ", "NOT EXISTS chat."));
}

/** Creates all tables in an empty store. */
export function addAllTables(store: StoreConnection): void {
  store.exec(knownTables.replaceAll("CREATE TABLE ", "CREATE TABLE chat."));
  addOwnTables(store);
}

/**
 * Creates every table in an empty file. Switches to a write-ahead log before the file is visible to others, since two processes
 * that switch at once would lock each other out. `rows` is SQL with inline values, because a prepared statement would keep the
 * file open under its first name.
 */
export function fillNewStore(file: string, rows: string): void {
  const database = openDatabase(file);
  try {
    database.exec(`PRAGMA page_size = ${pageSize}; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY`);
    database.exec(`BEGIN; ${knownTables} ${ownTables} ${rows}; COMMIT; PRAGMA journal_mode = WAL`);
  } finally {
    database.close();
  }
}

/** Quotes a text as a string literal for SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
