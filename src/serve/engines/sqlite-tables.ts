// Defines and opens the SQLite tables of one machine's fleet; any number of processes may use the file at once.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { runInTransaction } from "../../store/index-database.ts";
import {
  type Database,
  openShared,
  type SqlRow,
  type SqlValue,
  type Statement,
  storeError,
  whenFree,
} from "../../store/sqlite.ts";

/** Returns the fleet's database file. It has a folder of its own, so that watching the folder reports every commit and nothing else. */
export function fleetFile(configDir: string): string {
  return join(configDir, "runs", "runs.db");
}

const version = 1;

/** `lease` is the token of the host. `deadline` counts from the start of the machine, see `SqliteFleet`. */
const tables = `
  CREATE TABLE agents (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, cli TEXT NOT NULL, workspace TEXT NOT NULL,
    created INTEGER NOT NULL, updated INTEGER NOT NULL, archived INTEGER NOT NULL DEFAULT 0, session TEXT
  );
  CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, spec TEXT NOT NULL,
    state TEXT NOT NULL, created INTEGER NOT NULL, started INTEGER, ended INTEGER, position INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0, lease TEXT, ttl INTEGER, deadline INTEGER, session TEXT, result TEXT,
    cancelled TEXT, pruned INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX runs_by_state ON runs (state, number);
  CREATE INDEX runs_by_agent ON runs (agent, number);
  CREATE TABLE entries (position INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, at INTEGER NOT NULL, entry TEXT NOT NULL);
  CREATE INDEX entries_by_run ON entries (run, position);
  CREATE TABLE messages (number INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, message TEXT NOT NULL);
  CREATE INDEX messages_by_run ON messages (run, number);
  CREATE TABLE questions (
    run INTEGER NOT NULL, id TEXT NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL, question TEXT NOT NULL,
    PRIMARY KEY (run, id)
  );
`;

/** One connection to the tables. Errors are thrown as UserErrors. */
export class FleetTables {
  readonly #file: string;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(file: string) {
    this.#file = file;
    this.#database = openTables(file);
  }

  /** Runs the work in a transaction that keeps out all other writers. */
  transact<T>(work: () => T): T {
    return this.#guarded(() => runInTransaction(this.#database, work));
  }

  row(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.#guarded(() => this.#prepare(sql).get(...values));
  }

  rows(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.#guarded(() => this.#prepare(sql).all(...values));
  }

  run(sql: string, ...values: SqlValue[]): { changes: number; lastRow: number } {
    const { changes, lastInsertRowid } = this.#guarded(() => this.#prepare(sql).run(...values));
    return { changes: Number(changes), lastRow: Number(lastInsertRowid) };
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw storeError(error, this.#file);
    }
  }

  #prepare(sql: string): Statement {
    const existing = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, existing);
    return existing;
  }
}

function openTables(file: string): Database {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = openShared(file);
  try {
    // Two processes that switch a new file to WAL at the same time block each other for a moment.
    whenFree(() => database.exec("PRAGMA journal_mode = WAL"));
    // Safe when a process is killed; a power cut may lose the last transactions, and nothing else.
    database.exec("PRAGMA synchronous = NORMAL");
    const readVersion = () => Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (readVersion() === 0)
      runInTransaction(database, () => {
        if (readVersion() === 0) database.exec(`${tables} PRAGMA user_version = ${version}`);
      });
    if (readVersion() > version)
      throw new UserError("STORE_FAILED", `${file} was made by a newer version. Update, or move the file away.`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
