// Puts a store into the folder of a chat. Every new store goes through here: new chats, copies, and chats carried from another
// machine. The caller holds the writer lock.
import { closeSync, existsSync, fsyncSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { programName } from "../../text/program-name.ts";
import { syncFolder } from "../sync.ts";
import { type StoreConnection, withAttached } from "./connection.ts";
import { copyAside } from "./damage.ts";
import { EventDecoder } from "./event-bodies.ts";
import { hasOwnTables, ownState, readHistory } from "./history.ts";
import { chatIdentity, storeFile } from "./layout.ts";
import { openPrivate } from "./private-files.ts";
import { withStore } from "./with-store.ts";
import { takeWriterLock, type WriterLock } from "./writer-lock.ts";

/**
 * `made`: built from scratch, and synced to disk by its first writer. `copied`: from a chat on this machine. `carried`: from
 * elsewhere; it may replace an earlier state of the same chat.
 */
export type Arrival = "made" | "copied" | "carried";

/** `kept`: the existing store is this chat at that point or later, and stays. `aside` is the copy of a different state. */
export type Placed = { kept: true } | { kept: false; handle: number; aside?: string };

/**
 * Builds the store in a separate file, checks it there, and renames it as the last step. Until then the existing store and its
 * log stay complete. Returns a handle to sync the file with; close it with `closeDatabaseHandle`.
 */
export function placeStore(folder: string, arrival: Arrival, build: (file: string) => void): Placed {
  const file = storeFile(folder);
  if (arrival !== "carried" && existsSync(file)) throw alreadyExists(folder);
  // Remove what a dead process left. No other process builds a store while this one holds the lock.
  for (const name of readdirSync(folder)) if (/^store\.db\.\d+\.new/.test(name)) rmSync(join(folder, name));
  const part = `${file}.${process.pid}.new`;
  const handle = openPrivate(part, "wx");
  try {
    build(part);
    if (arrival !== "made") {
      const found = withAttached(part, (store) => {
        checkSound(store, folder, arrival);
        return existsSync(file) ? compareTo(store, folder) : "nothing";
      });
      if (found === "later") {
        closeSync(handle);
        removeStoreFiles(part);
        return { kept: true };
      }
      fsyncSync(handle);
      const aside = found === "nothing" ? undefined : makeWay(folder, found);
      moveIn(folder, part);
      syncFolder(folder);
      return { kept: false, handle, ...(aside !== undefined && { aside }) };
    }
    moveIn(folder, part);
    return { kept: false, handle };
  } catch (error) {
    closeSync(handle);
    removeStoreFiles(part);
    throw error;
  }
}

/** Takes the lock of a chat that does not exist yet. Another process may be creating one with the same id. */
export function lockNewChat(folder: string): WriterLock {
  if (existsSync(storeFile(folder))) throw alreadyExists(folder);
  try {
    return takeWriterLock(folder, { makeFolder: true });
  } catch (error) {
    const isMade = error instanceof UserError && error.code === "STORE_LOCKED" && existsSync(storeFile(folder));
    throw isMade ? alreadyExists(folder) : error;
  }
}

function alreadyExists(folder: string): UserError {
  const { id } = chatIdentity(folder);
  return usageError(`A chat with the id ${id} already exists. Resume it: ${programName()} --resume ${id}`);
}

/** Moves a new database into the chat's folder. Removes a write-ahead log left by a deleted database, which SQLite would apply to it. */
function moveIn(folder: string, part: string): void {
  const file = storeFile(folder);
  if (!existsSync(file)) removeStoreFiles(file);
  renameSync(part, file);
}

function removeStoreFiles(file: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(file + end, { force: true });
}

/** Checks every page and every part of the conversation. Throws on a fault, before anything is replaced. */
function checkSound(store: StoreConnection, folder: string, arrival: Arrival): void {
  const { id } = chatIdentity(folder);
  const broken = (why: string) =>
    new UserError("STORE_CORRUPT", `What was stored of the chat ${id} is damaged: ${why}. Nothing was replaced.`);
  const [[answer] = []] = store.rows("PRAGMA chat.integrity_check(1)");
  if (answer !== "ok") throw broken(String(answer));
  if (arrival === "carried" && !hasOwnTables(store)) throw broken("it is not a chat");
  const [problem] = readHistory(store).problems;
  if (problem) throw broken(problem.message.replace(/\.$/, ""));
}

/** The progress of a chat: the number of rewinds, and the last row of each table. */
type Point = { rewinds: number; rows: { table: "events" | "messages"; sequence: number; content: unknown }[] };

function pointOf(store: StoreConnection): Point {
  const rows = (["events", "messages"] as const).flatMap((table) => {
    const last = store.rows(`SELECT sequence FROM courser_${table} ORDER BY sequence DESC LIMIT 1`);
    return last.map(([sequence]) => ({
      table,
      sequence: Number(sequence),
      content: rowContent(store, table, Number(sequence)),
    }));
  });
  return { rewinds: Number(ownState(store, ".rewinds") ?? 0), rows };
}

/** Returns the decoded event, or the id of a message. */
function rowContent(store: StoreConnection, table: Point["rows"][number]["table"], sequence: number): unknown {
  const column = table === "events" ? "body" : "blob";
  const [content] = store.rows(`SELECT ${column} FROM courser_${table} WHERE sequence = ?`, sequence)[0] ?? [];
  return table === "events" ? new EventDecoder(store).decode(sequence, content) : content;
}

function reachesPoint(store: StoreConnection, { rewinds, rows }: Point): boolean {
  const ownRewinds = pointOf(store).rewinds;
  if (ownRewinds !== rewinds) return ownRewinds > rewinds;
  return rows.every(({ table, sequence, content }) => {
    return rowContent(store, table, sequence) === content;
  });
}

/** How an existing store compares to the new one. */
type Found = "later" | "earlier" | "other" | "damaged";

function compareTo(brought: StoreConnection, folder: string): Found {
  try {
    return withStore(folder, (store) => {
      if (!hasOwnTables(store)) return "other";
      if (reachesPoint(store, pointOf(brought))) return "later";
      return reachesPoint(brought, pointOf(store)) ? "earlier" : "other";
    });
  } catch (error) {
    if (error instanceof UserError && error.code === "STORE_CORRUPT") return "damaged";
    throw error;
  }
}

/**
 * Lets SQLite merge the existing store into one file, which fails while another program has it open. Keeps a copy unless the new
 * store continues it; a damaged store is copied with its log.
 */
function makeWay(folder: string, found: Exclude<Found, "later">): string | undefined {
  const file = storeFile(folder);
  if (found !== "damaged") withAttached(file, (store) => store.exec("PRAGMA chat.journal_mode = DELETE"));
  const aside = found === "earlier" ? undefined : copyAside(folder, found === "damaged" ? "corrupt" : "replaced");
  for (const end of ["-wal", "-shm", "-journal"]) rmSync(file + end, { force: true });
  return aside;
}
