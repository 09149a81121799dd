// The code index of a workspace: which terms occur in which file, in SQLite FTS5. It stores no text of the files, and can be
// deleted at any time: missing parts are rebuilt.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type IndexTables, inMemory, openIndex, removeDatabase, runInTransaction } from "../index-database.ts";
import { projectDir } from "../project.ts";
import { type Database, type SqlRow, type Statement, storeError } from "../sqlite.ts";

/** The file attributes that show a change without reading the file. */
export type FileStamp = { size: number; mtimeMs: number; ctimeMs: number };

export type IndexedFile = FileStamp & { id: number; path: string; hash: string };

/** The search terms of a file, separated by spaces and repeated by weight. */
export type FileTerms = { path: string; symbols: string; comments: string; body: string };

/** How much a match in each field of a file counts. */
export type FieldWeights = { path: number; symbols: number; comments: number; body: number };

/** A file and the term's score in it; a tuple, since there are thousands. */
export type Posting = [file: number, score: number];

/** A part of a file, with the key of its vector. */
export type KeyedChunk = { startLine: number; endLine: number; from: number; to: number; key: string };

type ChunkRow = Omit<KeyedChunk, "key"> & { path: string; bytes: Uint8Array };

const tables: IndexTables = {
  // Increase this version also when the extraction of terms changes.
  version: 2,
  names: ["vocabulary", "terms", "files", "vectors", "chunks"],
  // Do not wait for the disk, since the index can be rebuilt.
  settings: "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -32000;",
  create: `
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT UNIQUE, size INTEGER, mtime REAL, ctime REAL, hash TEXT, embedder TEXT);
CREATE TABLE chunks (file INTEGER, start_line INTEGER, end_line INTEGER, from_byte INTEGER, to_byte INTEGER, key TEXT);
CREATE INDEX chunks_of_file ON chunks (file);
CREATE INDEX chunks_of_key ON chunks (key);
CREATE VIRTUAL TABLE terms USING fts5(path, symbols, comments, body, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, 'row');
CREATE TABLE vectors (key TEXT PRIMARY KEY, vector BLOB);
INSERT INTO terms (terms, rank) VALUES ('hashsize', 33554432);`,
};

export function codeIndexFile(configDir: string, folder: string): string {
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 12);
  return join(projectDir(configDir, folder), `code-index-${name}.db`);
}

/** Opened for one operation. Without `file` the index is in memory. Throws a UserError on disk errors. */
export class CodeIndex {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  #totals: SqlRow | undefined;

  constructor(file: string | undefined) {
    this.#database = open(file ?? inMemory);
  }

  files(): IndexedFile[] {
    const statement = this.#prepare("SELECT id, path, size, mtime AS mtimeMs, ctime AS ctimeMs, hash FROM files");
    return statement.all() as unknown as IndexedFile[];
  }

