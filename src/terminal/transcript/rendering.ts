// The heavy parts of showing text: the Markdown lexer, the highlighter, the differ. Loaded after the first paint.
import { diffWordsWithSpace } from "diff";
import { lexer, type Token } from "marked";
import Prism from "prismjs";
import "./languages.ts";

export type { Token };

/** Text and what it is, as the highlighter calls it. */
export type CodePiece = { text: string; kind?: string };

/** Longer texts are not worth the wait. */
const mostCode = 100_000;
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

/** The code in lines of pieces. */
export function codePieces(code: string, language: string): CodePiece[][] {
  const grammar = Prism.languages[aliases[language] ?? language];
  const lines: CodePiece[][] = [[]];
  const add = (text: string, kind: string | undefined) => {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)!.push({ text: part, ...(kind !== undefined && { kind }) });
    }
  };
  const walk = (tokens: Prism.TokenStream, kind: string | undefined): void => {
    if (typeof tokens === "string") add(tokens, kind);
    else if (Array.isArray(tokens)) for (const each of tokens) walk(each, kind);
    else walk(tokens.content, tokens.type);
  };
  if (!grammar || typeof grammar === "function" || code.length > mostCode) add(code, undefined);
  else walk(Prism.tokenize(code, grammar), undefined);
  return lines;
}

/** Names that models and files use for the same. */
const aliases: Record<string, string> = {
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  mjs: "javascript",
  cjs: "javascript",
  js: "javascript",
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  py: "python",
  rs: "rust",
  rb: "ruby",
  yml: "yaml",
  md: "markdown",
  html: "markup",
  xml: "markup",
  svg: "markup",
  vue: "markup",
  dockerfile: "docker",
  kt: "kotlin",
  cs: "csharp",
  h: "c",
  hpp: "cpp",
  cc: "cpp",
  jsonc: "json",
  json5: "json",
  golang: "go",
};

/** What a changed line has in common with the one it replaces, and what not. Undefined: less than half. */
export function wordChanges(before: string, after: string): { before: Words; after: Words } | undefined {
  if (before.length + after.length > 2000) return undefined;
  const parts = diffWordsWithSpace(before, after);
  const common = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0);
  if (common * 2 < Math.max(before.trim().length, after.trim().length)) return undefined;
  return {
    before: parts.filter((part) => !part.added).map((part) => ({ text: part.value, isChanged: part.removed === true })),
    after: parts.filter((part) => !part.removed).map((part) => ({ text: part.value, isChanged: part.added === true })),
  };
}

export type Words = { text: string; isChanged: boolean }[];

export type Rendering = {
  markdownTokens: typeof markdownTokens;
  codePieces: typeof codePieces;
  wordChanges: typeof wordChanges;
};
