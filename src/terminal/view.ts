// The rendered form of a part of the live region: lines, and the position of the real cursor if the part has it.
import type { Painted } from "./painted.ts";

export type Size = { columns: number; rows: number };

/** The number of columns that stay free at the right edge. */
export const rightMargin = 2;

/** The maximum width of text in columns, for readability. */
const widest = 100;

/** Leaves a margin at the right edge, so that making the window slightly narrower wraps no line. */
export function layoutWidth(columns: number): number {
  return Math.max(10, Math.min(columns - rightMargin, widest));
}

/** Each line fits the requested width. `cursor` counts screen rows and columns from 0. */
export type View = { lines: readonly Painted[]; cursor?: { row: number; column: number } };
