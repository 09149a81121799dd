// The rendered form of a part of the live region: lines, and the position of the real cursor if the part has it.
import type { Painted } from "./painted.ts";

export type Size = { columns: number; rows: number };

/** Columns that stay free at the right edge. */
export const rightMargin = 2;

/** Each line fits the requested width. `cursor` counts screen rows and columns from 0. */
export type View = { lines: readonly Painted[]; cursor?: { row: number; column: number } };
