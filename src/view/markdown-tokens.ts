// Markdown as tokens, where it is worth the wait.
import { lexer, type Token } from "marked";

export type { Token };

const mostMarkdown = 50_000;

/** Undefined: it is to be shown as it is. */
export function markdownTokens(text: string): Token[] | undefined {
  if (text.length > mostMarkdown || text.split(/\n\s*\n/).some(isSlow)) return undefined;
  try {
    return lexer(text, { gfm: true });
  } catch {
    return undefined; // nested deeper than anybody reads
  }
}

/** Marks that are never closed take the square of their number, and quotes in quotes as well: nobody writes so many. */
function isSlow(paragraph: string): boolean {
  return (paragraph.match(/[*_~]/g)?.length ?? 0) > 2000 || /(?:> ?){100}/.test(paragraph);
}
