// The large modules for rendering text: the Markdown lexer, the highlighter, the differ. Loaded after the first paint.
import { codePieces } from "../../view/code-pieces.ts";
import { markdownTokens } from "../../view/markdown-tokens.ts";
import { wordChanges } from "../../view/word-changes.ts";

export type { Token } from "../../view/markdown-tokens.ts";
export type { Words } from "../../view/word-changes.ts";
export { codePieces, markdownTokens, wordChanges };

export type Rendering = {
  markdownTokens: typeof markdownTokens;
  codePieces: typeof codePieces;
  wordChanges: typeof wordChanges;
};
