// The model's answer while it streams: returns Markdown blocks once they are closed, and renders the open one as it grows.
import { type Painted, wholeLines } from "../painted.ts";
import { codeBlock, codeLines } from "./code.ts";
import { fenceLanguage, type MarkdownStyle, markdownLines, plainLines } from "./markdown.ts";
import type { Token } from "./rendering.ts";

/** `follows` is true if the block is the next item of the list in the previous block. */
export type ClosedBlock = { text: string; follows: boolean };

export interface AnswerBlock {
  add(text: string): void;
  /** Returns blocks that further text cannot change. Needs `style.rendering`. */
  takeClosed(style: MarkdownStyle): ClosedBlock[];
  takeRest(): ClosedBlock | undefined;
  /** Renders the last lines of the block that is still being written. */
  live(width: number, most: number, style: MarkdownStyle): Painted[];
  /** Whether the open block continues the list that was returned last. */
  readonly follows: boolean;
  readonly isEmpty: boolean;
}

const openingFence = /^\s*?( {0,3})(`{3,}|~{3,})([^\n]*)/;

export function createAnswer(): AnswerBlock {
  let open = "";
  /** The item marker of the list returned last; undefined if it was not a list. */
  let listMark: string | undefined;
  /** The length at the last check: no block closes without another line. */
  let lookedAt = -1;

  function takeText(length: number): string {
    const text = open.slice(0, length);
    open = open.slice(length);
    return text;
  }

  return {
    add(text) {
      open += text.replace(/\r\n?/g, "\n");
    },
    takeClosed({ rendering }) {
      if (!rendering || isOpenFence(open) || lookedAt === open.lastIndexOf("\n")) return [];
      lookedAt = open.lastIndexOf("\n");
      const tokens = rendering.markdownTokens(open);
      if (!tokens || tokens.reduce((sum, token) => sum + token.raw.length, 0) !== open.length) return [];
      const closed: ClosedBlock[] = [];
      for (const { length, isItem } of closedLengths(tokens)) {
        const text = takeText(length);
        if (text.trim() === "") continue;
        const mark = isItem ? markOf(text) : undefined;
        closed.push({ text, follows: mark !== undefined && mark === listMark });
        listMark = mark;
      }
      if (closed.length > 0) lookedAt = -1;
      return closed;
    },
    takeRest() {
      const text = takeText(open.length);
      lookedAt = -1;
      const follows = listMark !== undefined && markOf(text) === listMark;
      listMark = undefined;
      return text.trim() === "" ? undefined : { text, follows };
    },
    live(width, most, style) {
      if (open.trim() === "") return [];
      if (isOpenFence(open)) {
        // Highlight only the visible end, although its colours may depend on lines further up.
        const [fence, , , language = ""] = openingFence.exec(open)!;
        const all = wholeLines(open.slice(fence.length + 1));
        const name = fenceLanguage(language);
        const block = codeBlock(codeLines(all.slice(-most).join("\n"), name, style), name, style.palette);
        // The block has no end yet, and its beginning may be above the visible lines.
        return block.slice(all.length > most - 1 ? 1 : 0, -1);
      }
      return markdownLines(open, width, style).slice(-most);
    },
    get follows() {
      return listMark !== undefined && markOf(open) === listMark;
    },
    get isEmpty() {
      return open.trim() === "";
    },
  };
}

/** Returns the item marker, which is the same for all items of one list. */
function markOf(text: string): string | undefined {
  return /^\s*(?:\d{1,9})?([-*+.)])\s/.exec(text)?.[1];
}

/** Returns whether a text is a code block whose closing fence is missing. */
function isOpenFence(text: string): boolean {
  const fence = openingFence.exec(text)?.[2];
  if (fence === undefined || !text.trimStart().includes("\n")) return fence !== undefined;
  const rest = text.slice(text.indexOf(fence) + fence.length);
  return !new RegExp(`\\n {0,3}${fence[0]}{${fence.length},}[ \\t]*(\\n|$)`).test(rest);
}

const endsWithBlankLine = new Set(["paragraph", "table", "blockquote", "html", "text", "code"]);

/** The lengths of the closed tokens from the start; each item of a list is separate. */
function closedLengths(tokens: readonly Token[]): { length: number; isItem: boolean }[] {
  const lengths: { length: number; isItem: boolean }[] = [];
  const last = tokens.findLastIndex((token) => token.type !== "space");
  for (const [index, token] of tokens.entries()) {
    const isLast = index >= last;
    if (token.type === "list") {
      const items = token.items as { raw: string }[];
      const closed = isLast ? items.slice(0, -1) : items;
      for (const item of closed) lengths.push({ length: item.raw.length, isItem: true });
      // The line break after the last item is part of the list.
      const rest = token.raw.length - items.reduce((sum, item) => sum + item.raw.length, 0);
      if (isLast) return lengths;
      if (rest > 0) lengths.push({ length: rest, isItem: true });
      continue;
    }
    if (isLast && token.type !== "space" && !isClosed(token, tokens[index + 1])) return lengths;
    lengths.push({ length: token.raw.length, isItem: false });
  }
  return lengths;
}

function isClosed(token: Token, next: Token | undefined): boolean {
  if (token.type === "heading" || token.type === "hr") return token.raw.endsWith("\n");
  if (token.type === "code" && openingFence.test(token.raw)) return !isOpenFence(token.raw);
  return endsWithBlankLine.has(token.type) && (/\n\n$/.test(token.raw) || next?.raw.includes("\n\n") === true);
}

/** Renders a closed block. Markup without content is shown as written. */
export function closedLines({ text }: ClosedBlock, width: number, style: MarkdownStyle): Painted[] {
  const lines = markdownLines(text, width, style);
  return lines.every((line) => line === "") ? plainLines(text, width, style.palette) : lines;
}
