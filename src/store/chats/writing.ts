// Making a chat, and opening one to go on with it. One writer for a chat, in all processes.
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { storeError } from "../sqlite.ts";
import type { ChatFacts, ChatWriter } from "./chat.ts";
import { openStore, type StoreConnection } from "./connection.ts";
import { checkStore, failureOf, notWhole } from "./damage.ts";
import { factsOf } from "./facts.ts";
import { type History, hasOwnTables, modelView, ownState, readHistory, readMeta, type StoreMeta } from "./history.ts";
import { findCut, owedEvents, owedResults, withEveryResult } from "./interrupted.ts";
import { chatFolder, chatsDir, storeFile } from "./layout.ts";
import { makeFolder } from "./private-files.ts";
import { emptyRoot } from "./root.ts";
import { addOwnTables, makeStore, quoted } from "./tables.ts";
import { metaText, Writer } from "./writer.ts";
import { type Holder, takeWriterLock } from "./writer-lock.ts";

/** `workspace`: its real path. */
export type ChatPlace = { configDir: string; workspace: string };

export type NewChat = {
  id: string;
  /** `auto-run` where everything is allowed, else `default`. */
  mode: string;
  model?: string;
  title?: string;
};

export function createChat(place: ChatPlace, { id, mode, model, title }: NewChat): ChatWriter {
  const folder = chatFolder(place.configDir, place.workspace, id);
  const now = Date.now();
  const facts: ChatFacts = {
    id,
    folder,
    workspace: place.workspace,
    title: title ?? "New Agent",
    mode,
    createdAt: now,
    updatedAt: now,
    ...(model !== undefined && { model }),
    hasConversation: false,
  };
  try {
    for (const path of [place.configDir, chatsDir(place.configDir), dirname(folder)]) checkWritable(path);
    makeFolder(folder);
    const lock = takeWriterLock(folder);
    try {
      if (existsSync(storeFile(folder)))
        throw new UserError("USAGE", `There is a chat with the id ${id} already. Go on with it: --resume ${id}`);
      makeStore(folder, firstRows(facts));
      return new Writer({
        store: openForWriting(folder),
        lock,
        facts,
        meta: {},
        messages: [],
        blobs: [],
        root: emptyRoot.id,
        turn: 0,
        lastSequence: 0,
        lastNumber: 0,
        lastEvent: 0,
      });
    } catch (error) {
      lock.free();
      throw error;
    }
  } catch (error) {
    throw storeError(error, folder);
  }
}

/** Opens a chat of ours, or one that the original wrote. What an earlier run left unfinished is marked first. */
export function openChat(folder: string, changes: { mode?: string; model?: string } = {}): ChatWriter {
  checkStore(folder);
  checkWritable(folder);
  checkWritable(storeFile(folder));
  const lock = takeWriterLock(folder);
  let store: StoreConnection | undefined;
  try {
    store = openForWriting(folder);
    const meta = readMeta(store);
    const history = readHistory(store, meta);
    if (history.problems.length > 0) throw notWhole(folder, history.problems, history.wholeTurns);
    if (!history.isOurs) takeOver(store, history, meta);
    const wasCutOff = ownState(store, ".writer") !== undefined;
    setOwnState(store, ".writer", holder());

    const cut = findCut(store);
    const previousRoot = ownState(store, ".previous_root");
    const messages = modelView(store, history.messages);
    const writer = new Writer({
      store,
      lock,
      facts: { ...factsOf(store, folder, meta), ...changes },
      meta,
      messages: withEveryResult(messages),
      blobs: history.rows.map((row) => row.blob),
      root: meta.latestRootBlobId ?? "",
      ...(typeof previousRoot === "string" && { previousRoot }),
      turn: lastTurn(store, history),
      lastSequence: history.rows.at(-1)?.sequence ?? 0,
      lastNumber: history.rows.reduce((most, row) => Math.max(most, row.number), 0),
      lastEvent: lastEvent(store),
    });
    const results = owedResults(messages, cut);
    if (cut || results) writer.mend(cut?.turn ?? writer.turn, cut ? owedEvents(cut) : [], results);
    if (wasCutOff || !history.isOurs) writer.rewriteTranscript(history.messages);
    return writer;
  } catch (error) {
    store?.close();
    lock.free();
    throw failureOf(error, folder);
  }
}

function openForWriting(folder: string): StoreConnection {
  const store = openStore(storeFile(folder), "write");
  store.exec("PRAGMA chat.synchronous = NORMAL");
  return store;
}

/** Also for root, who could: whoever takes the owner's right to write away does not want it written. */
function checkWritable(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat || process.platform === "win32" || (stat.mode & 0o222) !== 0) return;
  throw storeError({ code: "EACCES" }, path);
}

function firstRows(facts: ChatFacts): string {
  const state = { ".root": emptyRoot.id, ".workspace": facts.workspace, ".writer": holder() };
  const rows = Object.entries(state).map(([key, value]) => `(${quoted(key)}, 0, ${quoted(JSON.stringify(value))})`);
  return `
    INSERT INTO blobs VALUES (${quoted(emptyRoot.id)}, x'${emptyRoot.data.toString("hex")}');
    INSERT INTO courser_state VALUES ${rows.join(", ")};
    INSERT INTO meta VALUES ('0', ${quoted(metaText({}, facts, emptyRoot.id))})`;
}

/** Makes a store that somebody else wrote, or wrote to, one of ours. Their blobs stay as they are. */
function takeOver(store: StoreConnection, history: History, meta: StoreMeta): void {
  if (!hasOwnTables(store)) store.exec("PRAGMA chat.journal_mode = WAL");
  store.exec("BEGIN IMMEDIATE");
  addOwnTables(store);
  store.exec("DELETE FROM courser_messages");
  const insert = store.statement(
    "INSERT INTO courser_messages (sequence, turn, number, at, blob) VALUES (?, ?, ?, ?, ?)",
  );
  for (const { sequence, turn, number, at, blob } of history.rows) insert.run(sequence, turn, number, at ?? null, blob);
  setOwnState(store, ".root", meta.latestRootBlobId);
  store.exec("COMMIT");
}

function setOwnState(store: StoreConnection, key: string, value: unknown): void {
  store
    .statement("INSERT OR REPLACE INTO courser_state (key, turn, value) VALUES (?, ?, ?)")
    .run(key, 0, JSON.stringify(value ?? null));
}

function holder(): Holder {
  return { pid: process.pid, since: Date.now() };
}

function lastTurn(store: StoreConnection, history: History): number {
  const row = store.statement("SELECT max(turn) AS last FROM courser_events WHERE kind = 'user'").get();
  return Math.max(Number(row?.["last"] ?? 0), history.rows.at(-1)?.turn ?? 0);
}

function lastEvent(store: StoreConnection): number {
  return Number(store.statement("SELECT max(sequence) AS last FROM courser_events").get()?.["last"] ?? 0);
}
