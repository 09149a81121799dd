// Code search: a question in words, and the places in a folder's files that answer it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CodeIndex } from "../../store/code-index/code-index.ts";
import { createChunkScorer } from "./best-chunks.ts";
import type { Chunk } from "./chunks.ts";
import { conceptsOf } from "./question.ts";
import { rankFiles } from "./rank.ts";
import { createScanner, type Scanner } from "./scanner.ts";
import { mostBytes, type Update, updateIndex } from "./update.ts";

/** A file, with the chunks of it that answer best, in the order of the file. */
export type CodeHit = { path: string; score: number; chunks: Chunk[]; bytes: Uint8Array };

export type CodeSearchOptions = {
  /** Files; default 8. */
  most?: number;
  isWanted?(path: string): boolean;
  /** The bytes of a file as it is now; undefined: it is not to be read. */
  read?(path: string): Promise<Uint8Array | undefined>;
};

export interface CodeSearch {
  update(paths: readonly string[], signal: AbortSignal): Promise<Update>;
  find(question: string, options?: CodeSearchOptions): Promise<CodeHit[]>;
}

/** So many more files are read than are wanted: their chunks decide about the order. */
const spare = 6;

export function createSearch({ index, folder }: { index: CodeIndex; folder: string }): CodeSearch {
  const readHere = async (path: string) => readFileSync(join(folder, path)).subarray(0, mostBytes);
  let scanner: Scanner | undefined;
  return {
    update: (paths, signal) => updateIndex(index, folder, paths, signal),
    async find(question, { most = 8, isWanted = () => true, read = readHere } = {}) {
      const concepts = conceptsOf(question);
      const { files, worth } = rankFiles(index, concepts, { most: most + spare, isWanted });
      if (concepts.length === 0) return [];
      scanner ??= createScanner();
      const bestChunks = createChunkScorer(scanner, concepts, worth);
      const hits: (CodeHit & { local: number })[] = [];
      for (const { path, score } of files) {
        const bytes = await read(path);
        if (!bytes) continue;
        const chunks = bestChunks(bytes, path);
        const [best, second] = chunks;
        if (!best) continue;
        const isNear = second !== undefined && second.score > best.score * 0.85 && second.score > 0;
        const shown = (isNear ? [best, second] : [best]).sort((left, right) => left.startLine - right.startLine);
        hits.push({ path, score, chunks: shown, bytes, local: best.score });
      }
      return ordered(hits).slice(0, most);
    },
  };
}

const chunkShare = 0.5;

/** What stands together in one chunk counts beside what stands anywhere in the file. */
function ordered(hits: readonly (CodeHit & { local: number })[]): CodeHit[] {
  const highest = Math.max(...hits.map((hit) => hit.score), Number.MIN_VALUE);
  const nearest = Math.max(...hits.map((hit) => hit.local), Number.MIN_VALUE);
  return hits
    .map(({ local, ...hit }) => ({ ...hit, score: hit.score / highest + chunkShare * (local / nearest) }))
    .sort((left, right) => right.score - left.score);
}
