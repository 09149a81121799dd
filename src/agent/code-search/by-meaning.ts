// Search by meaning: embeds the chunks of all indexed files with the user's embedding endpoint, stores the vectors in the index, and
// finds the files nearest to a question.
import { createHash } from "node:crypto";
import { holdsSecrets } from "../../redact/secret-files.ts";
import type { CodeIndex } from "../../store/code-index/code-index.ts";
import { type Chunk, cutIntoChunks } from "./chunks.ts";
import { dotProduct, type EmbeddingCall, embed } from "./embeddings.ts";

export type MeaningSearch = EmbeddingCall & {
  index: CodeIndex;
  isWanted(path: string): boolean;
  /** Returns the present bytes of a file; undefined if it may not be read. */
  read(path: string): Promise<Uint8Array | undefined>;
  progress?(line: string): void;
};

export type NearFile = { path: string; chunk: Chunk; nearness: number };

const textsPerRequest = 64;
const maxCharacters = 4_000;
/** The maximum number of embedded chunks. In a larger workspace, the remaining files are searched by words only. */
const maxChunks = 20_000;
/** The first search of a large workspace answers with what it has by then; the next one continues. */
const maxEmbeddingMs = 60_000;

/** Brings the vectors up to date. Returns how many files still have none. */
export async function embedFiles(search: MeaningSearch): Promise<number> {
  const { index, endpoint, progress } = search;
  const embedder = createHash("sha256").update(`${endpoint.url}\0${endpoint.model}`).digest("base64");
  const waiting = index.withoutVectors(embedder).filter(({ path }) => !holdsSecrets(path));
  const until = performance.now() + maxEmbeddingMs;
  let done = 0;
  while (done < waiting.length && index.chunkCount() < maxChunks && performance.now() < until) {
    search.signal.throwIfAborted();
    done += await embedSome(search, waiting.slice(done), embedder);
    if (waiting.length > textsPerRequest) progress?.(`${done} of ${waiting.length} files are embedded.\n`);
  }
  index.transact(() => index.dropUnusedVectors());
  return waiting.length - done;
}

type FileChunk = Chunk & { key: string; text: string };

/** Embeds the files whose new chunks fit into one request. Returns how many. */
async function embedSome(
  search: MeaningSearch,
  waiting: readonly { id: number; path: string }[],
  embedder: string,
): Promise<number> {
  const { index, read } = search;
  const files: { id: number; chunks: FileChunk[] }[] = [];
  const texts = new Map<string, string>();
  for (const { id, path } of waiting) {
    if (texts.size >= textsPerRequest) break;
    const bytes = await read(path);
    const chunks = bytes ? splitIntoChunks(bytes, path, embedder) : [];
    files.push({ id, chunks });
    for (const { key, text } of chunks) if (!index.hasVector(key)) texts.set(key, text);
  }
  const keys = [...texts.keys()];
  for (let at = 0; at < keys.length; at += textsPerRequest) {
    const some = keys.slice(at, at + textsPerRequest);
    const vectors = await embed(
      some.map((key) => texts.get(key)!),
      search,
    );
    index.transact(() => {
      for (const [number, key] of some.entries()) index.keepVector(key, vectors[number]!);
    });
  }
  index.transact(() => {
    for (const { id, chunks } of files) index.putChunks(id, embedder, chunks);
  });
  return files.length;
}

/** Splits a file into chunks to embed, each with the end of the path, which often says what the file is about. */
function splitIntoChunks(bytes: Uint8Array, path: string, embedder: string): FileChunk[] {
  const name = path.split("/").slice(-3).join("/");
  return cutIntoChunks(bytes, path).map((chunk) => {
    const body = Buffer.from(bytes.subarray(chunk.from, chunk.to)).toString("utf8");
    const text = `${name}\n${body}`.slice(0, maxCharacters);
    return { ...chunk, text, key: createHash("sha256").update(`${embedder}\0${text}`).digest("base64") };
  });
}

/** Returns the nearest files with their best chunk, nearest first. */
export async function nearestFiles(question: string, most: number, search: MeaningSearch): Promise<NearFile[]> {
  const [wanted] = await embed([question.slice(0, maxCharacters)], search);
  const best = new Map<string, NearFile>();
  for (const { path, vector, ...chunk } of search.index.chunkVectors()) {
    const nearness = dotProduct(wanted!, vector);
    if (nearness > (best.get(path)?.nearness ?? 0) && search.isWanted(path)) best.set(path, { path, chunk, nearness });
  }
  return [...best.values()].sort((left, right) => right.nearness - left.nearness).slice(0, most);
}
