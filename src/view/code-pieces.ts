// Splits code into highlighted pieces. The highlighter is large, so this is loaded only when code is shown.
import Prism from "prismjs";
import type { CodePiece } from "./code-piece.ts";
import "./languages.ts";

/** Code with more characters is not highlighted, nor is code with long words, which take quadratic time. */
const maxCode = 100_000;
const longWord = /[\w$]{500}/;

/** Splits code into pieces for highlighting, line by line. */
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
  if (!grammar || typeof grammar === "function" || code.length > maxCode || longWord.test(code)) add(code, undefined);
  else walk(Prism.tokenize(code, grammar), undefined);
  return lines;
}

/** Alternative names of languages, as used by models and file names. */
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
