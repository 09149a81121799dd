// Visual mode: computes the selection and applies commands to it.
import { moveTo, replace, type TextBuffer } from "../buffer.ts";
import { nextGrapheme } from "../graphemes.ts";
import { firstNonBlank, lineEnd, lineStart } from "../moves.ts";
import { joinLines } from "./commands.ts";
import type { Range } from "./objects.ts";
import { operators } from "./operators.ts";
import type { Command } from "./parse.ts";
import type { Extent, Vim, Work } from "./state.ts";

/** The selection, with an exclusive `end`; that of whole lines excludes the last line break. */
export function visualSelection({ mode, anchor }: Vim, { text, cursor, goal }: TextBuffer): Range | undefined {
  if (anchor === undefined || (mode !== "visual" && mode !== "visual line")) return undefined;
  const [start, end] = [Math.min(anchor, cursor), Math.max(anchor, cursor)];
  if (mode === "visual line") return { start: lineStart(text, start), end: lineEnd(text, end), linewise: true };
  // After `$` the selection includes the line break.
  if (goal === Number.POSITIVE_INFINITY && cursor === end)
    return { start, end: Math.min(text.length, lineEnd(text, end) + 1) };
  return { start, end: end >= text.length ? end : nextGrapheme(text, end) };
}

export function extentOf(text: string, { start, end, linewise = false }: Range): Extent {
  const lines = text.slice(start, linewise ? end : Math.max(start, end - 1)).split("\n").length;
  return { linewise, lines, characters: lines === 1 ? end - start : end - lineStart(text, Math.max(start, end - 1)) };
}

/** Returns a range of the same size that starts at the cursor. */
export function rangeOfExtent({ text, cursor }: TextBuffer, { linewise, lines, characters }: Extent): Range {
  let end = cursor;
  for (let left = lines - 1; left > 0; left--) end = Math.min(text.length, lineEnd(text, end) + 1);
  if (linewise) return { start: lineStart(text, cursor), end: lineEnd(text, end), linewise };
  return { start: cursor, end: Math.min(end + characters, lineEnd(text, end)) };
}

/** Keys that apply an operator to the selection, some of them to whole lines. */
const asOperator: Record<string, { operator: string; wholeLines?: boolean }> = {
  x: { operator: "d" },
  X: { operator: "d", wholeLines: true },
  D: { operator: "d", wholeLines: true },
  s: { operator: "c" },
  S: { operator: "c", wholeLines: true },
  C: { operator: "c", wholeLines: true },
  R: { operator: "c", wholeLines: true },
  Y: { operator: "y", wholeLines: true },
  u: { operator: "gu" },
  U: { operator: "gU" },
  "~": { operator: "g~" },
};

/** Ends in normal mode, or in insert mode after `c`. Returns undefined if there is no such command in visual mode. */
export function runVisual(work: Work, command: Command, range: Range): Work | undefined {
  const { text } = work.buffer;
  const count = command.count ?? 1;
  const { operator, wholeLines = false } = command.operator
    ? { operator: command.operator }
    : (asOperator[command.key ?? ""] ?? {});
  if (operator !== undefined) {
    const whole = range.linewise || wholeLines || operator === ">" || operator === "<";
    // `end` is exclusive: step back onto the last selected line. A linewise `end` is on that line already.
    const last = range.linewise ? range.end : Math.max(range.start, range.end - 1);
    const taken = whole ? { start: lineStart(text, range.start), end: lineEnd(text, last), linewise: true } : range;
    const cursor = firstPlace(work, range);
    return operators[operator]!(work, { range: taken, cursor, count });
  }
  if (command.key === "J" || command.key === "gJ") {
    const lines = text
      .slice(range.start, range.linewise ? range.end : Math.max(range.start, range.end - 1))
      .split("\n").length;
    const first = { ...work, buffer: moveTo(work.buffer, range.start) };
    return joinLines(first, Math.max(2, lines), command.key === "J") ?? first;
  }
  if (command.key === "r") {
    const replaced = [...text.slice(range.start, range.end)]
      .map((each) => (each === "\n" ? each : command.argument))
      .join("");
    return {
      ...work,
      buffer: replace(moveTo(work.buffer, range.start), {
        ...range,
        text: replaced,
        cursor: range.start,
        group: work.vim.group,
      }),
    };
  }
  if (command.key === "p" || command.key === "P") return exchangeWithRegister(work, range, count);
  return undefined;
}

/** Returns the cursor after an operator: the start of the selection, or its place after an upward selection. */
function firstPlace({ vim, buffer }: Work, { start, linewise }: Range): number {
  if (vim.anchor === undefined) return buffer.cursor; // the operator is repeated by `.`
  return linewise && lineStart(buffer.text, vim.anchor) > buffer.cursor ? buffer.cursor : start;
}

/** Swaps the selection with the register. */
function exchangeWithRegister(work: Work, range: Range, count: number): Work {
  const { register } = work.vim;
  const { text } = work.buffer;
  const { start, end, linewise = false } = range;
  const old = text.slice(start, end);
  const whole = register.text.repeat(count);
  const plain = register.linewise ? whole.slice(0, -1) : whole;
  const isInside = register.linewise && !linewise;
  const put = isInside ? `\n${plain}\n` : plain;
  let buffer = replace(moveTo(work.buffer, start), {
    start,
    end,
    text: put,
    cursor: isInside ? start + 1 : linewise || plain.includes("\n") ? start : Math.max(start, start + put.length - 1),
    group: work.vim.group,
  });
  if (isInside) buffer = { ...buffer, cursor: firstNonBlank(buffer.text, start + 1) };
  return { vim: { ...work.vim, register: { text: linewise ? `${old}\n` : old, linewise } }, buffer };
}
