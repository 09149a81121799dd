// Layout: breaks a text into screen rows, between words where possible, and maps offsets to rows and columns.
import { cut, widthOf } from "../../text/width.ts";
import { graphemesOf, nextGrapheme, previousGrapheme } from "./graphemes.ts";
import { isTokenAt } from "./paste.ts";

/** Offsets into the text. Rows of one line are adjacent; a line break separates lines. */
export type Row = { start: number; end: number };

/** One grapheme as the editor displays it. */
export type Cell = { start: number; end: number; shown: string; width: number; isToken: boolean };

/** `show` escapes untrusted text; `label` returns the label of a folded character. */
export type Glyphs = { show(grapheme: string): string; label(token: string): string };

export interface Layout {
  rows(text: string, width: number): readonly Row[];
  cells(text: string, row: Row, width: number): Iterable<Cell>;
  place(text: string, offset: number, width: number): { row: number; column: number };
  /** Returns the offset on a row that is nearest to a column. */
  offset(text: string, row: number, column: number, width: number): number;
}

const tabWidth = 4;
const plain = /^[\x20-\x7e]*$/;

export function createLayout(glyphs: Glyphs): Layout {
  let last: { text: string; width: number; rows: readonly Row[] } | undefined;
  /** Caches the row starts of each line of the last text, since most lines are unchanged after a key. */
  let known = new Map<string, readonly number[]>();

  function layOutRows(text: string, width: number): readonly Row[] {
    if (last?.text === text && last.width === width) return last.rows;
    const before = last?.width === width ? known : new Map<string, readonly number[]>();
    const next = new Map<string, readonly number[]>();
    const found: Row[] = [];
    let at = 0;
    for (const line of text.split("\n")) {
      const starts = before.get(line) ?? breaks(line, width);
      next.set(line, starts);
      for (const [index, start] of starts.entries())
        found.push({ start: at + start, end: at + (starts[index + 1] ?? line.length) });
      at += line.length + 1;
    }
    known = next;
    last = { text, width, rows: found };
    return found;
  }

  function breaks(line: string, width: number): readonly number[] {
    if (line.length <= width && plain.test(line)) return [0];
    const starts = [0];
    let column = 0;
    let afterBlank = 0;
    for (let at = 0; at < line.length; ) {
      const end = nextGrapheme(line, at);
      const cell = cellAt(line, at, end, column, width);
      // A blank may use the extra column reserved for the cursor, so that it does not push its word to the next row.
      const room = cell.shown === " " ? width + 1 : width;
      if (column + cell.width > room && at > starts.at(-1)!) {
        // Break the row before a word where possible.
        at = afterBlank > starts.at(-1)! ? afterBlank : at;
        starts.push(at);
        column = 0;
        continue;
      }
      column += cell.width;
      at = end;
      if (/\s/.test(cell.shown)) afterBlank = at;
    }
    return starts;
  }

  function cellAt(text: string, start: number, end: number, column: number, width: number): Cell {
    const grapheme = text.slice(start, end);
    if (grapheme === "\t") {
      const blanks = Math.min(tabWidth - (column % tabWidth), width);
      return { start, end, shown: " ".repeat(blanks), width: blanks, isToken: false };
    }
    if (grapheme.length === 1 && plain.test(grapheme)) return { start, end, shown: grapheme, width: 1, isToken: false };
    const isToken = isTokenAt(grapheme, 0);
    const glyph = isToken ? cut(glyphs.label(grapheme.slice(0, 2)), width) : glyphs.show(grapheme);
    return { start, end, shown: glyph, width: widthOf(glyph), isToken };
  }

  function* cellsOf(text: string, row: Row, width: number): Iterable<Cell> {
    const line = text.slice(row.start, row.end);
    if (plain.test(line)) {
      for (let index = 0; index < line.length; index++) {
        const start = row.start + index;
        yield { start, end: start + 1, shown: line[index]!, width: 1, isToken: false };
      }
      return;
    }
    let column = 0;
    for (const { segment, index } of graphemesOf(line)) {
      const cell = cellAt(text, row.start + index, row.start + index + segment.length, column, width);
      column += cell.width;
      yield cell;
    }
  }

  function rowAndColumn(text: string, offset: number, width: number): { row: number; column: number } {
    const all = layOutRows(text, width);
    let low = 0;
    let high = all.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (all[middle]!.start <= offset) low = middle;
      else high = middle - 1;
    }
    let column = 0;
    for (const cell of cellsOf(text, all[low]!, width)) {
      if (cell.end > offset) break;
      column += cell.width;
    }
    return { row: low, column };
  }

  function offsetAt(text: string, row: number, column: number, width: number): number {
    const all = layOutRows(text, width);
    const chosen = all[row]!;
    let at = 0;
    for (const cell of cellsOf(text, chosen, width)) {
      if (at + cell.width > column) return cell.start;
      at += cell.width;
    }
    // The end of a wrapped row is the start of the next one, so stay before it.
    return all[row + 1]?.start === chosen.end ? previousGrapheme(text, chosen.end) : chosen.end;
  }

  return { rows: layOutRows, cells: cellsOf, place: rowAndColumn, offset: offsetAt };
}
