// Builds Markdown around untrusted text: fences that cannot be closed from inside, markup that stays text.
import { collapsed } from "../text/one-line.ts";
import { documentText } from "../view/document-text.ts";

/** Formats a code block, with a fence longer than any in the text. */
export function fenced(text: string, language: string): string {
  const safeText = documentText(text);
  const fence = "`".repeat(Math.max(3, longestRun(safeText) + 1));
  return `${fence}${language.replace(/[^\w+-]/g, "")}\n${safeText}${safeText.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** Formats code on one line, which also works in a table. */
export function inlineCode(text: string): string {
  const safeText = documentText(text).replace(/\s+/g, " ");
  if (safeText.trim() === "") return "";
  const fence = "`".repeat(longestRun(safeText) + 1);
  const pad = /^`|`$/.test(safeText) ? " " : "";
  return `${fence}${pad}${safeText.replaceAll("|", "\\|")}${pad}${fence}`;
}

/** Escapes text on one line, so that no markup is left. */
export function plainInline(text: string): string {
  return collapsed(documentText(text)).replace(/[\\`*_[\]<>|#&~$]/g, (character) => `\\${character}`);
}

/** Returns the code spans: text between runs of backticks of the same `length`. */
export function codeSpans(text: string): { start: number; end: number; length: number }[] {
  const runs = [...text.matchAll(/`+/g)].map((match) => ({ start: match.index, length: match[0].length }));
  const places = new Map<number, number[]>();
  for (const [index, { length }] of runs.entries()) {
    const same = places.get(length);
    if (same) same.push(index);
    else places.set(length, [index]);
  }
  /** For each kind of mark, how many of its positions are used. */
  const used = new Map<number, number>();
  const spans: { start: number; end: number; length: number }[] = [];
  for (let index = 0; index < runs.length; index++) {
    // A backslash escapes the first backtick of an opening run, but not of a closing one.
    const escaped = isEscaped(text, runs[index]!.start) ? 1 : 0;
    const length = runs[index]!.length - escaped;
    const same = places.get(length);
    if (!same) continue;
    let next = used.get(length) ?? 0;
    while (next < same.length && same[next]! <= index) next++;
    used.set(length, next);
    const closing = same[next];
    if (closing === undefined) continue;
    spans.push({ start: runs[index]!.start + escaped, end: runs[closing]!.start + length, length });
    index = closing;
  }
  return spans;
}

function isEscaped(text: string, at: number): boolean {
  let count = 0;
  while (text[at - count - 1] === "\\") count++;
  return count % 2 === 1;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
