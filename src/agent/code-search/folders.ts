// Searches one or more folders: opens their indexes, updates and queries them, and merges the results.
import { join } from "node:path";
import { CodeIndex, codeIndexFile } from "../../store/code-index/code-index.ts";
import { removeDatabase } from "../../store/index-database.ts";
import { storeError } from "../../store/sqlite.ts";
import type { NearFile } from "./by-meaning.ts";
import type { EmbeddingEndpoint } from "./embeddings.ts";
import { type CodeHit, createSearch } from "./search.ts";

export type FolderContext = {
  folder: string;
  files: readonly string[];
  /** Folders inside the searched one that the current user may not read. */
  unread: readonly string[];
  isWanted(path: string): boolean;
};

export type FolderSearch = {
  most: number;
  /** The folder in which search indexes are stored; if undefined, they are not saved. */
  indexDir: string | undefined;
  embeddings: EmbeddingEndpoint | undefined;
  env: Readonly<Record<string, string | undefined>> | undefined;
  signal: AbortSignal;
  /** Reads a file by its absolute path. */
  read(path: string): Promise<Uint8Array | undefined>;
  progress?(line: string): void;
};

/** Paths of hits are absolute. `notices` tell the user how the search was limited; `unread` lists what could not be read. */
export type FolderHits = { hits: CodeHit[]; notices: string[]; unread: string[] };

type IndexHits = { hits: CodeHit[]; notice?: string; unread: string[] };

export async function searchFolders(
  question: string,
  places: readonly FolderContext[],
  options: FolderSearch,
): Promise<FolderHits> {
  const all: CodeHit[] = [];
  const notices: string[] = [];
  const denied: string[] = [];
  for (const context of places) {
    const { hits, notice, unread } = await searchFolder(question, context, options);
    all.push(...hits);
    denied.push(...context.unread, ...unread.filter(context.isWanted));
    if (notice !== undefined) notices.push(notice);
  }
  return { hits: all.sort((left, right) => right.score - left.score).slice(0, options.most), notices, unread: denied };
}

async function searchFolder(question: string, context: FolderContext, options: FolderSearch): Promise<IndexHits> {
  const file = options.indexDir === undefined ? undefined : codeIndexFile(options.indexDir, context.folder);
  try {
    return await searchIndex(question, context, options, file);
  } catch (error) {
    // A full or read-only disk must not prevent an answer. Errors that are not the store's are rethrown.
    if (file === undefined) throw error;
    const { code, message } = storeError(error, file);
    if (code === "STORE_CORRUPT") removeDatabase(file);
    const found = await searchIndex(question, context, options, undefined);
    return { ...found, notice: `The index could not be saved: ${message}` };
  }
}

async function searchIndex(
  question: string,
  { folder, files, isWanted }: FolderContext,
  { most, embeddings, env, signal, read, progress }: FolderSearch,
  file: string | undefined,
): Promise<IndexHits> {
  const index = new CodeIndex(file);
  try {
    const search = createSearch({ index, folder });
    const { unread } = await search.update(files, signal);
    const here = { isWanted, read: (path: string) => read(join(folder, path)) };
    const byWords = await search.find(question, { ...here, most: embeddings ? most * spare : most });
    const whole = (hits: readonly CodeHit[]) => hits.map((hit) => ({ ...hit, path: join(folder, hit.path) }));
    if (!embeddings) return { hits: whole(byWords), unread };
    try {
      const { embedFiles, nearestFiles } = await import("./by-meaning.ts");
      const meaning = { endpoint: embeddings, index, signal, env, ...here, ...(progress && { progress }) };
      const left = await embedFiles(meaning);
      const hits = await fuseRankings(byWords, await nearestFiles(question, most * spare, meaning), here.read);
      const notice = `${left} files are found by their words alone: they have no vectors yet.`;
      return { hits: whole(hits.slice(0, most)), unread, ...(left > 0 && { notice }) };
    } catch (error) {
      signal.throwIfAborted();
      const notice = `Found by words alone, because the embedding endpoint failed: ${(error as Error).message}`;
      return { hits: whole(byWords.slice(0, most)), unread, notice };
    }
  } finally {
    index.close();
  }
}

/** How many times more results than wanted are taken from each of the two rankings: one far down in one may be first in the other. */
export const spare = 3;

/** Uses ranks, not scores, since words and vectors have no common measure (reciprocal rank fusion). */
export async function fuseRankings(
  byWords: readonly CodeHit[],
  byMeaning: readonly NearFile[],
  read: (path: string) => Promise<Uint8Array | undefined>,
): Promise<CodeHit[]> {
  const hits = new Map(byWords.map((hit, rank) => [hit.path, { ...hit, score: worthOf(rank) }]));
  for (const [rank, { path, chunk }] of byMeaning.entries()) {
    const existing = hits.get(path);
    const bytes = existing?.bytes ?? (await read(path));
    if (!bytes) continue;
    const chunks = [chunk, ...(existing?.chunks.filter(({ from, to }) => to <= chunk.from || from >= chunk.to) ?? [])];
    hits.set(path, { path, bytes, chunks: chunks.slice(0, 2), score: (existing?.score ?? 0) + worthOf(rank) });
  }
  return [...hits.values()].sort((left, right) => right.score - left.score);
}

function worthOf(rank: number): number {
  return 1 / (60 + rank);
}
