// withStore: reads the store of a chat without disturbing its writer or leaving files next to it.
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { readDatabaseFile, storeError } from "../sqlite.ts";
import { openStore, type StoreConnection, type StoreMode } from "./connection.ts";
import { checkStore, storeFailure } from "./damage.ts";
import { storeFile } from "./layout.ts";

/**
 * Reads an idle store without locks, which leaves no files next to it and works on a read-only disk. If it changed meanwhile,
 * reads it again with locks.
 */
export function withStore<T>(folder: string, read: (store: StoreConnection) => T): T {
  checkStore(folder);
  const file = storeFile(folder);
  const before = fileState(file);
  try {
    if (before.isStill) {
      const result = attempt(() => readThrough(file, "still", read));
      if (before.time === fileState(file).time) return result();
    }
    return readLocked(file, read);
  } catch (error) {
    throw storeFailure(error, folder);
  }
}

function readThrough<T>(file: string, mode: StoreMode, read: (store: StoreConnection) => T): T {
  const store = openStore(file, mode);
  try {
    store.exec("BEGIN");
    return read(store);
  } finally {
    store.close();
  }
}

function readLocked<T>(file: string, read: (store: StoreConnection) => T): T {
  try {
    return readThrough(file, "read", read);
  } catch (error) {
    if (error instanceof UserError || !["STORE_READONLY", "STORE_FAILED"].includes(storeError(error, file).code))
      throw error;
    return readCopy(file, read);
  }
}

/** Reads a copy of a store whose log needs an index file next to it that could not be created, as in a read-only folder. */
function readCopy<T>(file: string, read: (store: StoreConnection) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "courser-chat-"));
  try {
    for (const suffix of ["", "-wal", "-journal"])
      if (existsSync(`${file}${suffix}`))
        writeFileSync(join(folder, `store.db${suffix}`), readDatabaseFile(`${file}${suffix}`));
    return readThrough(join(folder, "store.db"), "write", read);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a function and returns another that gives its result or throws its error. */
function attempt<T>(work: () => T): () => T {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function fileState(file: string): { isStill: boolean; time: bigint } {
  const hasLog = ["-wal", "-journal"].some((suffix) => {
    const log = statSync(`${file}${suffix}`, { throwIfNoEntry: false });
    return log !== undefined && log.size > 0;
  });
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return { isStill: !hasLog, time: hasLog ? -1n : (stat?.mtimeNs ?? 0n) };
}
