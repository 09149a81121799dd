// Finds the lines of a file that most resemble a text that is not in it, to show the model after a failed edit.

/** `line` counts from 1. `lines` are as they are in the file, at most six. */
type Nearest = { line: number; lines: string[]; differs: "indentation" | "text" };

const maxLinesCompared = 20_000;
const maxLinesShown = 6;

export function findNearest(file: readonly string[], wanted: readonly string[]): Nearest | undefined {
  const trimmed = file.slice(0, maxLinesCompared).map((line) => line.trim());
  const parts = withoutBlankEnds(wanted.map((line) => line.trim()));
  if (parts.length === 0) return undefined;

  const linesAt = (at: number) => file.slice(at, at + Math.min(parts.length, maxLinesShown));
  const exact = trimmed.findIndex((_, at) => parts.every((part, index) => trimmed[at + index] === part));
  if (exact !== -1) return { line: exact + 1, lines: linesAt(exact), differs: "indentation" };

  const anchored = bestWindow(trimmed, parts) ?? maxSimilar(trimmed, parts);
  return anchored === undefined ? undefined : { line: anchored + 1, lines: linesAt(anchored), differs: "text" };
}

/** Returns the start of the window with the most equal lines; undefined when less than a third are equal. */
function bestWindow(file: readonly string[], parts: readonly string[]): number | undefined {
  const hits = new Map<number, number>();
  for (const [index, part] of parts.entries()) {
    if (part.length < 3) continue;
    for (let at = file.indexOf(part); at !== -1; at = file.indexOf(part, at + 1)) {
      const start = Math.max(0, at - index);
      hits.set(start, (hits.get(start) ?? 0) + 1);
    }
  }
  let best: number | undefined;
  for (const [start, count] of hits) if (best === undefined || count > hits.get(best)!) best = start;
  return best !== undefined && hits.get(best)! * 3 >= parts.length ? best : undefined;
}

function maxSimilar(file: readonly string[], parts: readonly string[]): number | undefined {
  const index = parts.findIndex((part) => part.length >= 3);
  if (index === -1) return undefined;
  const pairs = pairsOf(parts[index]!);
  let best: number | undefined;
  let bestScore = 0.5;
  for (const [at, line] of file.entries()) {
    const score = similarity(pairs, pairsOf(line));
    if (score > bestScore) [best, bestScore] = [at, score];
  }
  return best === undefined ? undefined : Math.max(0, best - index);
}

/** Computes Dice's coefficient of the pairs of neighbouring characters. */
function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const pair of one) if (other.has(pair)) common += 1;
  return (2 * common) / (one.size + other.size || 1);
}

function pairsOf(line: string): Set<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < Math.min(line.length, 400); at += 1) pairs.add(line.slice(at, at + 2));
  return pairs;
}

function withoutBlankEnds(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line !== "");
  const last = lines.findLastIndex((line) => line !== "");
  return first === -1 ? [] : lines.slice(first, last + 1);
}
