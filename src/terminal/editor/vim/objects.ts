// Text objects: words, quotes, brackets, paragraphs. `around` includes the delimiters or surrounding blanks.
import { lineEnd, lineStart } from "../moves.ts";
import { kindAt } from "./words.ts";

/** A range of text; `end` is exclusive, `linewise` means whole lines. */
export type Range = { start: number; end: number; linewise?: boolean };

type ObjectInput = { text: string; at: number; count: number; around: boolean };
type TextObject = (input: ObjectInput) => Range | undefined;

const bracketNames = {
  "(": "()",
  ")": "()",
  b: "()",
  "[": "[]",
  "]": "[]",
  "{": "{}",
  "}": "{}",
  B: "{}",
  "<": "<>",
  ">": "<>",
};

export const textObjects: Record<string, TextObject> = {
  w: (input) => wordObject(input, false),
  W: (input) => wordObject(input, true),
  p: paragraph,
  '"': (input) => quoteObject(input, '"'),
  "'": (input) => quoteObject(input, "'"),
  "`": (input) => quoteObject(input, "`"),
  ...Object.fromEntries(
    Object.entries(bracketNames).map(([name, [open, close]]) => [
      name,
      (input: ObjectInput) => bracketObject(input, open!, close!),
    ]),
  ),
};

/** Selects words and the blanks between them, within one line. */
function wordObject({ text, at, count, around }: ObjectInput, big: boolean): Range | undefined {
  const [first, last] = [lineStart(text, at), lineEnd(text, at)];
  if (first === last) return around ? undefined : { start: at, end: at };
  const run = (from: number): number => {
    const kind = kindAt(text, from, big);
    let end = from;
    while (end < last && kindAt(text, end, big) === kind) end++;
    return end;
  };
  let start = at;
  const kind = kindAt(text, at, big);
  while (start > first && kindAt(text, start - 1, big) === kind) start--;
  let end = start;
  for (let left = around ? 2 * count : count; left > 0; left--) {
    const isBlank = end < last && kindAt(text, end, big) === 0;
    // `aw` takes the blanks after the word, or if there are none, those before it, but not the indent.
    if (around && kind !== 0 && left === 1 && !isBlank) {
      let blank = start;
      while (blank > first && kindAt(text, blank - 1, big) === 0) blank--;
      return { start: blank > first ? blank : start, end };
    }
    if (end === last) return undefined;
    end = run(end);
  }
  return { start, end };
}

/** Selects a quoted string on one line. On a quote, pairs are counted from the start of the line. */
function quoteObject({ text, at, around }: ObjectInput, quote: string): Range | undefined {
  const [first, last] = [lineStart(text, at), lineEnd(text, at)];
  const places: number[] = [];
  for (let place = first; place < last; place++) {
    if (text[place] === "\\") place++;
    else if (text[place] === quote) places.push(place);
  }
  let open: number | undefined;
  if (text[at] === quote) {
    const index = places.indexOf(at);
    if (index === -1) return undefined;
    open = places[index - (index % 2)];
  } else open = places.findLast((place) => place < at) ?? places.find((place) => place > at);
  const close = places.find((place) => open !== undefined && place > open);
  if (open === undefined || close === undefined) return undefined;
  if (!around) return { start: open + 1, end: close };
  let [start, end] = [open, close + 1];
  while (end < last && /[ \t]/.test(text[end]!)) end++;
  if (end === close + 1) while (start > first && /[ \t]/.test(text[start - 1]!)) start--;
  return { start, end };
}

function bracketObject({ text, at, count, around }: ObjectInput, open: string, close: string): Range | undefined {
  let start = at;
  let depth = text[at] === open ? count - 1 : count;
  if (text[at] !== open || depth > 0) {
    let nested = 0;
    for (start = at - 1; start >= 0; start--) {
      if (text[start] === close) nested++;
      else if (text[start] === open && nested > 0) nested--;
      else if (text[start] === open && --depth === 0) break;
    }
    // If the cursor is outside brackets, use the next pair.
    if (start < 0) start = nextOpen(text, at, open, close);
    if (start < 0) return undefined;
  }
  let end = start + 1;
  for (let nested = 1; end < text.length; end++) {
    if (text[end] === open) nested++;
    else if (text[end] === close && --nested === 0) break;
  }
  if (end >= text.length) return undefined;
  if (around) return { start, end: end + 1 };
  const inner = text[start + 1] === "\n" ? start + 2 : start + 1;
  const line = lineStart(text, end);
  // Exclude a closing bracket that is alone on its line.
  if (line > inner && /^[ \t]*$/.test(text.slice(line, end))) return { start: inner, end: line };
  return { start: inner, end: Math.max(inner, end) };
}

function nextOpen(text: string, from: number, open: string, close: string): number {
  let nested = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === close) nested++;
    else if (text[at] === open && nested-- === 0) return at;
  }
  return -1;
}

/** Selects alternating runs of non-blank and blank lines, starting with the kind of the current line. */
function paragraph({ text, at, count, around }: ObjectInput): Range | undefined {
  const isBlank = (line: number): boolean => /^[ \t]*$/.test(text.slice(line, lineEnd(text, line)));
  const kind = isBlank(lineStart(text, at));
  const run = (line: number, wanted: boolean): number | undefined => {
    if (line > text.length || isBlank(line) !== wanted) return undefined;
    let end = lineEnd(text, line);
    while (end < text.length && isBlank(end + 1) === wanted) end = lineEnd(text, end + 1);
    return end;
  };
  let start = lineStart(text, at);
  while (start > 0 && isBlank(lineStart(text, start - 1)) === kind) start = lineStart(text, start - 1);
  let end = start - 1;
  let wanted = kind;
  for (let left = around ? 2 * count : count; left > 0; left--) {
    const next = run(end + 1, wanted);
    if (next === undefined) {
      if (!around || kind || left > 1) return undefined;
      // Without blank lines below the paragraph, include those above.
      while (start > 0 && isBlank(lineStart(text, start - 1))) start = lineStart(text, start - 1);
      break;
    }
    end = next;
    wanted = !wanted;
  }
  return { start, end, linewise: true };
}