  /** Replaces the entry of a file, including one that another process added in the meantime. */
  put(path: string, { size, mtimeMs, ctimeMs }: FileStamp, hash: string, terms: FileTerms): void {
    this.#totals = undefined;
    const old = this.#prepare("SELECT id FROM files WHERE path = ?").get(path)?.["id"];
    if (old !== undefined) this.remove(Number(old));
    const { lastInsertRowid: id } = this.#prepare(
      "INSERT INTO files (path, size, mtime, ctime, hash) VALUES (?, ?, ?, ?, ?)",
    ).run(path, size, mtimeMs, ctimeMs, hash);
    this.#prepare("INSERT INTO terms (rowid, path, symbols, comments, body) VALUES (?, ?, ?, ?, ?)").run(
      id,
      terms.path,
      terms.symbols,
      terms.comments,
      terms.body,
    );
  }

  /** Updates the size and times of a file whose content has not changed. */
  touch(id: number, { size, mtimeMs, ctimeMs }: FileStamp): void {
    this.#prepare("UPDATE files SET size = ?, mtime = ?, ctime = ? WHERE id = ?").run(size, mtimeMs, ctimeMs, id);
  }

  remove(id: number): void {
    this.#totals = undefined;
    this.#prepare("DELETE FROM terms WHERE rowid = ?").run(id);
    this.#prepare("DELETE FROM chunks WHERE file = ?").run(id);
    this.#prepare("DELETE FROM files WHERE id = ?").run(id);
  }

  /** Returns totals over all files, which are cached until the index changes. */
  totals(): { count: number; averageSize: number } {
    const row = this.#totals ?? this.#prepare("SELECT count(*) AS count, avg(size) AS size FROM files").get();
    this.#totals = row;
    return { count: Number(row?.["count"] ?? 0), averageSize: Number(row?.["size"] ?? 0) };
  }

  file(id: number): { path: string; size: number } {
    const row = this.#prepare("SELECT path, size FROM files WHERE id = ?").get(id);
    return { path: String(row?.["path"] ?? ""), size: Number(row?.["size"] ?? 0) };
  }

  /** Returns the number of files that contain a term. */
  frequency(term: string): number {
    return Number(this.#prepare("SELECT doc FROM vocabulary WHERE term = ?").get(term)?.["doc"] ?? 0);
  }

  /** Returns the files that contain a term, with its BM25 score in each. */
  postings(term: string, { path, symbols, comments, body }: FieldWeights): Posting[] {
    const statement = this.#prepare("SELECT rowid, -bm25(terms, ?, ?, ?, ?) FROM terms WHERE terms MATCH ?");
    statement.setReturnArrays(true);
    return statement.all(path, symbols, comments, body, `"${term}"`) as unknown as Posting[];
  }

  /** Returns the files whose chunks have no vectors of this embedder. */
  withoutVectors(embedder: string): { id: number; path: string }[] {
    const statement = this.#prepare("SELECT id, path FROM files WHERE embedder IS NOT ? ORDER BY path");
    return statement.all(embedder) as unknown as { id: number; path: string }[];
  }

  hasVector(key: string): boolean {
    return this.#prepare("SELECT 1 FROM vectors WHERE key = ?").get(key) !== undefined;
  }

  keepVector(key: string, vector: Float32Array): void {
    const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
    this.#prepare("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)").run(key, bytes);
  }

  putChunks(file: number, embedder: string, chunks: readonly KeyedChunk[]): void {
    this.#prepare("DELETE FROM chunks WHERE file = ?").run(file);
    const insert = this.#prepare("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)");
    for (const { startLine, endLine, from, to, key } of chunks) insert.run(file, startLine, endLine, from, to, key);
    this.#prepare("UPDATE files SET embedder = ? WHERE id = ?").run(embedder, file);
  }

  chunkCount(): number {
    return Number(this.#prepare("SELECT count(*) AS count FROM chunks").get()?.["count"] ?? 0);
  }

  *chunkVectors(): Iterable<Omit<KeyedChunk, "key"> & { path: string; vector: Float32Array }> {
    const rows = this.#prepare(`
      SELECT path, start_line AS startLine, end_line AS endLine, from_byte AS "from", to_byte AS "to", vector AS bytes
      FROM chunks JOIN files ON files.id = file JOIN vectors USING (key)`).iterate();
    for (const { bytes, ...chunk } of rows as Iterable<ChunkRow>)
      yield { ...chunk, vector: new Float32Array(bytes.slice().buffer) };
  }

  /** Removes vectors of text that no file contains any more. */
  dropUnusedVectors(): void {
    this.#prepare("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM chunks)").run();
  }

  transact<T>(work: () => T): T {
    return runInTransaction(this.#database, work);
  }

  close(): void {
    this.#database.close();
  }

  #prepare(sql: string): Statement {
    const existing = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, existing);
    return existing;
  }
}

/** Opens the index. A damaged one is rebuilt. */
function open(file: string): Database {
  try {
    return openIndex(file, tables);
  } catch (error) {
    const failure = storeError(error, file);
    if (failure.code !== "STORE_CORRUPT") throw failure;
    removeDatabase(file);
    return openIndex(file, tables);
  }
}
