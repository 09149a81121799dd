// Renders Markdown: bold headings, highlighted code, links with their address, tables in columns.
import type { Tokens } from "marked";
import { decodeEntities } from "../../view/entities.ts";
import {
  blanks,
  type Colour,
  cut,
  join,
  joinAll,
  linesOf,
  nothing,
  type Painted,
  type Palette,
  padded,
  widthOf,
  wrap,
} from "../painted.ts";
import { codeBlock, codeLines } from "./code.ts";
import type { Rendering, Token } from "./rendering.ts";

export type MarkdownStyle = { palette: Palette; rendering: Rendering | undefined };

export function markdownLines(text: string, width: number, style: MarkdownStyle): Painted[] {
  const tokens = style.rendering?.markdownTokens(text);
  return tokens ? blockLines(tokens, width, style) : plainLines(text, width, style.palette);
}

export function plainLines(text: string, width: number, { plain }: Palette): Painted[] {
  return linesOf(text.trim()).flatMap((line) => wrap(plain(line), width));
}

/** Renders blocks with an empty line between them; list items follow each other directly. */
export function blockLines(tokens: readonly Token[], width: number, style: MarkdownStyle): Painted[] {
  const lines: Painted[] = [];
  for (const token of tokens) {
    if (token.type === "space" || token.type === "def") continue;
    const block = linesOfBlock(token, Math.max(8, width), style);
    if (block.length === 0) continue;
    if (lines.length > 0) lines.push(nothing);
    for (const line of block) lines.push(line);
  }
  return lines;
}

type Block<Type extends keyof BlockTypes> = (token: BlockTypes[Type], width: number, style: MarkdownStyle) => Painted[];
type BlockTypes = {
  heading: Tokens.Heading;
  paragraph: Tokens.Paragraph;
  text: Tokens.Text;
  code: Tokens.Code;
  list: Tokens.List;
  blockquote: Tokens.Blockquote;
  table: Tokens.Table;
  hr: Tokens.Hr;
};

const blocks: { [Type in keyof BlockTypes]: Block<Type> } = {
  heading: ({ tokens }, width, style) => inlineLines(tokens, width, style, ["bold"]),
  paragraph: ({ tokens }, width, style) => inlineLines(tokens, width, style),
  text: ({ tokens, text }, width, style) =>
    tokens ? inlineLines(tokens, width, style) : plainLines(decodeEntities(text), width, style.palette),
  code: ({ text, lang }, width, style) =>
    codeBlock(
      codeLines(text, fenceLanguage(lang), style).map((line) => cutCode(line, width - 2)),
      fenceLanguage(lang),
      style.palette,
    ),
  list: listLines,
  blockquote: ({ tokens }, width, style) =>
    blockLines(tokens, width - 2, style).map((line) => join(style.palette.soft("│ "), line)),
  table: tableLines,
  hr: (_, __, { palette }) => [palette.soft("───")],
};

function linesOfBlock(token: Token, width: number, style: MarkdownStyle): Painted[] {
  // biome-ignore lint/suspicious/noExplicitAny: each function takes the token of its own type
  const block = Object.hasOwn(blocks, token.type) ? (blocks[token.type as keyof BlockTypes] as Block<any>) : undefined;
  return block ? block(token as never, width, style) : plainLines(token.raw, width, style.palette);
}

