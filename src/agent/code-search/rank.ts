// Ranks files for a question: each concept counts once per file, by its best
// term, and files that match more concepts win over files that match one well.
import type { CodeIndex, FieldWeights } from "../../store/code-index/code-index.ts";
import type { Concept } from "./question.ts";
import { pathTerms } from "./words.ts";

export type RankedFile = { id: number; path: string; score: number };

const weights: FieldWeights = { path: 4, symbols: 2, comments: 1.2, body: 1 };
/** The bonus for a search term that occurs in the file's name or folder. */
const nameBonus = 2;
const folderBonus = 0.3;
/** The weight of coverage in a file's score: the share of the question's concepts that the file matches. */
const coverage = 0.4;

/** The most rows that a question may read. Rare terms come first, since frequent ones distinguish files least. */
const rowBudget = 3_500;
const maxCandidates = 60;

export type Ranking = {
  files: RankedFile[];
  /** The inverse document frequency of each search term that was found. */
  worth: ReadonlyMap<string, number>;
};

export function rankFiles(
  index: CodeIndex,
  concepts: readonly Concept[],
  { most, isWanted }: { most: number; isWanted(path: string): boolean },
): Ranking {
  const totals = index.totals();
  const worth = new Map<string, number>();
  const found = concepts.flatMap((concept, number) =>
    [...withShortForms(concept, index)].flatMap(([term, weight]) => {
      const frequency = index.frequency(term);
      if (frequency === 0) return [];
      worth.set(term, Math.log(1 + (totals.count - frequency + 0.5) / (frequency + 0.5)));
      return [{ number, term, weight, frequency }];
    }),
  );
  found.sort((left, right) => left.frequency / left.weight - right.frequency / right.weight);

  const scores = new Map<number, Float64Array>();
  let rows = 0;
  for (const { number, term, weight, frequency } of found) {
    if (rows > 0 && rows + frequency > rowBudget) continue;
    rows += frequency;
    for (const [file, score] of index.postings(term, weights)) {
      let parts = scores.get(file);
      if (!parts) {
        parts = new Float64Array(concepts.length);
        scores.set(file, parts);
      }
      parts[number] = Math.max(parts[number]!, score * weight);
    }
  }
  const ranked = [...scores]
    .map(([id, parts]) => ({ id, parts, score: combineScores(parts) }))
    .sort((left, right) => right.score - left.score || left.id - right.id);
  const files: RankedFile[] = [];
  const { averageSize } = totals;
  for (const { id, parts } of ranked) {
    if (files.length >= maxCandidates) break;
    const { path, size } = index.file(id);
    if (!isWanted(path)) continue;
    addNames(parts, path, concepts, worth);
    files.push({ id, path, score: combineScores(parts) * priorOf(path) * focusOf(size, averageSize) });
  }
  files.sort((left, right) => right.score - left.score);
  return { files: files.slice(0, most), worth };
}

/** Adds abbreviations such as config, auth, enum, param: the longest prefix that the index knows counts as well. */
function withShortForms({ terms }: Concept, index: CodeIndex): ReadonlyMap<string, number> {
  for (const [term, weight] of [...terms]) {
    if (weight < 1 || term.length < 6) continue;
    for (let length = Math.min(term.length - 1, longestShortForm); length >= shortestShortForm; length--) {
      const short = term.slice(0, length);
      if (terms.has(short)) break;
      if (index.frequency(short) === 0) continue;
      terms.set(short, shortFormWeight);
      break;
    }
  }
  return terms;
}

const longestShortForm = 7;
const shortestShortForm = 4;
const shortFormWeight = 0.5;

/** Adds a bonus for terms in the path, since a name is chosen to say what a file is about. */
function addNames(
  parts: Float64Array,
  path: string,
  concepts: readonly Concept[],
  worth: ReadonlyMap<string, number>,
): void {
  const { name, folders } = pathTerms(path);
  for (const [number, { terms }] of concepts.entries()) {
    let best = 0;
    for (const [term, weight] of terms) {
      const factor = name.has(term) ? nameBonus : folders.has(term) ? folderBonus : 0;
      best = Math.max(best, factor * weight * (worth.get(term) ?? 0));
    }
    parts[number]! += best;
  }
}

/** Sums the scores of the concepts; `share` of the sum depends on how many of them match. */
export function combineScores(parts: Float64Array, share = coverage): number {
  let sum = 0;
  let knownWeight = 0;
  for (const part of parts) {
    sum += part;
    if (part > 0) knownWeight += 1;
  }
  return sum * (1 - share + share * (knownWeight / parts.length));
}

/** Favours short files, since a long file matches a little of everything. */
function focusOf(size: number, average: number): number {
  return average === 0 ? 1 : (Math.max(size, smallest) / average) ** -focus;
}

const focus = 0.2;
const smallest = 200;

/** A question about how something is done wants the code, before its tests, its declarations and changelogs. */
const priors: readonly [pattern: RegExp, factor: number][] = [
  [/(?:^|\/)(?:__tests__|tests?|specs?|fixtures?|__mocks__)\/|[._-](?:test|spec)\.\w+$/i, 0.7],
  [/\.d\.[cm]?ts$/, 0.8],
  [/(?:^|\/)(?:CHANGELOG|HISTORY|LICENSE)[^/]*$/i, 0.5],
];

function priorOf(path: string): number {
  return priors.reduce((factor, [pattern, each]) => (pattern.test(path) ? factor * each : factor), 1);
}
