// Parses Markdown into tokens, unless that would be slow. HTML is treated as text, and so are invisible link definitions.
import { lexer, type Token, Tokenizer } from "marked";
import { tryOr } from "../text/try-or.ts";

export type { Token };

const maxMarkdown = 50_000;

const tokenizer = Object.assign(new Tokenizer(), {
  html: () => undefined,
  tag: () => undefined,
  def: () => undefined,
  reflink: () => undefined,
});

/** Parses Markdown. Returns undefined if the text should be shown unchanged. */
export function markdownTokens(text: string): Token[] | undefined {
  if (text.length > maxMarkdown || text.split(/\n\s*\n/).some(isSlow)) return undefined;
  return tryOr(() => lexer(text, { gfm: true, tokenizer }), undefined); // the text is nested too deeply
}

/** Unclosed marks take quadratic time, and so do nested quotes, nested lists and what looks like HTML. Real text has fewer. */
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
