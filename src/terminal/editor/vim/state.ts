// What vim remembers between two keys.
import { moveTo, type TextBuffer } from "../buffer.ts";
import { type Find, onCharacter } from "./motions.ts";
import type { Command } from "./parse.ts";

export type Mode = "insert" | "normal" | "visual" | "visual line" | "replace";

export type Register = { text: string; linewise: boolean };

/** How much a visual selection took: what `.` takes again. */
export type Extent = { linewise: boolean; lines: number; characters: number };

/** The last change, as `.` does it again: the command, and what was typed after it. */
export type Change = { command: Command; extent?: Extent; typed?: string };

export type Vim = {
  readonly mode: Mode;
  /** Of a command that is not whole yet. */
  readonly keys: readonly string[];
  readonly register: Register;
  readonly find?: Find;
  readonly change?: Change;
  /** Edits of one command, and what is typed after it, are undone together. */
  readonly group: string;
  readonly commands: number;
  /** Where a visual selection began. */
  readonly anchor?: number;
  /** While inserting: the text before, where it began, how often it is to be there, and what goes before each repetition. */
  readonly inserting?: { text: string; at: number; count: number; between: string };
  /** What replace mode wrote over, for its backspace. */
  readonly overwritten?: readonly string[];
};

export type Work = { vim: Vim; buffer: TextBuffer };

export function newVim(): Vim {
  return { mode: "insert", keys: [], register: { text: "", linewise: false }, group: "vim 0", commands: 0 };
}

/** In normal mode the cursor stands on a character, not behind the last one. */
export function settleNormal(buffer: TextBuffer): TextBuffer {
  const at = onCharacter(buffer.text, buffer.cursor);
  return at === buffer.cursor ? buffer : moveTo(buffer, at, buffer.goal === undefined ? {} : { goal: buffer.goal });
}

export function withBuffer({ vim }: Work, buffer: TextBuffer): Work {
  return { vim, buffer };
}

/** `between`: what begins each repetition, where a count was given. */
export function enterInsert({ vim, buffer }: Work, at: number, { count = 1, between = "" } = {}): Work {
  return {
    vim: { ...vim, mode: "insert", inserting: { text: buffer.text, at, count, between } },
    // What the command itself changed, and what is typed now, is one step.
    buffer: buffer.group === vim.group ? { ...moveTo(buffer, at), group: vim.group } : moveTo(buffer, at),
  };
}
