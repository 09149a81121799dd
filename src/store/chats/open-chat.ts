// Making a chat, and opening one to go on with it. One writer for a chat, in all processes.
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { storeError } from "../sqlite.ts";
import type { ChatMetadata, ChatWriter } from "./chat.ts";
import { openStore, type StoreConnection } from "./connection.ts";
import { checkStore, failureOf, keptAside, notWhole } from "./damage.ts";
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
import { emptyRoot, RootBuilder, rootOf } from "./root.ts";
import { addOwnTables, fillNewStore, longestLog, quoted } from "./tables.ts";
import { readTail } from "./tail.ts";
import { metaText, Writer } from "./writer.ts";
import { lockHolder, takeWriterLock, untilWritable, type WriterLock } from "./writer-lock.ts";

/** `workspace`: its real path. */
export type ChatPaths = { configDir: string; workspace: string };

export type NewChat = {
  id: string;
  /** `auto-run` where everything is allowed, else `default`. */
  mode: string;
  model?: string;
  title?: string;
  /** When it began elsewhere. */
  createdAt?: number;
  /** The chat whose agent starts this one. */
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
      lock.freeFolder();
      throw error;
    }
  } catch (error) {
    throw storeError(error, folder);
  }
}

/** Waits for another writer without holding up this process: signals and other runs are heard meanwhile. */
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
 * Opens a chat of ours, or one that the original wrote. What an earlier run left unfinished is marked first. `lock`: taken
 * before, and freed with the chat.
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
    checkStore(folder); // it may have been deleted meanwhile
    store = openForWriting(folder);
    const found = lookInto(store, folder);
    // Everything was read before anything is written: a damaged store stays as it is.
    if (!found.isUsual) checkSoundness(store);
    const { history, meta, cut, results } = found;
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
    throw keptAside(failureOf(error, folder), folder);
  }
}

/**
 * All that is known of a chat before it is gone on with. `isUsual`: it was left as a run leaves it that came to its end.
 * `history`: of the others, and of chats that somebody else wrote last.
 */
function lookInto(store: StoreConnection, folder: string) {
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
  if (history.problems.length > 0) throw notWhole(folder, history.problems, history.wholeTurns);
  const { rows } = history;
  const { turn = 0, sequence: lastSequence = 0 } = rows.at(-1) ?? {};
  return { ...history, root: rootOf(rows.map((row) => row.blob)), turn, lastSequence };
}

/** Takes a moment in a long chat, so it is asked only where something is unusual. The code is that of a damaged database. */
function checkSoundness(store: StoreConnection): void {
  const [[answer] = []] = store.rows("PRAGMA chat.quick_check(1)");
  if (answer !== "ok") throw Object.assign(new Error(String(answer)), { errcode: 11 });
}

/**
 * Where there is no log yet, nothing is forced to the disk before the first commit that must be: the writer switches then.
 * Until then a failure of power loses what no one was promised, and can mix up nothing, because the log is new and checked.
 */
function openForWriting(folder: string): StoreConnection {
  const isNewLog = !existsSync(`${storeFile(folder)}-wal`);
  const store = openStore(storeFile(folder), "write");
  store.exec(
    `PRAGMA chat.synchronous = ${isNewLog ? "OFF" : "NORMAL"}; PRAGMA wal_autocheckpoint = ${isNewLog ? 0 : longestLog}`,
  );
  return store;
}

/** Also for root, who could: whoever takes the owner's right to write away does not want it written. */
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

/** Makes a store that somebody else wrote, or wrote to, one of ours. Their blobs stay as they are. */
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
