// Creates a chat, or opens one to continue it. A chat has one writer at a time across all processes.
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { storeError } from "../sqlite.ts";
import type { ChatMetadata, ChatWriter } from "./chat.ts";
import { openStore, type StoreConnection } from "./connection.ts";
import { checkStore, keptAside, markDamaged, notWhole, storeFailure } from "./damage.ts";
import { eventProblems, metaProblems } from "./event-shapes.ts";
import {
  type History,
  hasOwnTables,
  modelView,
  noView,
  ownState,
  readHistory,
  readMeta,
  readView,
  type StoreMeta,
  setOwnState,
} from "./history.ts";
import { findInterruptedTurn, owedEvents, owedResults, withEveryResult } from "./interrupted.ts";
import { chatFolder, chatsDir, storeFile } from "./layout.ts";
import { metadataOf } from "./metadata.ts";
import { lockNewChat, placeStore } from "./place-store.ts";
import { emptyRoot, RootBuilder, rootFromIds } from "./root.ts";
import { addOwnTables, fillNewStore, longestLog, quoted } from "./tables.ts";
import { readTail } from "./tail.ts";
import { metaText, Writer } from "./writer.ts";
import { lockHolder, takeWriterLock, untilWritable, type WriterLock } from "./writer-lock.ts";

/** The configuration folder and the real path of the workspace. */
export type ChatPaths = { configDir: string; workspace: string };

export type NewChat = {
  id: string;
  /** The mode to record: `auto-run` if everything is allowed, otherwise `default`. */
  mode: string;
  model?: string;
  title?: string;
  /** When the chat was created, if that was in another program. */
  createdAt?: number;
  /** The id of the chat whose agent starts this one. */
  parent?: string;
};

export function createChat(paths: ChatPaths, { id, mode, model, title, createdAt, parent }: NewChat): ChatWriter {
  const folder = chatFolder(paths.configDir, paths.workspace, id);
  const now = Date.now();
  const metadata: ChatMetadata = {
    id,
    folder,
    workspace: paths.workspace,
    title: title ?? "New Agent",
    mode,
    createdAt: createdAt ?? now,
    updatedAt: now,
    ...(model !== undefined && { model }),
    hasConversation: false,
    ...(parent !== undefined && { parent }),
  };
  try {
    for (const path of [paths.configDir, chatsDir(paths.configDir), dirname(folder)]) checkWritable(path);
    const lock = lockNewChat(folder);
    try {
      const placed = placeStore(folder, "made", (file) => fillNewStore(file, firstRows(metadata)));
      return new Writer({
        store: openForWriting(folder),
        ...(!placed.kept && { handle: placed.handle }),
        lock,
        metadata,
        meta: {},
        messages: [],
        root: new RootBuilder(),
        rootId: emptyRoot.id,
        turn: 0,
        problems: [],
        lastSequence: 0,
        lastNumber: 0,
        lastEvent: 0,
      });
    } catch (error) {
      lock.releaseAndRemoveFolder();
      throw error;
    }
  } catch (error) {
    throw storeError(error, folder);
  }
}

/** Waits for another writer without blocking this process, so that signals and other runs are still handled. */
export async function openFreeChat(...[folder, changes]: Parameters<typeof openChat>): Promise<ChatWriter> {
  try {
    return openChat(folder, changes, { waitMs: 0 });
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "STORE_LOCKED") throw error;
  }
  await untilWritable(folder);
  return openChat(folder, changes);
}

/**
 * Opens a chat written by Courser or by the original CLI. First marks what an earlier run left unfinished. `lock` is a lock
 * already held; closing the chat releases it.
 */
export function openChat(
  folder: string,
  changes: { mode?: string; model?: string } = {},
  { waitMs, lock: held }: { waitMs?: number; lock?: WriterLock } = {},
): ChatWriter {
  let lock = held;
  let store: StoreConnection | undefined;
  try {
    checkStore(folder);
    for (const path of [folder, storeFile(folder)]) checkWritable(path);
    lock ??= takeWriterLock(folder, waitMs === undefined ? {} : { waitMs });
    checkStore(folder); // the chat may have been deleted in the meantime
    store = openForWriting(folder);
    const found = inspectStore(store, folder);
    // Everything is read before anything is written, so a damaged store stays unchanged.
    if (!found.isUsual) checkSoundness(store);
    const { history, meta, cut, results, problems } = found;
    if (problems.length > 0) markDamaged(folder, problems);
    store.exec("PRAGMA chat.journal_mode = WAL");
    if (history && !history.isOurs) takeOver(store, history, meta);
    setOwnState(store, ".writer", lockHolder());

    const writer = new Writer({ ...found, store, lock, metadata: { ...found.metadata, ...changes } });
    if (cut || results) writer.mend(cut?.turn ?? writer.turn, cut ? owedEvents(cut) : [], results);
    if (!found.isUsual) writer.rewriteTranscript((history ?? readHistory(store, meta)).messages);
    return writer;
  } catch (error) {
    store?.close();
    if (lock !== held) lock?.free();
    throw keptAside(storeFailure(error, folder), folder);
  }
}

