// One writer for a chat: a lock that the system frees when its holder dies, while readers stay free to read.
import { readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { type Database, isBusy, longestWaitMs, makeDatabaseFile, openDatabase, storeError } from "../sqlite.ts";
import { openStore } from "./connection.ts";
import { ownState } from "./history.ts";
import { chatIdentity, storeFile } from "./layout.ts";
import { makeFolder } from "./private-files.ts";

export interface WriterLock {
  free(): void;
  /** The same, and a folder that holds nothing else goes with it. */
  freeFolder(): void;
}

/** For who has other things to do meanwhile: resolves when nobody else writes to the chat. Not where this process may be who does. */
export async function untilWritable(folder: string, mostMs = longestWaitMs): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 100) {
    try {
      takeWriterLock(folder, { waitMs: 0 }).free();
      return;
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== "STORE_LOCKED" || waitedMs >= mostMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Waits up to 5 s for another writer, and nothing else happens in this process. `makeFolder`: of a chat that may not exist yet.
 */
export function takeWriterLock(folder: string, options: { waitMs?: number; makeFolder?: boolean } = {}): WriterLock {
  const { waitMs = longestWaitMs } = options;
  const file = join(folder, lockName);
  while (true) {
    let database: Database | undefined;
    try {
      if (options.makeFolder) makeFolder(folder);
      makeDatabaseFile(file);
      const inode = inodeOf(file);
      database = openDatabase(file, { waitMs });
      // Nothing is ever written, so nothing need be undone: no journal beside it.
      database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
      // Whoever deleted the chat meanwhile took this lock with it, and another file now is the lock.
      if (inode !== undefined && inode === inodeOf(file)) return heldLock(folder, database);
      database.close();
    } catch (error) {
      database?.close();
      const isHeld = isBusy(error) || (error instanceof UserError && error.code === "STORE_LOCKED");
      throw isHeld ? inUse(folder) : storeError(error, folder);
    }
  }
}

/** Everything but this name may go while the lock is held. */
export const lockName = "writer.lock";

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

function heldLock(folder: string, database: Database): WriterLock {
  return {
    free: () => database.close(),
    freeFolder() {
      const remove = () => {
        try {
          if (readdirSync(folder).some((name) => name !== lockName)) return;
          rmSync(join(folder, lockName), { force: true });
          rmdirSync(folder);
        } catch {
          // The file is in use, or somebody has put something there.
        }
      };
      // Where files that are open cannot be removed, the second time succeeds unless another process waits for the lock.
      remove();
      database.close();
      if (process.platform === "win32") remove();
    },
  };
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
