// The place in a long text where the words stand that were searched for.
import { collapsed } from "../../text/one-line.ts";

const before = 40;
const length = 160;
/** So many places are looked at: a common word has thousands. */
const mostMatches = 500;

export function snippetOf(text: string, words: readonly string[]): string {
  const matches = matchesOf(text, words, { wholeWords: true });
  const best = bestMatch(matches.length > 0 ? matches : matchesOf(text, words, { wholeWords: false }));
  const start = best === undefined ? 0 : wordStart(text, Math.max(0, best - before));
  const end = start + length;
  const cut = collapsed(text.slice(start, end));
  return `${start > 0 ? "… " : ""}${cut}${end < text.length ? " …" : ""}`;
}

type WordMatch = { at: number; word: string };

/** A word inside a longer one counts where none stands alone. */
function matchesOf(text: string, words: readonly string[], { wholeWords }: { wholeWords: boolean }): WordMatch[] {
  const alternatives = words.map(patternOf).join("|");
  const pattern = new RegExp(`${wholeWords ? "(?<![\\p{L}\\p{N}])" : ""}(?:${alternatives})`, "giu");
  const matches: WordMatch[] = [];
  for (const match of text.matchAll(pattern)) {
    matches.push({ at: match.index, word: match[0].toLowerCase() });
    if (matches.length === mostMatches) break;
  }
  return matches;
}

/** What is not a letter or digit separates words for the index, whatever it is. */
function patternOf(word: string): string {
  const parts = word.match(/[\p{L}\p{N}\p{M}]+/gu);
  if (parts) return parts.join("[^\\p{L}\\p{N}]+");
  return word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** Where most different words follow within one snippet. */
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
