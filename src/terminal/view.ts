// What a part of the live region looks like: lines, and the place of the real cursor where the part has it.
import type { Painted } from "./painted.ts";

export type Size = { columns: number; rows: number };

/** Each line fits the width that was asked for. `cursor` counts from 0, in columns of the screen. */
export type View = { lines: readonly Painted[]; cursor?: { row: number; column: number } };
