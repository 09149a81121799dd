// One writer for a chat: a lock that the system frees when its holder dies, while readers stay free to read.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { type Database, isBusy, longestWaitMs, openDatabase, storeError } from "../sqlite.ts";
import { openStore } from "./connection.ts";
import { ownState } from "./history.ts";
import { chatIdentity, storeFile } from "./layout.ts";
import { writePrivate } from "./private-files.ts";

export interface WriterLock {
  free(): void;
}

/** For who has other things to do meanwhile: resolves when nobody else writes to the chat. Not where this process may be who does. */
export async function untilWritable(folder: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 100) {
    try {
      takeWriterLock(folder, { waitMs: 0 }).free();
      return;
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== "STORE_LOCKED" || waitedMs >= longestWaitMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Waits up to 5 s for another writer, and nothing else happens in this process. */
export function takeWriterLock(folder: string, { waitMs = longestWaitMs } = {}): WriterLock {
  const file = join(folder, "writer.lock");
  let database: Database | undefined;
  try {
    makePrivate(file);
    database = openDatabase(file, { waitMs });
    // Nothing is ever written, so nothing need be undone: no journal beside it.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    const held = database;
    return { free: () => held.close() };
  } catch (error) {
    database?.close();
    const isHeld = isBusy(error) || (error instanceof UserError && error.code === "STORE_LOCKED");
    throw isHeld ? inUse(folder) : storeError(error, folder);
  }
}

/** An existing file must not even be opened and closed: that would free the lock of another writer in this process. */
function makePrivate(file: string): void {
  if (existsSync(file)) return;
  try {
    writePrivate(file, "wx", "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function inUse(folder: string): UserError {
  const { id } = chatIdentity(folder);
  return new UserError(
    "STORE_LOCKED",
    `database is locked: the chat ${id} is in use by ${holderOf(folder)}, and stayed so for ${longestWaitMs / 1000} s. ` +
      "Wait until that run ends, or continue in a copy of the chat: add --fork.",
  );
}

/** What an open store says of its writer. */
export function lockHolder() {
  return { pid: process.pid, since: Date.now() };
}

function holderOf(folder: string): string {
  try {
    const store = openStore(storeFile(folder), "read");
    try {
      const { pid, since } = ownState(store, ".writer") as ReturnType<typeof lockHolder>;
      return `process ${pid} since ${new Date(since).toISOString()}`;
    } finally {
      store.close();
    }
  } catch {
    return "another process";
  }
}
