// Operators: what vim does to a range of text.
import { moveTo, replace, type TextBuffer } from "../buffer.ts";
import { nextGrapheme } from "../graphemes.ts";
import { firstNonBlank, lineEnd, lineStart } from "../moves.ts";
import type { Reach } from "./motions.ts";
import type { Range } from "./objects.ts";
import { enterInsert, settleNormal, type Work, withBuffer } from "./state.ts";
import { isLineEnd } from "./words.ts";

/** The range an operator takes when the cursor would move from `from` to `reach`. */
export function rangeTo(text: string, from: number, reach: Reach, operator: string): Range {
  const [start, end] = [Math.min(from, reach.at), Math.max(from, reach.at)];
  if (reach.kind === "linewise") return { start: lineStart(text, start), end: lineEnd(text, end), linewise: true };
  if (reach.kind === "inclusive")
    return asLines(text, { start, end: isLineEnd(text, end) ? end : nextGrapheme(text, end) }, operator);
  return exclusiveRange(text, { start, end }, operator);
}

/**
 * Adjusts a range that excludes its end: if that is the start of a line, the range ends with the line before, and takes whole lines if it
 * begins at or before a line's first non-blank.
 */
export function exclusiveRange(text: string, { start, end }: Range, operator: string): Range {
  if (end > start && text[end - 1] === "\n" && lineStart(text, start) !== lineStart(text, end)) {
    if (start <= firstNonBlank(text, start)) return { start: lineStart(text, start), end: end - 1, linewise: true };
    return asLines(text, { start, end: end - 1 }, operator);
  }
  return asLines(text, { start, end }, operator);
}

/** Extends a deletion to whole lines if it would leave only blanks on them. */
function asLines(text: string, { start, end }: Range, operator: string): Range {
  const isSeveral = text.slice(start, end).includes("\n");
  const leavesBlanks = /^[ \t]*$/.test(text.slice(end, lineEnd(text, end))) && start <= firstNonBlank(text, start);
  if (operator !== "d" || !isSeveral || !leavesBlanks) return { start, end };
  return { start: lineStart(text, start), end: lineEnd(text, end), linewise: true };
}

type OperatorInput = { range: Range; cursor: number; count: number };
type Operator = (work: Work, input: OperatorInput) => Work;

const letters =
  (change: (text: string) => string): Operator =>
  (work, { range, cursor }) => {
    const { start, end } = range;
    const text = change(work.buffer.text.slice(start, end));
    return withBuffer(
      work,
      replace(withCursor(work, cursor).buffer, { start, end, text, cursor, group: work.vim.group }),
    );
  };

export const operators: Record<string, Operator> = {
  d: (work, { range, cursor }) => {
    if (range.start === range.end && !range.linewise) return work;
    const cut = yankRange(withCursor(work, cursor), range);
    return withBuffer(cut, settleNormal(range.linewise ? withoutLines(cut, range) : deleteRange(cut, range)));
  },
  c: (work, { range, cursor }) => {
    const cut = range.start === range.end ? work : yankRange(withCursor(work, cursor), range);
    return enterInsert(withBuffer(cut, deleteRange(cut, range)), range.start);
  },
  y: (work, { range, cursor }) => withBuffer(yankRange(work, range), moveTo(work.buffer, cursor)),
  ">": (work, input) => changeLines(work, input, (line) => (line === "" ? line : "  ".repeat(input.count) + line)),
  "<": (work, input) =>
    changeLines(work, input, (line) => line.replace(new RegExp(`^(?: {1,2}|\t){0,${input.count}}`), "")),
  gu: letters((text) => text.toLowerCase()),
  gU: letters((text) => text.toUpperCase()),
  "g~": letters(swapCase),
};

/** Moves the cursor before the edit, so that undo puts it back there. */
function withCursor(work: Work, cursor: number): Work {
  return withBuffer(work, moveTo(work.buffer, cursor));
}

export function swapCase(text: string): string {
  return [...text].map((each) => (each === each.toLowerCase() ? each.toUpperCase() : each.toLowerCase())).join("");
}

function yankRange({ vim, buffer }: Work, { start, end, linewise = false }: Range): Work {
  const text = buffer.text.slice(start, end);
  return { vim: { ...vim, register: { text: linewise ? `${text}\n` : text, linewise } }, buffer };
}

function deleteRange({ vim, buffer }: Work, { start, end }: Range): TextBuffer {
  return replace(buffer, { start, end, text: "", group: vim.group });
}

/** Removes lines together with the line break after them, or before them at the end of the text. */
function withoutLines({ vim, buffer }: Work, { start, end }: Range): TextBuffer {
  const isLast = end === buffer.text.length;
  const from = isLast && start > 0 ? start - 1 : start;
  const gone = replace(buffer, { start: from, end: isLast ? end : end + 1, text: "", group: vim.group });
  return { ...gone, cursor: firstNonBlank(gone.text, isLast ? lineStart(gone.text, from) : from) };
}

function changeLines(given: Work, { range, cursor }: OperatorInput, change: (line: string) => string): Work {
  const work = withCursor(given, cursor);
  const start = lineStart(work.buffer.text, range.start);
  const end = lineEnd(work.buffer.text, range.linewise ? range.end : Math.max(range.start, range.end - 1));
  const text = work.buffer.text.slice(start, end).split("\n").map(change).join("\n");
  const buffer = replace(work.buffer, { start, end, text, cursor: start, group: work.vim.group });
  return withBuffer(work, settleNormal({ ...buffer, cursor: firstNonBlank(buffer.text, start) }));
}
