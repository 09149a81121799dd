// Edits: what each editor action does to a buffer. Actions that depend on screen rows are in the editor itself.
import type { EditorAction } from "../keymap.ts";
import { moveTo, redo, replace, selection, type TextBuffer, undo } from "./buffer.ts";
import { nextGrapheme, previousGrapheme } from "./graphemes.ts";
import { cutOut, type KillRing } from "./kill-ring.ts";
import { blankWordLeft, lineEnd, lineStart, wordLeft, wordRight } from "./moves.ts";

export type Editing = { buffer: TextBuffer; ring: KillRing };

/** Returns undefined if the edit does not apply here. */
type Edit = (editing: Editing) => Editing | undefined;

type Target = (text: string, cursor: number) => number;

const move =
  (target: Target): Edit =>
  ({ buffer, ring }) => ({ buffer: moveTo(buffer, target(buffer.text, buffer.cursor)), ring });

const select =
  (target: Target): Edit =>
  ({ buffer, ring }) => ({
    buffer: moveTo(buffer, target(buffer.text, buffer.cursor), { anchor: buffer.anchor ?? buffer.cursor }),
    ring,
  });

/** Deletes text. Consecutive deletions are undone together. */
const erase =
  (target: Target, group: string): Edit =>
  ({ buffer, ring }) => {
    const [start, end] = reach(buffer, target);
    return { buffer: replace(buffer, { start, end, text: "", group }), ring };
  };

const cut =
  (target: Target): Edit =>
  ({ buffer, ring }) => {
    const [start, end] = reach(buffer, target);
    const direction = start < buffer.cursor ? "back" : "forward";
    return {
      buffer: replace(buffer, { start, end, text: "" }),
      ring: cutOut(ring, buffer.text.slice(start, end), direction),
    };
  };

function reach(buffer: TextBuffer, target: Target): [number, number] {
  const selected = selection(buffer);
  if (selected) return [selected.start, selected.end];
  const other = target(buffer.text, buffer.cursor);
  return [Math.min(other, buffer.cursor), Math.max(other, buffer.cursor)];
}

/** Moves to the end of the line, or past the line break if already there. */
const toLineEnd: Target = (text, at) => (text[at] === "\n" ? at + 1 : lineEnd(text, at));
const toLineStart: Target = (text, at) => (at > 0 && text[at - 1] === "\n" ? at - 1 : lineStart(text, at));

export const edits: Partial<Record<EditorAction, Edit>> = {
  left: ({ buffer, ring }) => {
    const selected = selection(buffer);
    if (selected) return { buffer: moveTo(buffer, selected.start), ring };
    return buffer.cursor === 0 ? undefined : move(previousGrapheme)({ buffer, ring });
  },
  right: ({ buffer, ring }) => {
    const selected = selection(buffer);
    return selected ? { buffer: moveTo(buffer, selected.end), ring } : move(nextGrapheme)({ buffer, ring });
  },
  wordLeft: move(wordLeft),
  wordRight: move(wordRight),
  lineStart: move(lineStart),
  lineEnd: move(lineEnd),
  textStart: move(() => 0),
  textEnd: move((text) => text.length),
  selectLeft: select(previousGrapheme),
  selectRight: select(nextGrapheme),
  selectLineStart: select(lineStart),
  selectLineEnd: select(lineEnd),
  deleteBack: erase(previousGrapheme, "backspace"),
  deleteForward: erase(nextGrapheme, "delete"),
  cutBlankWord: cut(blankWordLeft),
  cutWordBack: cut(wordLeft),
  cutWordForward: cut(wordRight),
  cutToLineEnd: cut(toLineEnd),
  cutToLineStart: cut(toLineStart),
  yank: ({ buffer, ring }) => (ring.cuts.length === 0 ? undefined : yank({ buffer, ring }, 0)),
  yankOlder: ({ buffer, ring }) => (ring.yanked ? yank({ buffer, ring }, ring.yanked.index + 1) : { buffer, ring }),
  undo: ({ buffer, ring }) => ({ buffer: undo(buffer), ring }),
  redo: ({ buffer, ring }) => ({ buffer: redo(buffer), ring }),
};

function yank({ buffer, ring }: Editing, wanted: number): Editing {
  const index = wanted % ring.cuts.length;
  const text = ring.cuts[index]!;
  const { start, end } = ring.yanked ?? selection(buffer) ?? { start: buffer.cursor, end: buffer.cursor };
  return {
    buffer: replace(buffer, { start, end, text }),
    ring: { cuts: ring.cuts, isCutting: false, yanked: { start, end: start + text.length, index } },
  };
}

/** Inserts typed text; each word starts a new undo step, unless `group` makes all of it one step, as in vim. */
export function typeText(buffer: TextBuffer, text: string, group?: string): TextBuffer {
  const selected = selection(buffer);
  const { start, end } = selected ?? { start: buffer.cursor, end: buffer.cursor };
  const beginsWord = /\S/.test(text) && /\s/.test(buffer.text[start - 1] ?? "");
  const isSame = buffer.group === "typing" && !beginsWord && !selected;
  const open = isSame ? buffer : { ...buffer, group: undefined };
  return replace(group === undefined ? open : buffer, { start, end, text, group: group ?? "typing" });
}
