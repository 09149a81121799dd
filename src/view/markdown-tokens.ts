// Markdown as tokens, where it is worth the wait. HTML is text, and so is what would define a link without showing it.
import { lexer, type Token, Tokenizer } from "marked";

export type { Token };

const mostMarkdown = 50_000;

const tokenizer = Object.assign(new Tokenizer(), {
  html: () => undefined,
  tag: () => undefined,
  def: () => undefined,
  reflink: () => undefined,
});

/** Undefined: it is to be shown as it is. */
export function markdownTokens(text: string): Token[] | undefined {
  if (text.length > mostMarkdown || text.split(/\n\s*\n/).some(isSlow)) return undefined;
  try {
    return lexer(text, { gfm: true, tokenizer });
  } catch {
    return undefined; // nested deeper than anybody reads
  }
}

/**
 * Marks that are never closed take the square of their number; quotes in quotes, lists in lists and what looks like HTML as well:
 * nobody writes so many.
 */
function isSlow(paragraph: string): boolean {
  return (
    countOf(paragraph, /[*_~]/g) > 2000 ||
    countOf(paragraph, /^ {0,3}<[!?/a-z]/gim) > 300 ||
    /(?:> ?|(?:[-*+]|\d{1,9}[.)])[ \t]+){60}/.test(paragraph)
  );
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
