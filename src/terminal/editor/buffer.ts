// Buffer: an immutable text with cursor, selection and undo history. Every function returns a new buffer.
import { graphemeBoundary } from "./graphemes.ts";

export type TextBuffer = {
  readonly text: string;
  /** The cursor's offset in the text, always between two graphemes. */
  readonly cursor: number;
  /** The end of the selection that is not the cursor. */
  readonly anchor?: number;
  /** The display column that vertical moves try to stay in. */
  readonly goal?: number;
  readonly done: readonly Step[];
  readonly undone: readonly Step[];
  /** The undo group that the last step can still be extended with. */
  readonly group?: string;
};

/** The changes that a single undo reverts. */
type Step = { changes: readonly Change[]; before: number; after: number };

type Change = { at: number; removed: string; inserted: string };

const maxSteps = 5000;

export function createBuffer(text = ""): TextBuffer {
  return { text, cursor: text.length, done: [], undone: [] };
}

export type Replacement = {
  start: number;
  end: number;
  text: string;
  /** The cursor after the change; by default after the inserted text. */
  cursor?: number;
  /** Replacements with the same group are undone in one step. */
  group?: string;
};

export function replace(buffer: TextBuffer, { start, end, text, cursor, group }: Replacement): TextBuffer {
  const removed = buffer.text.slice(start, end);
  const next = buffer.text.slice(0, start) + text + buffer.text.slice(end);
  const after = graphemeBoundary(next, cursor ?? start + text.length);
  if (removed === text) return { ...moveTo(buffer, after), ...(group === undefined ? {} : { group: buffer.group }) };
  const change = { at: start, removed, inserted: text };
  const last = group !== undefined && group === buffer.group ? buffer.done.at(-1) : undefined;
  const step = last
    ? { ...last, changes: joinChanges(last.changes, change), after }
    : { changes: [change], before: buffer.cursor, after };
  return {
    text: next,
    cursor: after,
    done: [...(last ? buffer.done.slice(0, -1) : buffer.done.slice(-maxSteps + 1)), step],
    undone: [],
    ...(group === undefined ? {} : { group }),
  };
}

/** Merges consecutive typing into one change, however long it gets. */
function joinChanges(changes: readonly Change[], next: Change): readonly Change[] {
  const last = changes.at(-1)!;
  if (next.removed !== "" || next.at !== last.at + last.inserted.length) return [...changes, next];
  return [...changes.slice(0, -1), { ...last, inserted: last.inserted + next.inserted }];
}

/** Moves the cursor and ends the undo group: typing starts a new one. `goal` is the column for vertical moves. */
export function moveTo(
  buffer: TextBuffer,
  cursor: number,
  { anchor, goal }: { anchor?: number; goal?: number } = {},
): TextBuffer {
  return {
    text: buffer.text,
    cursor: graphemeBoundary(buffer.text, cursor),
    ...(anchor === undefined ? {} : { anchor: graphemeBoundary(buffer.text, anchor) }),
    ...(goal === undefined ? {} : { goal }),
    done: buffer.done,
    undone: buffer.undone,
  };
}

export function undo(buffer: TextBuffer): TextBuffer {
  const step = buffer.done.at(-1);
  if (!step) return moveTo(buffer, buffer.cursor);
  let { text } = buffer;
  for (const { at, removed, inserted } of step.changes.toReversed())
    text = text.slice(0, at) + removed + text.slice(at + inserted.length);
  return {
    text,
    cursor: graphemeBoundary(text, step.before),
    done: buffer.done.slice(0, -1),
    undone: [...buffer.undone, step],
  };
}

export function redo(buffer: TextBuffer): TextBuffer {
  const step = buffer.undone.at(-1);
  if (!step) return moveTo(buffer, buffer.cursor);
  let { text } = buffer;
  for (const { at, removed, inserted } of step.changes)
    text = text.slice(0, at) + inserted + text.slice(at + removed.length);
  return {
    text,
    cursor: graphemeBoundary(text, step.after),
    done: [...buffer.done, step],
    undone: buffer.undone.slice(0, -1),
  };
}

/** Adds the latest step to an undo group: one undo reverts everything typed in vim's insert mode. */
export function joinUndoGroup(before: TextBuffer, after: TextBuffer, group: string): TextBuffer {
  const step = after.done.at(-1);
  if (step === undefined || step === before.done.at(-1) || after.done.length < before.done.length) return after;
  const last = before.group === group ? before.done.at(-1) : undefined;
  if (!last || after.group === group) return { ...after, group };
  const changes = [
    ...last.changes,
    ...step.changes.slice(after.done.length === before.done.length ? last.changes.length : 0),
  ];
  const kept = after.done.slice(0, before.done.length - 1);
  return { ...after, done: [...kept, { changes, before: last.before, after: step.after }], group };
}

/** The offset where a step begins to change the text. A change that begins with a line break counts for the line after it. */
export function firstChange({ changes }: Step): number {
  return Math.min(...changes.map(({ at, removed, inserted }) => at + (/^\n/.test(removed + inserted) ? 1 : 0)));
}

/** Returns the selected range, with the smaller offset first. */
export function selection({ cursor, anchor }: TextBuffer): { start: number; end: number } | undefined {
  if (anchor === undefined || anchor === cursor) return undefined;
  return { start: Math.min(anchor, cursor), end: Math.max(anchor, cursor) };
}
