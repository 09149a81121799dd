// A change to a file as lines: numbers, signs, and the words that changed.
import { changedWords, type DiffLine, hunksOfDiff, numberOf } from "../../view/diff-hunks.ts";
import { blanks, cut, join, nothing, type Painted, type Palette, padded } from "../painted.ts";
import type { Rendering, Words } from "./rendering.ts";

/** `most`: lines that are shown; the rest is counted. */
export type DiffStyle = {
  palette: Palette;
  rendering: Rendering | undefined;
  width: number;
  most: number;
  lineNumbers?: boolean;
};

export function diffLines(diff: string, { palette, rendering, width, most, lineNumbers = true }: DiffStyle): Painted[] {
  const hunks = hunksOfDiff(diff);
  const numbers = hunks.flat().map((line) => String(numberOf(line) ?? "").length);
  const numberWidth = lineNumbers ? Math.max(2, ...numbers) : 0;
  const shown: Painted[] = [];
  let left = most;
  let hidden = 0;
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0 && left > 0) shown.push(palette.soft(`${" ".repeat(numberWidth)} …`));
    const words = rendering ? changedWords(hunk, rendering.wordChanges) : new Map<DiffLine, Words>();
    for (const line of hunk) {
      if (left-- > 0) shown.push(shownLine(line, words.get(line), { palette, numberWidth, width }));
      else hidden++;
    }
  }
  if (hidden > 0)
    shown.push(palette.soft(`${" ".repeat(numberWidth)} … ${hidden} more ${hidden === 1 ? "line" : "lines"}`));
  return shown;
}

function shownLine(
  changed: DiffLine,
  words: Words | undefined,
  { palette, numberWidth, width }: { palette: Palette; numberWidth: number; width: number },
): Painted {
  const { sign, text } = changed;
  const at = numberWidth === 0 ? nothing : palette.soft(`${String(numberOf(changed) ?? "").padStart(numberWidth)} `);
  if (sign === " ") return join(at, cut(palette.plain(`   ${text}`), width - numberWidth - 1));
  const [line, word, mark] =
    sign === "+"
      ? [palette.added, palette.addedWord, palette.good]
      : [palette.removed, palette.removedWord, palette.bad];
  const code = (words ?? [{ text, isChanged: false }]).map((each) =>
    (each.isChanged ? word : line)(each.text.replaceAll("\t", "    ")),
  );
  const body = cut(join(line("  "), ...code), width - numberWidth - 2);
  // A shade goes to the edge; without shades the blanks are nothing.
  const rest = line(" ").includes("48;") ? line(plainBlanks(width - numberWidth - 2, body)) : nothing;
  return join(
    at,
    line(" ").includes("48;")
      ? palette.both(sign === "+" ? "good" : "bad", sign === "+" ? "added" : "removed")(sign)
      : mark(sign),
    body,
    rest,
  );
}

function plainBlanks(width: number, body: Painted): string {
  return padded(body, width).slice(body.length);
}

/** Lines of foreign text under a call, each behind a bar. */
export function barred(lines: readonly Painted[], palette: Palette, width: number): Painted[] {
  return lines.map((line) => join(palette.soft("│ "), cut(line, width - 2)));
}

export function indented(lines: readonly Painted[], by: number): Painted[] {
  return lines.map((line) => (line === "" ? line : join(blanks(by), line)));
}
