// Opens index databases, which can be deleted at any time because their content can be rebuilt.
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { type Database, openDatabase, openShared } from "./sqlite.ts";

export const inMemory = ":memory:";

/** `version` increases when the tables change. `settings` are pragmas. */
export type IndexTables = { version: number; names: readonly string[]; create: string; settings: string };

/** Opens an index database. If another version wrote it, its tables are created anew. */
export function openIndex(path: string, { version, names, create, settings }: IndexTables): Database {
  if (path !== inMemory) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = path === inMemory ? openDatabase(path) : openShared(path);
  const isCurrent = () => {
    const savedVersion = database.prepare("PRAGMA user_version").get()?.["user_version"];
    const found = database.prepare("SELECT name FROM sqlite_master").all();
    return savedVersion === version && names.every((name) => found.some((row) => row["name"] === name));
  };
  try {
    database.exec(settings);
    if (isCurrent()) return database;
    runInTransaction(database, () => {
      // Another process has already created the tables.
      if (isCurrent()) return;
      for (const name of names) database.exec(`DROP TABLE IF EXISTS ${name}`);
      database.exec(`${create} PRAGMA user_version = ${version}`);
    });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export function runInTransaction<T>(database: Database, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

export function removeDatabase(file: string): void {
  for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(file + end, { force: true });
}
