// The state that vim keeps between keys.
import { moveTo, type TextBuffer } from "../buffer.ts";
import { type Find, onCharacter } from "./motions.ts";
import type { Command } from "./parse.ts";

export type Mode = "insert" | "normal" | "visual" | "visual line" | "replace";

export type Register = { text: string; linewise: boolean };

/** The size of a visual selection, so that `.` can repeat a change on as much text. */
export type Extent = { linewise: boolean; lines: number; characters: number };

/** The last change as `.` repeats it: the command, and the text typed after it. */
export type Change = { command: Command; extent?: Extent; typed?: string };

export type Vim = {
  readonly mode: Mode;
  /** The keys of a command that is not complete yet. */
  readonly keys: readonly string[];
  readonly register: Register;
  readonly find?: Find;
  readonly change?: Change;
  /** The undo group: the edits of one command and the text typed after it are undone together. */
  readonly group: string;
  readonly commands: number;
  /** The position where the visual selection began. */
  readonly anchor?: number;
  /** Set in insert mode: the text before it, the offset of its start, the count, and what precedes a repetition. */
  readonly inserting?: { text: string; at: number; count: number; between: string };
  /** The characters overwritten in replace mode, restored by backspace. */
  readonly overwritten?: readonly string[];
};

export type Work = { vim: Vim; buffer: TextBuffer };

export function newVim(): Vim {
  return { mode: "insert", keys: [], register: { text: "", linewise: false }, group: "vim 0", commands: 0 };
}

/** Moves the cursor onto a character, since in normal mode it cannot be after the last one. */
export function settleNormal(buffer: TextBuffer): TextBuffer {
  const at = onCharacter(buffer.text, buffer.cursor);
  return at === buffer.cursor ? buffer : moveTo(buffer, at, buffer.goal === undefined ? {} : { goal: buffer.goal });
}

export function withBuffer({ vim }: Work, buffer: TextBuffer): Work {
  return { vim, buffer };
}

/** Enters insert mode. With a count, the typed text is inserted that often, with `between` before each repetition. */
export function enterInsert({ vim, buffer }: Work, at: number, { count = 1, between = "" } = {}): Work {
  return {
    vim: { ...vim, mode: "insert", inserting: { text: buffer.text, at, count, between } },
    // The command's own change and the text typed now are one undo step.
    buffer: buffer.group === vim.group ? { ...moveTo(buffer, at), group: vim.group } : moveTo(buffer, at),
  };
}
