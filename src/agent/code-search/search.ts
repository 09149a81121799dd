// Code search: finds the places in a folder's files that answer a question in words.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CodeIndex } from "../../store/code-index/code-index.ts";
import { type Chunk, cutIntoChunks, withoutImports } from "./chunks.ts";
import { type Concept, conceptsOf } from "./question.ts";
import { combineScores, rankFiles } from "./rank.ts";
import { createScanner, type Scanner } from "./scanner.ts";
import { maxBytes, type Update, updateIndex } from "./update.ts";

/** A file with its best matching chunks, in file order. */
export type CodeHit = { path: string; score: number; chunks: Chunk[]; bytes: Uint8Array };

export type CodeSearchOptions = {
  /** The maximum number of files to return; 8 by default. */
  most?: number;
  isWanted?(path: string): boolean;
  /** Returns the present bytes of a file; undefined if it may not be read. */
  read?(path: string): Promise<Uint8Array | undefined>;
};

export interface CodeSearch {
  update(paths: readonly string[], signal: AbortSignal): Promise<Update>;
  find(question: string, options?: CodeSearchOptions): Promise<CodeHit[]>;
}

/** How many more files are read than requested, since reading their chunks may change the ranking. */
const spare = 6;

export function createSearch({ index, folder }: { index: CodeIndex; folder: string }): CodeSearch {
  const readHere = async (path: string) => readFileSync(join(folder, path)).subarray(0, maxBytes);
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
        const scored = bestChunks(bytes, path);
        const [best, second] = withoutImports(scored, bytes);
        if (!best) continue;
        const isNear = second !== undefined && second.score > best.score * 0.85 && second.score > 0;
        const shown = (isNear ? [best, second] : [best]).sort((left, right) => left.startLine - right.startLine);
        hits.push({ path, score, chunks: shown, bytes, local: scored[0]!.score });
      }
      return sortHits(hits).slice(0, most);
    },
  };
}

const chunkShare = 0.5;

/** Combines the score of the file with the score of its best chunk. */
function sortHits(hits: readonly (CodeHit & { local: number })[]): CodeHit[] {
  const highest = Math.max(...hits.map((hit) => hit.score), Number.MIN_VALUE);
  const nearest = Math.max(...hits.map((hit) => hit.local), Number.MIN_VALUE);
  return hits
    .map(({ local, ...hit }) => ({ ...hit, score: hit.score / highest + chunkShare * (local / nearest) }))
    .sort((left, right) => right.score - left.score);
}

type ScoredChunk = Chunk & { score: number };

/** Indexed by term number: the concepts that the term expresses, and its weight for each. */
type WantedTerms = { concept: number; value: number }[][];

/** Returns a function that scores the chunks of a file by concept, best first. `worth` is the weight of each indexed term. */
function createChunkScorer(
  scanner: Scanner,
  concepts: readonly Concept[],
  worth: ReadonlyMap<string, number>,
): (bytes: Uint8Array, path: string) => ScoredChunk[] {
  let wanted = wantedTerms(scanner, concepts, worth);
  const parts = new Float64Array(concepts.length);
  const scoreOf = (bytes: Uint8Array, path: string, chunk: Chunk): number => {
    const startsAnew = scanner.isFull;
    const counted = scanner.scan(bytes, path, chunk);
    if (startsAnew) wanted = wantedTerms(scanner, concepts, worth);
    parts.fill(0);
    for (const { id, symbols, comments, body } of counted) {
      const times = 2 * symbols + 1.5 * comments + body;
      for (const { concept, value } of wanted[id] ?? [])
        parts[concept] = Math.max(parts[concept]!, value * (times / (times + 1.2)));
    }
    return combineScores(parts, 0.5);
  };
  return (bytes, path) =>
    cutIntoChunks(bytes, path)
      .map((chunk) => ({ ...chunk, score: scoreOf(bytes, path, chunk) }))
      .sort((left, right) => right.score - left.score || left.startLine - right.startLine);
}

function wantedTerms(scanner: Scanner, concepts: readonly Concept[], worth: ReadonlyMap<string, number>): WantedTerms {
  const wanted: WantedTerms = [];
  for (const [concept, { terms }] of concepts.entries()) {
    for (const [text, weight] of terms) {
      const value = weight * (worth.get(text) ?? 0);
      if (value > 0) (wanted[scanner.term(text).id] ??= []).push({ concept, value });
    }
  }
  return wanted;
}