/** Returns the language, the first word after a fence. */
export function fenceLanguage(words: string | undefined): string {
  return (words ?? "")
    .trim()
    .split(/[\s:{,]/)[0]!
    .toLowerCase();
}

/** Code is not wrapped: the terminal continues a long line in the next row. Very long lines are cut. */
function cutCode(line: Painted, width: number): Painted {
  return widthOf(line) > width * 4 ? cut(line, width * 4) : line;
}

function listLines(list: Tokens.List, width: number, style: MarkdownStyle): Painted[] {
  const { palette } = style;
  const first = typeof list.start === "number" ? list.start : 1;
  return list.items.flatMap((item, index) => {
    const mark = list.ordered ? `${first + index}. ` : "• ";
    const box = item.task ? (item.checked ? palette.good("✓ ") : palette.soft("○ ")) : nothing;
    const lead = item.task && !list.ordered ? box : join(palette.soft(mark), box);
    const indent = blanks(widthOf(lead));
    const inner: Painted[] = [];
    // Render the parts of a list item without empty lines between them.
    for (const token of item.tokens)
      if (token.type !== "space" && token.type !== "checkbox")
        for (const line of linesOfBlock(token, Math.max(8, width - widthOf(lead)), style)) inner.push(line);
    if (inner.length === 0) return [lead];
    return inner.map((line, row) => join(row === 0 ? lead : indent, line));
  });
}

function tableLines(table: Tokens.Table, width: number, style: MarkdownStyle): Painted[] {
  const { palette } = style;
  const gap = 2;
  const rows = [table.header, ...table.rows].map((cells, row) =>
    cells.map((cell) => joinAll(inlineParts(cell.tokens, style, row === 0 ? ["bold"] : []).flat())),
  );
  const columns = table.header.length;
  const widths = Array.from({ length: columns }, (_, column) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? nothing)), 3),
  );
  // Shrink the widest column until the table fits or no column can shrink.
  const room = width - gap * (columns - 1);
  while (widths.reduce((sum, each) => sum + each, 0) > room) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= 6) break;
    widths[widest]!--;
  }
  const lines = rows.flatMap((row, index) => {
    const cells = widths.map((wide, column) => wrap(row[column] ?? nothing, wide));
    const height = cells.reduce((most, cell) => Math.max(most, cell.length), 0);
    const tableRows = Array.from({ length: height }, (_, at) =>
      join(
        ...widths.map((wide, column) => {
          const cell = cells[column]![at] ?? nothing;
          const isLast = column === columns - 1;
          const left = wide - widthOf(cell);
          const before =
            table.align[column] === "right" ? left : table.align[column] === "center" ? Math.floor(left / 2) : 0;
          const placed = join(blanks(before), cell);
          return isLast ? placed : join(padded(placed, wide), blanks(gap));
        }),
      ),
    );
    return index === 0
      ? [
          ...tableRows,
          join(...widths.map((wide, column) => palette.soft("─".repeat(wide) + (column === columns - 1 ? "" : "  ")))),
        ]
      : tableRows;
  });
  return lines.map((line) => cut(line, width));
}

function inlineLines(
  tokens: readonly Token[],
  width: number,
  style: MarkdownStyle,
  styles: readonly Colour[] = [],
): Painted[] {
  return inlineParts(tokens, style, styles).flatMap((parts) =>
    wrap(joinAll(parts), width, nothing, { addresses: "whole" }),
  );
}

/** Renders inline text, split into lines at hard breaks. */
function inlineParts(tokens: readonly Token[], style: MarkdownStyle, styles: readonly Colour[]): Painted[][] {
  const lines: Painted[][] = [[]];
  const paint = (text: string, more: readonly Colour[] = []) => {
    // In Markdown, a single line break means a blank.
    const decodedText = decodeEntities(text).replace(/ *\n */g, " ");
    if (decodedText !== "") lines.at(-1)!.push(style.palette.both(...styles, ...more)(decodedText));
  };
  const nest = (inner: readonly Token[] | undefined, more: readonly Colour[]) => {
    for (const [index, parts] of inlineParts(inner ?? [], style, [...styles, ...more]).entries()) {
      if (index > 0) lines.push([]);
      for (const part of parts) lines.at(-1)!.push(part);
    }
  };
  for (const token of tokens) {
    switch (token.type) {
      case "strong":
        nest(token.tokens, ["bold"]);
        break;
      case "em":
        nest(token.tokens, ["italic"]);
        break;
      case "del":
        nest(token.tokens, ["struck"]);
        break;
      case "codespan": {
        // Without colours the backticks stay: nothing else would tell code from words.
        const code = style.palette.type("x") === "x" ? token.raw : token.text;
        lines.at(-1)!.push(style.palette.both(...styles, "type")(code.replaceAll("\n", " ")));
        break;
      }
      case "br":
        lines.push([]);
        break;
      case "link": {
        const address = String(token.href);
        if (token.text === address || `mailto:${token.text}` === address) paint(address, ["underline"]);
        else {
          nest(token.tokens, ["underline"]);
          lines.at(-1)!.push(style.palette.soft(` (${address})`));
        }
        break;
      }
      case "image":
        paint(token.text || "image");
        lines.at(-1)!.push(style.palette.soft(` (${token.href})`));
        break;
      case "text":
        if (token.tokens) nest(token.tokens, []);
        else paint(token.text);
        break;
      case "escape":
        paint(token.text);
        break;
      default:
        paint(token.raw); // HTML and unknown tokens are shown as source text
    }
  }
  return lines;
}
