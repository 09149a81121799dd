// The part of a file that answers a question best.
import { type Chunk, cutIntoChunks } from "./chunks.ts";
import type { Concept } from "./question.ts";
import { combined } from "./rank.ts";
import type { Scanner } from "./scanner.ts";

type ScoredChunk = Chunk & { score: number };

/** Which concepts a term speaks for, by the term's number, and what it is worth to each. */
type WantedTerms = { concept: number; value: number }[][];

/** Gives the chunks of a file, best first. Scores are what the concepts of the question are worth in each. `worth`: of each term that is in the index, how much it tells. */
export function createChunkScorer(
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
    return combined(parts, 0.5);
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
