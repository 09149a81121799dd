// The tables of a store: those that every reader knows, and ours beside them; how an empty store comes to be.
import { openDatabase } from "../sqlite.ts";
import type { StoreConnection } from "./connection.ts";

const knownTables = `
CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);`;

/**
 * courser_messages: a row for each blob of the conversation, in order; a message may have several.
 * courser_state: values by turn, so that going back to a turn brings back what held then. Keys with a dot are the store's own.
 * courser_views: what the model is told in place of the messages up to `after`; `hash`: of the body.
 */
const ownTables = `
CREATE TABLE IF NOT EXISTS courser_messages (sequence INTEGER PRIMARY KEY, turn INTEGER, at INTEGER, blob TEXT);
CREATE TABLE IF NOT EXISTS courser_events (sequence INTEGER PRIMARY KEY, turn INTEGER, at INTEGER, kind TEXT, body TEXT);
CREATE TABLE IF NOT EXISTS courser_state (key TEXT, turn INTEGER, value TEXT, PRIMARY KEY (key, turn)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS courser_views (sequence INTEGER PRIMARY KEY, turn INTEGER, after INTEGER, hash TEXT, body TEXT);`;

/** In bytes. Most rows are small, and of larger ones half a page is lost on average; an empty table takes a whole one. */
const pageSize = 1024;
/** A log of so many pages is written to the store. */
export const longestLog = 2000;

/** For a store that somebody else made. */
export function addOwnTables(store: StoreConnection): void {
  store.exec(ownTables.replaceAll("NOT EXISTS ", "NOT EXISTS chat."));
}

/** Every table, in a store that has none. */
export function addAllTables(store: StoreConnection): void {
  store.exec(knownTables.replaceAll("CREATE TABLE ", "CREATE TABLE chat."));
  addOwnTables(store);
}

/**
 * Every table in an empty file. Switching to a write-ahead log happens before anybody else can see the file; two processes
 * that do it together would lock each other out.
 * `rows`: SQL with all values in it, because a prepared statement would keep the file open under its first name.
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

/** A text inside SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
