// The search index: a separate database that can be deleted at any time. Stale entries are read again.
import { existsSync, statSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { type ErrorCode, UserError } from "../../protocol/error-codes.ts";
import { type IndexTables, inMemory, openIndex, removeDatabase, runInTransaction } from "../index-database.ts";
import { type Database, storeError } from "../sqlite.ts";
import type { ChatMetadata } from "./chat.ts";
import { idsIn, isChat, metadataAtAGlance, projects } from "./list-chats.ts";
import { type SearchText, searchTextOf } from "./search-text.ts";

export type IndexWatch = {
  /** Called with the number of chats read so far, and the number to read. */
  onProgress?(done: number, total: number): void;
  /** Called with a message for the user if the search works, but with limits. */
  onNotice?(notice: string): void;
};

const tables: IndexTables = {
  version: 1,
  names: ["chats", "texts"],
  // Do not sync: chats whose entries are lost in a crash are simply indexed again.
  settings: "PRAGMA synchronous = OFF; PRAGMA secure_delete = ON",
  create: `
CREATE TABLE chats (row INTEGER PRIMARY KEY, place TEXT UNIQUE, stamp TEXT, facts TEXT);
CREATE VIRTUAL TABLE texts USING fts5(title, body, parts, tokenize = "unicode61 remove_diacritics 2");
INSERT INTO texts (texts, rank) VALUES ('secure-delete', 1);`,
};

/** Removes a deleted chat's words from the index, down to the bytes. */
export function forgetChat(configDir: string, chatPath: string): void {
  const file = indexFile(configDir);
  if (!existsSync(file)) return;
  try {
    const database = openIndex(file, tables);
    try {
      runInTransaction(database, () => remove(database, [chatPath]));
    } finally {
      database.close();
    }
  } catch {
    // Delete an index that cannot be changed, since it can be rebuilt.
    removeDatabase(file);
  }
}

export function indexFile(configDir: string): string {
  return join(configDir, "courser", "search.db");
}

/** Updates the index and passes it to `work`. If it cannot be stored on disk, builds a temporary one in memory. */
export function withIndex<T>(configDir: string, watch: IndexWatch, work: (database: Database) => T): T {
  const file = indexFile(configDir);
  const use = (path: string): T => {
    const database = openRefreshedIndex(path, configDir, watch);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  try {
    return use(file);
  } catch (error) {
    if (storeError(error, file).code !== "STORE_CORRUPT") throw error;
    removeDatabase(file);
    return use(file);
  }
}

function openRefreshedIndex(path: string, configDir: string, watch: IndexWatch): Database {
  let database: Database | undefined;
  try {
    database = openIndex(path, tables);
    refresh(database, configDir, watch);
    return database;
  } catch (error) {
    database?.close();
    const failure = storeError(error, path);
    if (path === inMemory || !notKept.includes(failure.code)) throw error;
    const why = failure.cause instanceof Error ? failure.cause.message : failure.message;
    watch.onNotice?.(`The index ${path} cannot be kept (${why}), so every chat is read for this search.`);
    return openRefreshedIndex(inMemory, configDir, watch);
  }
}

const notKept: ErrorCode[] = ["STORE_READONLY", "STORE_FULL", "STORE_IO", "STORE_LOCKED", "STORE_FAILED"];

type StaleChat = { chatPath: string; folder: string; stamp: string };

function refresh(database: Database, configDir: string, watch: IndexWatch): void {
  const indexedStamps = knownStamps(database);
  const stale: StaleChat[] = [];
  for (const project of projects(configDir)) {
    const name = basename(project);
    for (const id of idsIn(project, watch.onNotice)) {
      // Relative to the configuration directory, which may be moved as a whole.
      const chatPath = `${name}/${id}`;
      const folder = `${project}${sep}${id}`;
      const stat = statSync(folder, ifThere);
      if (!stat?.isDirectory() || indexedStamps.delete(`${chatPath} ${stat.mtimeMs}`)) continue;
      const stamp = chatStamp(folder, stat.mtimeMs);
      if (!indexedStamps.delete(`${chatPath} ${stamp}`)) stale.push({ chatPath, folder, stamp });
    }
  }
  // This also removes the entries of chats that are indexed again.
  if (indexedStamps.size > 0) runInTransaction(database, () => remove(database, Array.from(indexedStamps, chatPathIn)));
  index(database, stale, watch);
}

/** Returns the path of each indexed chat and its change stamp as one text, since thousands are compared before every search. */
function knownStamps(database: Database): Set<string> {
  const text = database.prepare("SELECT group_concat(place || ' ' || stamp, char(10)) AS text FROM chats").get()?.[
    "text"
  ];
  return new Set(typeof text === "string" ? text.split("\n") : []);
}

/** Cuts after the id, since the project name before it may be anything. */
function chatPathIn(text: string): string {
  return text.slice(0, text.indexOf("/") + 1 + idLength);
}

const idLength = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx".length;
const ifThere = { throwIfNoEntry: false } as const;

/**
 * Returns a stamp that changes whenever the chat does. An idle chat takes one stat call: files come and go in its folder when it
 * is opened, when a turn starts or ends, and when it is closed. A log next to the store means an active or interrupted run: then
 * the log counts too.
 */
function chatStamp(folder: string, atRest: number): string {
  const log = statSync(`${folder}${sep}store.db-wal`, ifThere);
  return log ? `${atRest} ${log.mtimeMs} ${log.size}` : String(atRest);
}

/** How many chats are indexed per transaction. Reading happens outside, so that other processes wait only briefly. */
const maxChats = 200;
const maxCharacters = 8_000_000;

function index(database: Database, stale: readonly StaleChat[], { onProgress }: IndexWatch): void {
  let first = 0;
  let read: IndexedChat[] = [];
  let characters = 0;
  for (const [done, chat] of stale.entries()) {
    onProgress?.(done, stale.length);
    // A folder without a store is not a chat: it is being created, or was left behind.
    if (isChat(chat.folder)) read.push({ ...chat, ...readForSearch(chat.folder) });
    characters += read.at(-1)?.text.body.length ?? 0;
    if (read.length < maxChats && characters < maxCharacters && done < stale.length - 1) continue;
    const chatPaths = stale.slice(first, done + 1).map(({ chatPath }) => chatPath);
    runInTransaction(database, () => {
      remove(database, chatPaths);
      insert(database, read);
    });
    first = done + 1;
    read = [];
    characters = 0;
  }
  if (stale.length > 0) onProgress?.(stale.length, stale.length);
}

type IndexedChat = StaleChat & { metadata: ChatMetadata; text: SearchText };

/** Reads a chat for the index. If it cannot be read, its title is still indexed. */
function readForSearch(folder: string): { metadata: ChatMetadata; text: SearchText } {
  try {
    return searchTextOf(folder);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const metadata = metadataAtAGlance(folder);
    return { metadata, text: { title: metadata.title, body: "", parts: "" } };
  }
}

function remove(database: Database, chatPaths: readonly string[]): void {
  const find = database.prepare("SELECT row FROM chats WHERE place = ?");
  const removeText = database.prepare("DELETE FROM texts WHERE rowid = ?");
  const removeChat = database.prepare("DELETE FROM chats WHERE row = ?");
  for (const chatPath of chatPaths) {
    const row = find.get(chatPath)?.["row"];
    if (row === undefined) continue;
    removeText.run(row);
    removeChat.run(row);
  }
}

function insert(database: Database, chats: readonly IndexedChat[]): void {
  const insertChat = database.prepare("INSERT INTO chats (place, stamp, facts) VALUES (?, ?, ?)");
  const insertText = database.prepare("INSERT INTO texts (rowid, title, body, parts) VALUES (?, ?, ?, ?)");
  for (const { chatPath, stamp, metadata, text } of chats) {
    const { lastInsertRowid } = insertChat.run(chatPath, stamp, JSON.stringify(metadata));
    insertText.run(lastInsertRowid, text.title, text.body, text.parts);
  }
}
