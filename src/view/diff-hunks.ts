// A unified diff, or lines with signs, as hunks of numbered lines; and which lines replace which.
import type { Words, wordChanges } from "./word-changes.ts";

/** `before`, `after`: the number of the line on each side, where it is known and the line is there. */
export type DiffLine = { sign: " " | "+" | "-"; before?: number; after?: number; text: string };

/** Unified, or only lines with signs. */
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
    if (text.startsWith("\\")) continue; // "\ No newline at end of file"
    const sign = text.startsWith("+") ? "+" : text.startsWith("-") ? "-" : " ";
    if (hunks.length === 0) hunks.push([]);
    const line: DiffLine = { sign, text: text.slice(1) };
    if (sign !== "+" && before !== undefined) line.before = before++;
    if (sign !== "-" && after !== undefined) line.after = after++;
    hunks.at(-1)!.push(line);
  }
  return hunks.filter((hunk) => hunk.length > 0);
}

/** Where the line is now, or was. */
export function numberOf({ before, after }: DiffLine): number | undefined {
  return after ?? before;
}

/** Lines that replace each other, by their order. */
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