/**
 * Reads what is needed to continue a chat. `isUsual`: the last run ended normally. `history` is read for all other chats, and for
 * chats that another program wrote last.
 */
function inspectStore(store: StoreConnection, folder: string) {
  const meta = readMeta(store);
  const hasTables = hasOwnTables(store);
  const view = hasTables ? readView(store) : noView;
  const cut = hasTables ? findInterruptedTurn(store) : undefined;
  const wasCutOff = hasTables && ownState(store, ".writer") !== undefined;
  const previousRootId = hasTables ? ownState(store, ".previous_root") : undefined;
  const tail = hasTables && !wasCutOff && !cut ? readTail(store, meta.latestRootBlobId, view.after) : undefined;
  const history = tail ? undefined : readWhole(store, folder, meta);
  const { messages, turn, root, lastSequence, lastNumber } = tail ?? history!;
  const modelMessages = modelView(view, messages);
  const results = owedResults(modelMessages, cut);
  return {
    meta,
    history,
    cut,
    results,
    isUsual: (tail || history?.isOurs) && !wasCutOff && !cut && !results,
    metadata: metadataOf(store, folder, meta),
    messages: withEveryResult(modelMessages),
    root,
    rootId: meta.latestRootBlobId ?? "",
    ...(typeof previousRootId === "string" && { previousRootId }),
    turn: Math.max(hasTables ? lastEvent(store, "turn", "WHERE kind = 'user'") : 0, turn),
    lastSequence,
    lastNumber,
    lastEvent: hasTables ? lastEvent(store, "sequence") : 0,
    problems: [...metaProblems(meta, hasTables), ...(hasTables ? eventProblems(store) : [])],
  };
}

function readWhole(store: StoreConnection, folder: string, meta: StoreMeta) {
  const history = readHistory(store, meta);
  if (history.problems.length > 0) {
    markDamaged(folder, history.problems);
    throw notWhole(folder, history.problems, history.wholeTurns);
  }
  const { rows } = history;
  const { turn = 0, sequence: lastSequence = 0 } = rows.at(-1) ?? {};
  return { ...history, root: rootFromIds(rows.map((row) => row.blob)), turn, lastSequence };
}

/** Slow for a long chat, so it runs only if something is unusual. Throws with SQLite's code for a damaged database. */
function checkSoundness(store: StoreConnection): void {
  const [[answer] = []] = store.rows("PRAGMA chat.quick_check(1)");
  if (answer !== "ok") throw Object.assign(new Error(String(answer)), { errcode: 11 });
}

/**
 * Without an existing log, nothing is synced before the first commit that must be durable; the writer switches then. Until then a
 * power failure loses only what was not yet promised, and cannot corrupt anything, because the log is new and has checksums.
 */
function openForWriting(folder: string): StoreConnection {
  const isNewLog = !existsSync(`${storeFile(folder)}-wal`);
  const store = openStore(storeFile(folder), "write");
  store.exec(
    `PRAGMA chat.synchronous = ${isNewLog ? "OFF" : "NORMAL"}; PRAGMA wal_autocheckpoint = ${isNewLog ? 0 : longestLog}`,
  );
  return store;
}

/** Throws if a file is read-only, also for root, who could write it: it should not be written. */
function checkWritable(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat || process.platform === "win32" || (stat.mode & 0o222) !== 0) return;
  throw storeError({ code: "EACCES" }, path);
}

function firstRows(metadata: ChatMetadata): string {
  const { workspace, parent } = metadata;
  const state = {
    ".root": emptyRoot.id,
    ".workspace": workspace,
    ...(parent !== undefined && { ".parent": parent }),
    ".writer": lockHolder(),
  };
  const rows = Object.entries(state).map(([key, value]) => `(${quoted(key)}, 0, ${quoted(JSON.stringify(value))})`);
  return `
    INSERT INTO blobs VALUES (${quoted(emptyRoot.id)}, x'${emptyRoot.data.toString("hex")}');
    INSERT INTO courser_state VALUES ${rows.join(", ")};
    INSERT INTO meta VALUES ('0', ${quoted(metaText({}, metadata, emptyRoot.id))})`;
}

/** Takes over a store that another program wrote or changed. Its blobs stay unchanged. */
function takeOver(store: StoreConnection, history: History, meta: StoreMeta): void {
  store.exec("BEGIN IMMEDIATE");
  addOwnTables(store);
  store.exec("DELETE FROM courser_messages");
  const insert = store.statement("INSERT INTO courser_messages (sequence, turn, at, blob) VALUES (?, ?, ?, ?)");
  for (const { sequence, turn, at, blob } of history.rows) insert.run(sequence, turn, at ?? null, blob);
  setOwnState(store, ".root", meta.latestRootBlobId);
  store.exec("COMMIT");
}

function lastEvent(store: StoreConnection, column: "turn" | "sequence", where = ""): number {
  const last = store.statement(`SELECT ${column} FROM courser_events ${where} ORDER BY sequence DESC LIMIT 1`).get();
  return Number(last?.[column] ?? 0);
}
