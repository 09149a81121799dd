// Searches one or more folders: opens their indexes, brings them up to date, asks, and puts the answers together.
import { join } from "node:path";
import { CodeIndex, codeIndexFile } from "../../store/code-index/code-index.ts";
import { removeDatabase } from "../../store/index-database.ts";
import { storeError } from "../../store/sqlite.ts";
import type { EmbeddingEndpoint } from "./rerank.ts";
import { type CodeHit, createSearch } from "./search.ts";

export type FolderContext = {
  folder: string;
  files: readonly string[];
  /** Folders in it that this user may not read. */
  unread: readonly string[];
  isWanted(path: string): boolean;
};

export type FolderSearch = {
  most: number;
  /** Where indexes are kept; undefined: nowhere. */
  indexDir: string | undefined;
  embeddings: EmbeddingEndpoint | undefined;
  env: Readonly<Record<string, string | undefined>> | undefined;
  signal: AbortSignal;
  /** By absolute path. */
  read(path: string): Promise<Uint8Array | undefined>;
};

/** Paths of hits are absolute. `notices`: what the user should know of how it was searched. `unread`: what could not be. */
export type FolderHits = { hits: CodeHit[]; notices: string[]; unread: string[] };

type IndexHits = { hits: CodeHit[]; notice?: string; unread: string[] };

/** So many are handed to an embedding endpoint, which decides about their order. */
const mostReranked = 24;

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
    // A disk that is full or read-only is no reason not to answer. What is not a fault of the store is thrown on.
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
  { most, embeddings, env, signal, read }: FolderSearch,
  file: string | undefined,
): Promise<IndexHits> {
  const index = new CodeIndex(file);
  try {
    const search = createSearch({ index, folder });
    const { unread } = await search.update(files, signal);
    const here = { isWanted, read: (path: string) => read(join(folder, path)) };
    const found = await search.find(question, { ...here, most: embeddings ? Math.max(mostReranked, most) : most });
    const hits = found.map((hit) => ({ ...hit, path: join(folder, hit.path) }));
    if (!embeddings || hits.length < 2) return { hits, unread };
    try {
      return {
        hits: (await reranked(question, hits, { endpoint: embeddings, index, signal, ...(env && { env }) })).slice(
          0,
          most,
        ),
        unread,
      };
    } catch (error) {
      signal.throwIfAborted();
      return {
        hits: hits.slice(0, most),
        unread,
        notice: `Ordered by words alone, because the embedding endpoint failed: ${(error as Error).message}`,
      };
    }
  } finally {
    index.close();
  }
}

/** Half by words, half by meaning: the endpoint has seen an excerpt, the index all of the file. */
async function reranked(
  question: string,
  hits: readonly CodeHit[],
  rerank: import("./rerank.ts").Rerank,
): Promise<CodeHit[]> {
  const { nearness } = await import("./rerank.ts");
  const near = await nearness(question, hits.map(excerpt), rerank);
  const [highest, lowest] = [Math.max(...near), Math.min(...near)];
  const best = Math.max(...hits.map((hit) => hit.score), Number.MIN_VALUE);
  return hits
    .map((hit, at) => ({ ...hit, score: hit.score / best + (near[at]! - lowest) / (highest - lowest || 1) }))
    .sort((left, right) => right.score - left.score);
}

function excerpt({ path, chunks, bytes }: CodeHit): string {
  const texts = chunks.map(({ from, to }) => Buffer.from(bytes.subarray(from, to)).toString("utf8"));
  return `${path.split("/").slice(-3).join("/")}\n${texts.join("\n")}`;
}
