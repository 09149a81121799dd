// Parses a unified diff, or lines with signs, into hunks of numbered lines, and pairs the lines that replace each other.
import type { Words, wordChanges } from "./word-changes.ts";

/** `before` and `after` are the line's number on each side, if it is known and exists there. */
export type DiffLine = { sign: " " | "+" | "-"; before?: number; after?: number; text: string };

/** Parses a unified diff, or lines that only have signs. */
export function hunksOfDiff(diff: string): DiffLine[][] {
  const hunks: DiffLine[][] = [];
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
    if (text.startsWith("\\")) continue; // skip the line "\ No newline at end of file"
    const sign = text.startsWith("+") ? "+" : text.startsWith("-") ? "-" : " ";
    if (hunks.length === 0) hunks.push([]);
    const line: DiffLine = { sign, text: text.slice(1) };
    if (sign !== "+" && before !== undefined) line.before = before++;
    if (sign !== "-" && after !== undefined) line.after = after++;
    hunks.at(-1)!.push(line);
  }
  return hunks.filter((hunk) => hunk.length > 0);
}

/** Returns the line's new number, or its old one. */
export function lineNumber({ before, after }: DiffLine): number | undefined {
  return after ?? before;
}

/** Pairs removed and added lines in order, and compares their words. */
export function changedWords(hunk: readonly DiffLine[], compare: typeof wordChanges): Map<DiffLine, Words> {
  const words = new Map<DiffLine, Words>();
  for (let start = 0; start < hunk.length; start++) {
    if (hunk[start]!.sign !== "-") continue;
    let middle = start;
    while (hunk[middle]?.sign === "-") middle++;
    let end = middle;
    while (hunk[end]?.sign === "+") end++;
    for (let index = 0; index < Math.min(middle - start, end - middle, 20); index++) {
      const [before, after] = [hunk[start + index]!, hunk[middle + index]!];
      const changes = compare(before.text, after.text);
      if (!changes) continue;
      words.set(before, changes.before);
      words.set(after, changes.after);
    }
    start = end - 1;
  }
  return words;
}
