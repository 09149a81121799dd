// Normal mode commands that are not an operator with a motion.
import { firstChange, moveTo, redo, replace, type TextBuffer, undo } from "../buffer.ts";
import { nextGrapheme } from "../graphemes.ts";
import { firstNonBlank, lineEnd, lineStart } from "../moves.ts";
import { swapCase } from "./operators.ts";
import { enterInsert, settleNormal, type Work, withBuffer } from "./state.ts";
import { isLineEnd } from "./words.ts";

type CommandInput = { count: number; hasCount: boolean; argument: string };
/** Returns undefined if the command does not apply here. */
type Simple = (work: Work, input: CommandInput) => Work | undefined;

export const simpleCommands: Record<string, Simple> = {
  i: (work, { count }) => enterInsert(work, work.buffer.cursor, { count }),
  I: (work, { count }) => enterInsert(work, firstNonBlank(work.buffer.text, work.buffer.cursor), { count }),
  a: (work, { count }) => {
    const { text, cursor } = work.buffer;
    return enterInsert(work, isLineEnd(text, cursor) ? cursor : nextGrapheme(text, cursor), { count });
  },
  A: (work, { count }) => enterInsert(work, lineEnd(work.buffer.text, work.buffer.cursor), { count }),
  o: (work, { count }) => {
    const at = lineEnd(work.buffer.text, work.buffer.cursor);
    return enterInsert(insertText(work, at, at, "\n"), at + 1, { count, between: "\n" });
  },
  O: (work, { count }) => {
    const at = lineStart(work.buffer.text, work.buffer.cursor);
    return enterInsert(insertText(work, at, at, "\n"), at, { count, between: "\n" });
  },
  R: ({ vim, buffer }, { count }) => ({
    vim: {
      ...vim,
      mode: "replace",
      overwritten: [],
      inserting: { text: buffer.text, at: buffer.cursor, count, between: "" },
    },
    buffer,
  }),
  r: (work, { count, argument }) => {
    const { text, cursor } = work.buffer;
    const end = forward(text, cursor, count);
    if (end === undefined) return undefined;
    if (argument === "\n") return insertText(work, cursor, end, "\n");
    const next = insertText(work, cursor, end, argument.repeat(count));
    return withBuffer(next, moveTo(next.buffer, cursor + argument.length * (count - 1)));
  },
  "~": (work, { count }) => {
    const { text, cursor } = work.buffer;
    let end = cursor;
    for (let left = count; left > 0 && !isLineEnd(text, end); left--) end = nextGrapheme(text, end);
    if (end === cursor) return undefined;
    const next = insertText(work, cursor, end, swapCase(text.slice(cursor, end)));
    return withBuffer(next, settleNormal(next.buffer));
  },
  J: (work, { count }) => joinLines(work, Math.max(2, count), true),
  gJ: (work, { count }) => joinLines(work, Math.max(2, count), false),
  p: (work, { count }) => pasteRegister(work, count, "after"),
  P: (work, { count }) => pasteRegister(work, count, "before"),
  u: (work, { count }) => withBuffer(work, backOrForth(work.buffer, count, "undo")),
  "ctrl+r": (work, { count }) => withBuffer(work, backOrForth(work.buffer, count, "redo")),
};

function insertText(work: Work, start: number, end: number, text: string): Work {
  return withBuffer(work, replace(work.buffer, { start, end, text, group: work.vim.group }));
}

/** Moves `count` characters forward; returns undefined if the line has fewer. */
function forward(text: string, from: number, count: number): number | undefined {
  let at = from;
  for (let left = count; left > 0; left--) {
    if (isLineEnd(text, at)) return undefined;
    at = nextGrapheme(text, at);
  }
  return at;
}

/** Joins lines. With `spaced`, removes indents and inserts a blank, unless there is one already or the next line starts with `)`. */
export function joinLines(work: Work, count: number, spaced: boolean): Work | undefined {
  const { text, cursor } = work.buffer;
  const start = lineStart(text, cursor);
  const lines = text.slice(start).split("\n", count);
  // Fail on the last line, as vim does; a count above 2 is reduced to the lines there are.
  if (lines.length < 2 || (lines.length < count && count <= 2)) return undefined;
  let line = lines[0]!;
  let column = line.length;
  for (const next of lines.slice(1)) {
    const added = spaced ? next.replace(/^[ \t]+/, "") : next;
    const isApart = spaced && added !== "" && !added.startsWith(")") && line !== "" && !/[ \t]$/.test(line);
    column = line.length;
    line += isApart ? ` ${added}` : added;
  }
  const end = start + lines.join("\n").length;
  const buffer = replace(work.buffer, { start, end, text: line, cursor: start + column, group: work.vim.group });
  return withBuffer(work, settleNormal(buffer));
}

function pasteRegister(work: Work, count: number, where: "before" | "after"): Work | undefined {
  const { register } = work.vim;
  const { text, cursor } = work.buffer;
  if (register.text === "") return undefined;
  const whole = register.text.repeat(count);
  if (register.linewise) {
    const at = where === "after" ? lineEnd(text, cursor) : lineStart(text, cursor);
    const next = insertText(work, at, at, where === "after" ? `\n${whole.slice(0, -1)}` : whole);
    return withBuffer(next, moveTo(next.buffer, firstNonBlank(next.buffer.text, where === "after" ? at + 1 : at)));
  }
  const at = where === "before" || isLineEnd(text, cursor) ? cursor : nextGrapheme(text, cursor);
  const next = insertText(work, at, at, whole);
  return withBuffer(
    next,
    register.text.includes("\n") ? moveTo(next.buffer, at) : settleNormal(moveTo(next.buffer, at + whole.length - 1)),
  );
}

/**
 * Undoes or redoes. The cursor returns to its position before the change if that is on the first changed line or the
 * line above, otherwise it moves to the first changed line.
 */
function backOrForth(buffer: TextBuffer, count: number, direction: "undo" | "redo"): TextBuffer {
  let current = buffer;
  for (let left = count; left > 0; left--) {
    const step = direction === "undo" ? current.done.at(-1) : current.undone.at(-1);
    if (!step) break;
    const { text, ...next } = direction === "undo" ? undo(current) : redo(current);
    const line = lineStart(text, Math.min(firstChange(step), text.length));
    const before = Math.min(step.before, text.length);
    const isNear = lineStart(text, before) === line || lineEnd(text, before) + 1 === line;
    current = moveTo({ text, ...next }, isNear ? before : firstNonBlank(text, line));
  }
  return settleNormal(current);
}
