// Renders a diff: line numbers, signs, and highlighted words that changed.

import { changedWords, type DiffLine, hunksOfDiff, lineNumber } from "../../view/diff-hunks.ts";
import { counted } from "../../view/numbers.ts";
import { blanks, type Colour, cut, join, nothing, type Painted, type Palette, padded, wrap } from "../painted.ts";
import { colourOfCode } from "./code-colours.ts";
import type { Rendering, Words } from "./rendering.ts";

/** `most` limits the lines shown; the rest is counted. `rows` limits the rows that one long line may take before it is cut. */
export type DiffStyle = {
  palette: Palette;
  rendering: Rendering | undefined;
  width: number;
  most: number;
  rows?: number;
  lineNumbers?: boolean;
  /** The path of the changed file, by which its code is highlighted where changes have a shade. */
  path?: string;
};

const usualRows = 4;

export function diffLines(diff: string, style: DiffStyle): Painted[] {
  const { palette, rendering, width, most, rows = usualRows, lineNumbers = true, path = "" } = style;
  const language = /\.(\w+)$/.exec(path)?.[1] ?? "";
  const hunks = hunksOfDiff(diff);
  const numbers = hunks.flat().map((line) => String(lineNumber(line) ?? "").length);
  const numberWidth = lineNumbers ? Math.max(2, ...numbers) : 0;
  const shownLines: Painted[] = [];
  const lead = " ".repeat(numberWidth);
  /** The maximum number of consecutive lines with one sign, so that both the old and the new text are visible. */
  const longest = Math.max(1, most >> 1);
  let left = most;
  let hidden = 0;
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0 && left > 0) shownLines.push(palette.soft(`${lead} …`));
    const words = rendering ? changedWords(hunk, rendering.wordChanges) : new Map<DiffLine, Words>();
    for (const run of runsOf(hunk)) {
      const passed = left > 0 && run[0]!.sign !== " " ? run.slice(longest).length : 0;
      for (const line of passed > 0 ? run.slice(0, longest) : run) {
        if (left-- > 0)
          shownLines.push(
            ...shownLine(line, words.get(line), { palette, rendering, language, numberWidth, width, rows }),
          );
        else hidden++;
      }
      if (passed > 0)
        shownLines.push(palette.soft(`${lead} … ${passed} more ${run[0]!.sign === "+" ? "added" : "removed"}`));
    }
  }
  if (hidden > 0) shownLines.push(palette.soft(`${lead} … ${counted(hidden, "more line")}`));
  return shownLines;
}

/** Groups consecutive lines of a diff that have the same sign. */
function runsOf(hunk: readonly DiffLine[]): DiffLine[][] {
  const runs: DiffLine[][] = [];
  for (const line of hunk) {
    const last = runs.at(-1);
    if (last && last[0]?.sign === line.sign) last.push(line);
    else runs.push([line]);
  }
  return runs;
}

type LineStyle = Pick<DiffStyle, "palette" | "rendering" | "width"> & {
  language: string;
  numberWidth: number;
  rows: number;
};

/** Wraps a line that is wider than the window, since a change must be read whole to be judged. */
function shownLine(changed: DiffLine, words: Words | undefined, style: LineStyle): Painted[] {
  const { palette, numberWidth, rows } = style;
  const { sign, text } = changed;
  const at = numberWidth === 0 ? nothing : palette.soft(`${String(lineNumber(changed) ?? "").padStart(numberWidth)} `);
  const room = Math.max(8, style.width - numberWidth - 2);
  const pieces = (body: Painted) => wrap(cut(body, room * rows), room, palette.plain("    "));
  const below = numberWidth === 0 ? nothing : blanks(numberWidth + 1);
  if (sign === " ")
    return pieces(palette.plain(`  ${text}`)).map((piece, row) =>
      join(row === 0 ? at : below, palette.plain(" "), piece),
    );
  const [name, line, mark] =
    sign === "+"
      ? (["added", palette.added, palette.good] as const)
      : (["removed", palette.removed, palette.bad] as const);
  const isShaded = line(" ").includes("48;");
  const code = (words ?? [{ text, isChanged: false }]).flatMap(({ text: each, isChanged }) =>
    colouredPieces(each.replaceAll("\t", "    "), isShaded ? style : undefined).map(({ text: piece, colour }) =>
      palette.both(isChanged ? `${name}Word` : name, ...(colour ? [colour] : []))(piece),
    ),
  );
  const signed = isShaded ? palette.both(sign === "+" ? "good" : "bad", sign === "+" ? "added" : "removed") : mark;
  return pieces(join(line("  "), ...code)).map((piece, row) =>
    join(
      row === 0 ? at : below,
      row === 0 ? signed(sign) : line(" "),
      piece,
      // A shade extends to the edge; without shades no blanks are needed.
      isShaded ? line(plainBlanks(room, piece)) : nothing,
    ),
  );
}

/** Splits the text into highlighted pieces; the shade of a change leaves the text colour to the highlighter. */
function colouredPieces(text: string, style: LineStyle | undefined): { text: string; colour?: Colour | undefined }[] {
  if (!style?.rendering || style.language === "") return [{ text }];
  const [pieces = []] = style.rendering.codePieces(text, style.language);
  return pieces.map(({ text: piece, kind }) => ({ text: piece, colour: colourOfCode(kind) }));
}

function plainBlanks(width: number, body: Painted): string {
  return padded(body, width).slice(body.length);
}

/** Renders untrusted lines under a call, each behind a bar. `rows` limits the rows of a long line before it is cut. */
export function withBars(lines: readonly Painted[], palette: Palette, width: number, rows = 1): Painted[] {
  const room = Math.max(8, width - 2);
  return lines.flatMap((line) => wrap(cut(line, room * rows), room).map((piece) => join(palette.soft("│ "), piece)));
}

export function indented(lines: readonly Painted[], by: number): Painted[] {
  return lines.map((line) => (line === "" ? line : join(blanks(by), line)));
}
