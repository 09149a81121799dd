// A connection to one store that closes the file reliably.
import { type Database, noteConnection, openDatabase, type SqlValue, type Statement, whenFree } from "../sqlite.ts";

/** `write`: the file must exist. `still`: no process changes it now; read without locks or additional files. */
export type StoreMode = "write" | "read" | "still";

const parameters: Record<StoreMode, string> = { write: "mode=rw", read: "mode=ro", still: "immutable=1" };

/** In-memory connections that are kept open, with their prepared statements, to be used for the next store. */
const idle: StoreConnection[] = [];

/**
 * Opens a store. Waits up to 5 s for other programs; throws SQLite's errors. The file is attached, as `chat`, to an in-memory
 * connection: the library cannot finalize statements, and closing a connection closes no file while a statement is alive.
 * Detaching does.
 */
export function openStore(file: string, mode: StoreMode): StoreConnection {
  const connection = idle.pop() ?? new StoreConnection();
  const address = `${fileUri(file)}?${parameters[mode]}`;
  try {
    whenFree(() => connection.attach(address, file));
    return connection;
  } catch (error) {
    idle.push(connection);
    throw error;
  }
}

/** Opens the file while `work` runs. The caller ensures that no other process writes to it. */
export function withAttached<T>(file: string, work: (store: StoreConnection) => T): T {
  const store = openStore(file, "write");
  try {
    return work(store);
  } finally {
    store.close();
  }
}

/** Opens an empty store in memory. */
export function newStore(): StoreConnection {
  const connection = idle.pop() ?? new StoreConnection();
  connection.attach(":memory:");
  return connection;
}

export class StoreConnection {
  readonly #database: Database = openDatabase(":memory:");
  readonly #statements = new Map<string, Statement>();
  #isAttached = false;
  #forgetFile: (() => void) | undefined;

  attach(address: string, file?: string): void {
    this.#database.exec(`ATTACH '${address.replaceAll("'", "''")}' AS chat`);
    this.#isAttached = true;
    this.#forgetFile = file === undefined ? undefined : noteConnection(file);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** Prepares a statement once; SQLite recompiles it when another store is attached. */
  statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Returns rows as arrays. The same query text must not be used with `statement`. */
  rows(sql: string, ...values: SqlValue[]): unknown[][] {
    const statement = this.statement(sql);
    statement.setReturnArrays(true);
    return statement.all(...values) as unknown as unknown[][];
  }

  rollBack(): void {
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }

  close(): void {
    if (!this.#isAttached) return;
    this.#isAttached = false;
    try {
      this.rollBack();
      this.#database.exec("DETACH chat");
      idle.push(this);
    } catch {
      this.#database.close();
    }
    this.#forgetFile?.();
  }
}

/** Returns the file's URI. Built by hand, since the first use of Node's URL takes longer than opening the store. */
function fileUri(file: string): string {
  const path = process.platform === "win32" ? `/${file.replaceAll("\\", "/")}` : file;
  return `file://${path.replace(/[%?#]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)}`;
}
