// A change to a file as lines: numbers, signs, and the words that changed.
import { blanks, cut, join, nothing, type Painted, type Palette, padded } from "../painted.ts";
import type { Rendering, Words } from "./rendering.ts";

type Line = { sign: " " | "+" | "-"; number: number | undefined; text: string };

/** `most`: lines that are shown; the rest is counted. */
export type DiffStyle = { palette: Palette; rendering: Rendering | undefined; width: number; most: number };

export function diffLines(diff: string, { palette, rendering, width, most }: DiffStyle): Painted[] {
  const hunks = parse(diff);
  const numberWidth = Math.max(2, ...hunks.flat().map((line) => String(line.number ?? "").length));
  const shown: Painted[] = [];
  let left = most;
  let hidden = 0;
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0 && left > 0) shown.push(palette.soft(`${" ".repeat(numberWidth)} …`));
    const words = rendering ? changedWords(hunk, rendering) : new Map<Line, Words>();
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
  { sign, number, text }: Line,
  words: Words | undefined,
  { palette, numberWidth, width }: { palette: Palette; numberWidth: number; width: number },
): Painted {
  const at = palette.soft(`${String(number ?? "").padStart(numberWidth)} `);
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

/** Lines that replace each other, by their order. */
function changedWords(hunk: readonly Line[], rendering: Rendering): Map<Line, Words> {
  const words = new Map<Line, Words>();
  for (let start = 0; start < hunk.length; start++) {
    if (hunk[start]!.sign !== "-") continue;
    let middle = start;
    while (hunk[middle]?.sign === "-") middle++;
    let end = middle;
    while (hunk[end]?.sign === "+") end++;
    for (let index = 0; index < Math.min(middle - start, end - middle, 20); index++) {
      const [before, after] = [hunk[start + index]!, hunk[middle + index]!];
      const changes = rendering.wordChanges(before.text, after.text);
      if (!changes) continue;
      words.set(before, changes.before);
      words.set(after, changes.after);
    }
    start = end - 1;
  }
  return words;
}

/** Unified, or only lines with signs. */
function parse(diff: string): Line[][] {
  const hunks: Line[][] = [];
  let before: number | undefined;
  let after: number | undefined;
  for (const text of diff.replace(/\r?\n$/, "").split(/\r?\n/)) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (header) {
      [before, after] = [Number(header[1]), Number(header[2])];
      hunks.push([]);
      continue;
    }
    if (/^@@/.test(text)) {
      hunks.push([]);
      continue;
    }
    if (before === undefined && /^(---|\+\+\+|diff |index |new file|deleted file|\*\*\* )/.test(text)) continue;
    if (text.startsWith("\\")) continue; // "\ No newline at end of file"
    const sign = text.startsWith("+") ? "+" : text.startsWith("-") ? "-" : " ";
    if (hunks.length === 0) hunks.push([]);
    const number = sign === "-" ? before : after;
    hunks.at(-1)!.push({ sign, number, text: text.slice(1) });
    if (sign !== "+" && before !== undefined) before++;
    if (sign !== "-" && after !== undefined) after++;
  }
  return hunks.filter((hunk) => hunk.length > 0);
}

/** Lines of foreign text under a call, each behind a bar. */
export function barred(lines: readonly Painted[], palette: Palette, width: number): Painted[] {
  return lines.map((line) => join(palette.soft("│ "), cut(line, width - 2)));
}

export function indented(lines: readonly Painted[], by: number): Painted[] {
  return lines.map((line) => (line === "" ? line : join(blanks(by), line)));
}
