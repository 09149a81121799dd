// The lock that gives a chat one writer. The system releases it when its holder dies; readers are not blocked.
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
  /** Releases the lock, and removes the chat's folder if it is otherwise empty. */
  releaseAndRemoveFolder(): void;
}

/** Resolves when no other process writes to the chat; throws STORE_LOCKED after `maxMs`. Do not use it if this process may be the writer. */
export async function untilWritable(folder: string, maxMs = longestWaitMs): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 100) {
    try {
      takeWriterLock(folder, { waitMs: 0 }).free();
      return;
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== "STORE_LOCKED" || waitedMs >= maxMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Blocks this process for up to 5 s while waiting for another writer. `makeFolder` creates a missing folder. */
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
      // Keep the journal in memory, since nothing is ever written to this database.
      database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
      // If the chat was deleted meanwhile, this lock file went with it, and a different file is now the lock.
      if (inode !== undefined && inode === inodeOf(file)) return heldLock(folder, database);
      database.close();
    } catch (error) {
      database?.close();
      const isHeld = isBusy(error) || (error instanceof UserError && error.code === "STORE_LOCKED");
      throw isHeld ? inUse(folder) : storeError(error, folder);
    }
  }
}

/** The name of the lock file. While the lock is held, everything else in the folder may be removed. */
export const lockName = "writer.lock";

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

function heldLock(folder: string, database: Database): WriterLock {
  return {
    free: () => database.close(),
    releaseAndRemoveFolder() {
      const remove = () => {
        try {
          if (readdirSync(folder).some((name) => name !== lockName)) return;
          rmSync(join(folder, lockName), { force: true });
          rmdirSync(folder);
        } catch {
          // The lock file is in use, or another process created files in the folder.
        }
      };
      // Where open files cannot be removed, the second attempt succeeds unless another process waits for the lock.
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

/** Creates the entry of a writer in an open store. */
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
