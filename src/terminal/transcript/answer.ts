// What the model says, as it comes: Markdown blocks are given out when they are closed, the open one is shown as it grows.
import { type Painted, wholeLines } from "../painted.ts";
import { codeBlock, codeLines } from "./code.ts";
import { languageOf, type MarkdownStyle, markdownLines, plainLines } from "./markdown.ts";
import type { Token } from "./rendering.ts";

/** `follows`: the next item of the list that the block before belongs to. */
export type ClosedBlock = { text: string; follows: boolean };

export interface Answer {
  add(text: string): void;
  /** Blocks that no more text can change. Needs the parts that are loaded later. */
  takeClosed(style: MarkdownStyle): ClosedBlock[];
  /** All that is left, in one. */
  takeRest(): ClosedBlock | undefined;
  /** The last lines of what is open. */
  live(width: number, most: number, style: MarkdownStyle): Painted[];
  /** The open block continues the list that was given out last. */
  readonly follows: boolean;
  readonly isEmpty: boolean;
}

const openingFence = /^\s*?( {0,3})(`{3,}|~{3,})([^\n]*)/;

export function createAnswer(): Answer {
  let open = "";
  /** What the items of the list are marked with that was given out last; undefined: it was not a list. */
  let listMark: string | undefined;
  /** Length at the last look: without a further line nothing closes. */
  let lookedAt = -1;

  function take(length: number): string {
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
        const text = take(length);
        if (text.trim() === "") continue;
        const mark = isItem ? markOf(text) : undefined;
        closed.push({ text, follows: mark !== undefined && mark === listMark });
        listMark = mark;
      }
      if (closed.length > 0) lookedAt = -1;
      return closed;
    },
    takeRest() {
      const text = take(open.length);
      lookedAt = -1;
      const follows = listMark !== undefined && markOf(text) === listMark;
      listMark = undefined;
      return text.trim() === "" ? undefined : { text, follows };
    },
    live(width, most, style) {
      if (open.trim() === "") return [];
      if (isOpenFence(open)) {
        // Only the end can be seen; colours may miss what began further up.
        const [fence, , , language = ""] = openingFence.exec(open)!;
        const all = wholeLines(open.slice(fence.length + 1));
        const name = languageOf(language);
        const block = codeBlock(codeLines(all.slice(-most).join("\n"), name, style), name, style.palette);
        // Its end has not come; its beginning may be above what is shown.
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

/** Items of one list have the same mark. */
function markOf(text: string): string | undefined {
  return /^\s*(?:\d{1,9})?([-*+.)])\s/.exec(text)?.[1];
}

/** The text is a code block whose end has not come. */
function isOpenFence(text: string): boolean {
  const fence = openingFence.exec(text)?.[2];
  if (fence === undefined || !text.trimStart().includes("\n")) return fence !== undefined;
  const rest = text.slice(text.indexOf(fence) + fence.length);
  return !new RegExp(`\\n {0,3}${fence[0]}{${fence.length},}[ \\t]*(\\n|$)`).test(rest);
}

const endsWithBlankLine = new Set(["paragraph", "table", "blockquote", "html", "text", "code"]);

/** Of the tokens that are closed, from the beginning; a list gives its items one by one. */
function closedLengths(tokens: readonly Token[]): { length: number; isItem: boolean }[] {
  const lengths: { length: number; isItem: boolean }[] = [];
  for (const [index, token] of tokens.entries()) {
    const isLast = !tokens.slice(index + 1).some((each) => each.type !== "space");
    if (token.type === "list") {
      const items = token.items as { raw: string }[];
      const closed = isLast ? items.slice(0, -1) : items;
      for (const item of closed) lengths.push({ length: item.raw.length, isItem: true });
      // The line break behind the last item is the list's own.
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

/** A closed block as lines. Marks around nothing are shown as they were written. */
export function closedLines({ text }: ClosedBlock, width: number, style: MarkdownStyle): Painted[] {
  const lines = markdownLines(text, width, style);
  return lines.every((line) => line === "") ? plainLines(text, width, style.palette) : lines;
}
