// SQLite: loads the library, opens and closes its files, and translates its errors for users.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { getSystemErrorName } from "node:util";
import { type ErrorCode, UserError } from "../protocol/error-codes.ts";
import { systemErrorText } from "../text/system-error.ts";
import { pause } from "./file-lock.ts";

export type SqlValue = string | number | bigint | null | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  iterate(...values: SqlValue[]): IterableIterator<SqlRow>;
  /** Returns rows as arrays, which is faster for thousands of rows. */
  setReturnArrays(on: boolean): void;
}

/**
 * One connection. Text is cut at a NUL, so such text must be inside JSON. A statement, and with it the files of its connection,
 * stays open until it is garbage-collected, even after `close`.
 */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
  readonly isTransaction: boolean;
}

export const longestWaitMs = 5_000;

/** Waits for other programs, up to 5 s by default. Errors, now or later, are translated by `storeError`. */
export function openDatabase(path: string, { readOnly = false, waitMs = longestWaitMs } = {}): Database {
  const { DatabaseSync } = library();
  try {
    return whenFree(() => {
      const database = new DatabaseSync(path, { readOnly, timeout: waitMs });
      try {
        database.exec("PRAGMA schema_version"); // SQLite does not read the file before this statement
        const forget = noteConnection(path);
        const close = database.close.bind(database);
        return Object.defineProperty(database, "close", {
          value() {
            close();
            forget();
          },
        });
      } catch (error) {
        database.close();
        throw error;
      }
    }, waitMs);
  } catch (error) {
    throw storeError(error, path);
  }
}

/**
 * A database file that SQLite has open in this process, by its inode. POSIX releases every lock of a process on a file when it
 * closes any handle of it, so only SQLite may close one while a connection is open: other handles wait here.
 */
type OpenFile = { connections: number; waiting: number[]; shared?: { database: Database; users: number } };

const openFiles = new Map<string, OpenFile>();

function inodeOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`;
}

/** Call it after a connection has opened the file, and call the returned function after it has closed it. */
export function noteConnection(path: string): () => void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return () => {}; // a database in memory has no file
  const inode = inodeOf(stat);
  const file = openFiles.get(inode) ?? { connections: 0, waiting: [] };
  openFiles.set(inode, file);
  file.connections++;
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    if (--file.connections > 0) return;
    openFiles.delete(inode);
    for (const handle of file.waiting) closeSync(handle);
  };
}

/** Closes a handle of a file that SQLite may have open: now, or after the last connection has closed it. */
export function closeDatabaseHandle(handle: number): void {
  const file = openFiles.get(inodeOf(fstatSync(handle)));
  if (file) file.waiting.push(handle);
  else closeSync(handle);
}

/** Reads the bytes of a database file. */
export function readDatabaseFile(path: string): Buffer {
  const handle = openSync(path, "r");
  try {
    return readFileSync(handle);
  } finally {
    closeDatabaseHandle(handle);
  }
}

/** Creates an empty owner-only file if there is none: SQLite would make it readable for all. */
export function makeDatabaseFile(path: string): void {
  if (existsSync(path)) return;
  try {
    const handle = openSync(path, "wx", 0o600);
    fchmodSync(handle, 0o600);
    closeDatabaseHandle(handle);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Opens one connection shared by all users of the file in this process. Its transactions must start and end within one call. */
export function openShared(path: string): Database {
  makeDatabaseFile(path);
  const inode = inodeOf(statSync(path));
  const shared = openFiles.get(inode)?.shared ?? { database: openDatabase(path), users: 0 };
  const { database } = shared;
  const file = openFiles.get(inode);
  if (file) file.shared = shared;
  shared.users++;
  let isOpen = true;
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => database.prepare(sql),
    get isTransaction() {
      return database.isTransaction;
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      if (--shared.users > 0) return;
      if (file) delete file.shared;
      database.close();
    },
  };
}

/** Retries, because some of the first locks ignore SQLite's own timeout. */
export function whenFree<T>(open: () => T, waitMs = longestWaitMs): T {
  const deadline = Date.now() + waitMs;
  while (true) {
    try {
      return open();
    } catch (error) {
      if (!isBusy(error) || Date.now() >= deadline) throw error;
      pause(20);
    }
  }
}

/**
 * Translates an error of SQLite or the file system to a readable UserError. A UserError is returned as is; anything else is a bug
 * and is thrown.
 */
export function storeError(error: unknown, path: string): UserError {
  if (error instanceof UserError) return error;
  const isKnown =
    !Number.isNaN(primaryCode(error as SqliteFailure)) || /^E[A-Z0-9]+$/.test((error as SqliteFailure).code ?? "");
  if (!isKnown) throw error;
  const code = storeCodeOf(error as SqliteFailure, path);
  const reason = (error as SqliteFailure).errstr ?? systemErrorText(error);
  return new UserError(code, texts[code](path, reason));
}

export function isBusy(error: unknown): boolean {
  return [5, 6].includes(primaryCode(error as SqliteFailure));
}

/** Returns whether an error is a fault in the statement or its data: the statements are correct, so the file must have been altered. */
export function isImpossibleFailure(error: unknown): boolean {
  const failure = error as SqliteFailure;
  return failure.code === "ERR_OUT_OF_RANGE" || [1, 19, 20, 25].includes(primaryCode(failure));
}

type StoreCode = Extract<ErrorCode, `STORE_${string}`> & keyof typeof texts;
type SqliteFailure = { errcode?: number; systemErrno?: number; code?: string; message?: string; errstr?: string };

const texts = {
  STORE_LOCKED: (path: string) =>
    `database is locked: another program held ${path} for more than ${longestWaitMs / 1000} s. Wait until it ends, or continue in a copy of the chat with --fork.`,
  STORE_FULL: (path: string) =>
    `The disk is full: ${path} could not be written. What was shown before is kept. Free some space, then continue with --resume.`,
  STORE_IO: (path: string, said: string) =>
    `${path} could not be written safely (${said}). What was shown before is kept. Check the disk, then continue with --resume.`,
  STORE_READONLY: (path: string) =>
    `${path} cannot be written: the file, its directory or the disk is read-only. Fix the owner and the mode (chmod u+w), or run without saving: --no-persist.`,
  STORE_CORRUPT: (path: string, said: string) => `${path} is damaged (${said}).`,
  STORE_FAILED: (path: string, said: string) =>
    `${path} could not be used (${said}). Run without saving: --no-persist.`,
};

/** Our error codes for SQLite's primary error codes. */
const sqliteCodes: Record<number, StoreCode> = {
  5: "STORE_LOCKED",
  6: "STORE_LOCKED",
  8: "STORE_READONLY",
  10: "STORE_IO",
  11: "STORE_CORRUPT",
  13: "STORE_FULL",
  26: "STORE_CORRUPT",
};

const systemCodes: Record<string, StoreCode> = {
  ENOSPC: "STORE_FULL",
  EDQUOT: "STORE_FULL",
  EIO: "STORE_IO",
  EROFS: "STORE_READONLY",
  EACCES: "STORE_READONLY",
  EPERM: "STORE_READONLY",
};

function storeCodeOf(error: SqliteFailure, path: string): StoreCode {
  const primary = primaryCode(error);
  if (Number.isNaN(primary)) return systemCodes[error.code ?? ""] ?? hindranceOf(path) ?? "STORE_FAILED";
  // The system's error is closer to the cause than "unable to open" and "I/O error".
  const isVague = primary === 10 || primary === 14;
  const systemCode = isVague && error.systemErrno ? systemCodes[getSystemErrorName(-error.systemErrno)] : undefined;
  const named = systemCode ?? sqliteCodes[primary];
  return named ?? (isVague ? hindranceOf(path) : undefined) ?? "STORE_FAILED";
}

/**
 * Finds what prevents writing if the error does not say: SQLite may report only "unable to open", and Node a missing folder that
 * could not be created on a read-only disk.
 */
function hindranceOf(path: string): StoreCode | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      accessSync(folder, constants.W_OK);
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") return systemCodes[code ?? ""];
      if (folder === dirname(folder)) return undefined;
    }
  }
}

/** Some errors of the library contain only a text, which is mapped to a code here. */
const sqliteTexts: [RegExp, number][] = [
  [/database (table )?is locked/, 5],
  [/readonly database/, 8],
  [/disk I\/O error/, 10],
  [/disk image is malformed/, 11],
  [/database or disk is full/, 13],
  [/file is not a database/, 26],
];

function primaryCode(error: SqliteFailure): number {
  if (typeof error.errcode === "number") return error.errcode & 0xff;
  if (error.code !== "ERR_SQLITE_ERROR") return Number.NaN;
  return sqliteTexts.find(([pattern]) => pattern.test(error.message ?? ""))?.[1] ?? 1;
}

type SqliteModule = { DatabaseSync: new (path: string, options: object) => Database };

let loaded: SqliteModule | undefined;

function library(): SqliteModule {
  loaded ??= load();
  return loaded;
}

/** Loads the binary directly: the JavaScript wrapper takes ten times as long to load and is not needed. */
function load(): SqliteModule {
  const here = typeof __filename === "string" ? __filename : fileURLToPath(import.meta.url);
  for (const file of binaries(here)) {
    try {
      const found = { exports: {} };
      process.dlopen(found, file);
      return found.exports as SqliteModule;
    } catch {
      // This build is for another C library: try the next one.
    }
  }
  try {
    return createRequire(here)("@photostructure/sqlite") as SqliteModule;
  } catch {
    throw new UserError(
      "STORE_FAILED",
      `SQLite for ${process.platform}-${process.arch} is not installed: keeping chats needs it. ` +
        "Reinstall it (npm install @photostructure/sqlite), or run without saving: --no-persist.",
    );
  }
}

function binaries(here: string): string[] {
  const inside = `node_modules/@photostructure/sqlite/prebuilds/${process.platform}-${process.arch}`;
  for (let folder = dirname(here); ; folder = dirname(folder)) {
    const found = ["glibc", "musl"]
      .map((name) => join(folder, inside, `@photostructure+sqlite.${name}.node`))
      .filter((file) => existsSync(file));
    if (found.length > 0 || folder === dirname(folder)) return found;
  }
}
