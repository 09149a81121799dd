// Finds the passage of a long text that best matches the search words.
import { collapsed } from "../../text/one-line.ts";

const before = 40;
const length = 160;
/** The most matches to consider, since a common word has thousands. */
const maxMatches = 500;

export function snippetOf(text: string, words: readonly string[]): string {
  const matches = matchesOf(text, words, { wholeWords: true });
  const best = bestMatch(matches.length > 0 ? matches : matchesOf(text, words, { wholeWords: false }));
  const start = best === undefined ? 0 : wordStart(text, Math.max(0, best - before));
  const end = start + length;
  const cut = collapsed(text.slice(start, end));
  return `${start > 0 ? "… " : ""}${cut}${end < text.length ? " …" : ""}`;
}

type WordMatch = { at: number; word: string };

/** Matches inside longer words are used only if there are no whole-word matches. */
function matchesOf(text: string, words: readonly string[], { wholeWords }: { wholeWords: boolean }): WordMatch[] {
  const alternatives = words.map(wordPattern).join("|");
  const pattern = new RegExp(`${wholeWords ? "(?<![\\p{L}\\p{N}])" : ""}(?:${alternatives})`, "giu");
  const matches: WordMatch[] = [];
  for (const match of text.matchAll(pattern)) {
    matches.push({ at: match.index, word: match[0].toLowerCase() });
    if (matches.length === maxMatches) break;
  }
  return matches;
}

/** Returns a pattern that matches a word as the index does: only letters and digits are part of words. */
function wordPattern(word: string): string {
  const parts = word.match(/[\p{L}\p{N}\p{M}]+/gu);
  if (parts) return parts.join("[^\\p{L}\\p{N}]+");
  return word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** Returns the position from which one snippet contains the largest number of distinct search words. */
function bestMatch(matches: readonly WordMatch[]): number | undefined {
  let best: { at: number; count: number } | undefined;
  for (const [index, { at }] of matches.entries()) {
    const near = new Set<string>();
    for (let next = index; next < matches.length && matches[next]!.at < at + length - before; next++)
      near.add(matches[next]!.word);
    if (near.size > (best?.count ?? 0)) best = { at, count: near.size };
  }
  return best?.at;
}

function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  const blank = text.slice(at, at + 20).search(/\s/);
  return blank < 0 ? at : at + blank + 1;
}
