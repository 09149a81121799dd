// Motions: a table of where each motion leads and what range an operator takes with it.
import { graphemesOf, nextGrapheme, previousGrapheme } from "../graphemes.ts";
import { firstNonBlank, lineEnd, lineStart } from "../moves.ts";
import { isEmptyLine, isLineEnd, wordBack, wordEnd, wordEndBack, wordForward } from "./words.ts";

/** The last search for a character within a line. */
export type Find = { key: "f" | "F" | "t" | "T"; character: string };

export type MotionInput = {
  text: string;
  at: number;
  count: number;
  hasCount: boolean;
  /** The character that `f`, `F`, `t` or `T` looks for. */
  argument: string;
  operator: string | undefined;
  find: Find | undefined;
  /** The column in which j and k stay. */
  goal: number | undefined;
};

export type Reach = { at: number; kind: "exclusive" | "inclusive" | "linewise"; goal?: number };

/** Returns undefined if the motion fails, which cancels its operator too. */
type Motion = (input: MotionInput) => Reach | undefined;

const exclusive =
  (go: (input: MotionInput) => number): Motion =>
  (input) => ({ at: go(input), kind: "exclusive" });

const inclusive =
  (go: (input: MotionInput) => number): Motion =>
  (input) => ({ at: go(input), kind: "inclusive" });

/** Moves `count` words back, or to the beginning of the text; fails if already there. */
const back =
  (go: (text: string, at: number, count: number) => number, kind: Reach["kind"]): Motion =>
  ({ text, at, count }) =>
    at === 0 ? undefined : { at: go(text, at, count), kind };

const words =
  (big: boolean): Motion =>
  (input) => {
    const { text, at, count, operator } = input;
    // `cw` acts like `ce` and leaves the blanks after the word, but stays on a word of one letter.
    if (operator === "c" && !isLineEnd(text, at) && !/[ \t]/.test(text[at]!))
      return { at: onCharacter(text, wordEnd(text, at, count, { big, stay: true })), kind: "inclusive" };
    return {
      at: wordForward(text, at, count, { big, stopAtLineEnd: operator !== undefined }),
      kind: "exclusive",
    };
  };

export const motions: Record<string, Motion> = {
  h: (input) => moveSideways(input, -1),
  l: (input) => moveSideways(input, 1),
  " ": (input) => moveSideways(input, 1),
  j: (input) => upAndDown(input, input.count),
  k: (input) => upAndDown(input, -input.count),
  "+": (input) => moveLines(input, input.count),
  "-": (input) => moveLines(input, -input.count),
  _: (input) => moveLines(input, input.count - 1),
  w: words(false),
  W: words(true),
  b: back(wordBack, "exclusive"),
  B: back((text, at, count) => wordBack(text, at, count, { big: true }), "exclusive"),
  e: inclusive(({ text, at, count }) => onCharacter(text, wordEnd(text, at, count))),
  E: inclusive(({ text, at, count }) => onCharacter(text, wordEnd(text, at, count, { big: true }))),
  ge: back(wordEndBack, "inclusive"),
  gE: back((text, at, count) => wordEndBack(text, at, count, { big: true }), "inclusive"),
  "0": exclusive(({ text, at }) => lineStart(text, at)),
  "^": exclusive(({ text, at }) => firstNonBlank(text, at)),
  "|": exclusive(({ text, at, count }) => atColumn(text, lineStart(text, at), count - 1)),
  $: ({ text, at, count }) => {
    const line = lineBelow(text, at, count - 1);
    return line === undefined
      ? undefined
      : { at: lastCharacter(text, line), kind: "inclusive", goal: Number.POSITIVE_INFINITY };
  },
  g_: ({ text, at, count }) => {
    const line = lineBelow(text, at, count - 1);
    if (line === undefined) return undefined;
    let end = lastCharacter(text, line);
    while (end > lineStart(text, line) && /[ \t]/.test(text[end]!)) end--;
    return { at: end, kind: "inclusive" };
  },
  gg: ({ text, count }) => toLine(text, count),
  G: ({ text, count, hasCount }) => toLine(text, hasCount ? count : Number.POSITIVE_INFINITY),
  f: (input) => search(input, { key: "f", character: input.argument }),
  F: (input) => search(input, { key: "F", character: input.argument }),
  t: (input) => search(input, { key: "t", character: input.argument }),
  T: (input) => search(input, { key: "T", character: input.argument }),
  ";": (input) => repeatSearch(input, (key) => key),
  ",": (input) => repeatSearch(input, (key) => ({ f: "F", F: "f", t: "T", T: "t" })[key] as Find["key"]),
  "}": (input) => paragraph(input, 1),
  "{": (input) => paragraph(input, -1),
  "%": (input) => (input.hasCount ? matchOrPercent(input) : matchingBracket(input)),
};

export const takesCharacter = new Set(["f", "F", "t", "T"]);

function moveSideways({ text, at, count, operator }: MotionInput, by: 1 | -1): Reach | undefined {
  let target = at;
  for (let left = count; left > 0; left--) {
    if (by < 0 && (target === 0 || text[target - 1] === "\n")) break;
    if (by > 0 && isLineEnd(text, target)) break;
    const next = by < 0 ? previousGrapheme(text, target) : nextGrapheme(text, target);
    // Without an operator, the cursor does not move past the last character of the line.
    if (by > 0 && operator === undefined && isLineEnd(text, next)) break;
    target = next;
  }
  return target === at && operator === undefined ? undefined : { at: target, kind: "exclusive" };
}

function upAndDown(input: MotionInput, by: number): Reach | undefined {
  const { text, at } = input;
  const column = input.goal ?? columnOf(text, at);
  const line = by > 0 ? lineBelow(text, at, by) : lineAbove(text, at, -by);
  if (line === undefined) return undefined;
  return { at: atColumn(text, line, column), kind: "linewise", goal: column };
}

function moveLines({ text, at }: MotionInput, by: number): Reach | undefined {
  const line = by >= 0 ? lineBelow(text, at, by) : lineAbove(text, at, -by);
  return line === undefined ? undefined : { at: firstNonBlank(text, line), kind: "linewise" };
}

function toLine(text: string, number: number): Reach {
  let line = 0;
  for (let left = number - 1; left > 0; left--) {
    const next = text.indexOf("\n", line);
    if (next === -1) break;
    line = next + 1;
  }
  return { at: firstNonBlank(text, line), kind: "linewise" };
}

function matchOrPercent({ text, count }: MotionInput): Reach | undefined {
  if (count > 100) return undefined;
  return toLine(text, Math.floor((count * text.split("\n").length + 99) / 100));
}

/** Returns the start of the line `by` lines below, or of the last line; undefined if the cursor is already on it. */
function lineBelow(text: string, at: number, by: number): number | undefined {
  let line = lineStart(text, at);
  for (let left = by; left > 0; left--) {
    const next = text.indexOf("\n", line);
    if (next === -1) return left < by ? line : undefined;
    line = next + 1;
  }
  return line;
}

function lineAbove(text: string, at: number, by: number): number | undefined {
  let line = lineStart(text, at);
  for (let left = by; left > 0; left--) {
    if (line === 0) return left < by ? line : undefined;
    line = lineStart(text, line - 1);
  }
  return line;
}

/** Counts columns in graphemes, so that a column means the same on every line of a prompt. */
function columnOf(text: string, at: number): number {
  let column = 0;
  for (const _ of graphemesOf(text.slice(lineStart(text, at), at))) column++;
  return column;
}

function atColumn(text: string, line: number, column: number): number {
  const last = lastCharacter(text, line);
  let at = line;
  for (let left = column; left > 0 && at < last; left--) at = nextGrapheme(text, at);
  return Math.min(at, last);
}

/** The last character of the line, or the end of an empty line. */
export function lastCharacter(text: string, at: number): number {
  const end = lineEnd(text, at);
  return isEmptyLine(text, end) ? end : previousGrapheme(text, end);
}

/** Moves the cursor from behind the last character of a line to that character. */
export function onCharacter(text: string, at: number): number {
  return isLineEnd(text, at) ? lastCharacter(text, at) : at;
}

function search(input: MotionInput, find: Find, { isRepeat = false } = {}): Reach | undefined {
  const { text, count } = input;
  const isForward = find.key === "f" || find.key === "t";
  const isTill = find.key === "t" || find.key === "T";
  const [start, end] = [lineStart(text, input.at), lineEnd(text, input.at)];
  let { at } = input;
  // A repeated `t` directly before its target would not move, so it may skip that target.
  let mayStop = !(isRepeat && isTill && count === 1);
  for (let left = count; left > 0; left--) {
    while (true) {
      if (isForward ? at >= end : at <= start) return undefined;
      at = isForward ? nextGrapheme(text, at) : previousGrapheme(text, at);
      if (at >= end && isForward) return undefined;
      if (mayStop && text.startsWith(find.character, at)) break;
      mayStop = true;
    }
  }
  if (isTill) at = isForward ? previousGrapheme(text, at) : nextGrapheme(text, at);
  return { at, kind: isForward ? "inclusive" : "exclusive" };
}

function repeatSearch(input: MotionInput, turn: (key: Find["key"]) => Find["key"]): Reach | undefined {
  if (!input.find) return undefined;
  return search(input, { ...input.find, key: turn(input.find.key) }, { isRepeat: true });
}

/** Moves to the next empty line after a non-empty one, or to the last character if there is none. */
function paragraph({ text, at, count }: MotionInput, by: 1 | -1): Reach | undefined {
  let line = lineStart(text, at);
  for (let left = count - 1; left >= 0; left--) {
    let hasText = false;
    for (let isFirst = true; ; isFirst = false) {
      const isEmpty = isLineEnd(text, line);
      if (!isEmpty) hasText = true;
      if (!isFirst && hasText && isEmpty) break;
      const next = by > 0 ? lineEnd(text, line) + 1 : line === 0 ? -1 : lineStart(text, line - 1);
      if (next < 0 || next > text.length) {
        if (left > 0) return undefined;
        break;
      }
      line = next;
    }
  }
  const isLastLine = text.indexOf("\n", line) === -1;
  if (by > 0 && isLastLine && line < text.length) return { at: lastCharacter(text, line), kind: "inclusive" };
  return { at: line, kind: "exclusive" };
}

const pairs: Record<string, string> = { "(": ")", "[": "]", "{": "}" };
const opening: Record<string, string> = { ")": "(", "]": "[", "}": "{" };

function matchingBracket({ text, at }: MotionInput): Reach | undefined {
  const end = lineEnd(text, at);
  for (let from = at; from < end; from++) {
    const character = text[from]!;
    if (character in pairs) return inclusiveReach(findPartner(text, from, pairs[character]!, 1));
    if (character in opening) return inclusiveReach(findPartner(text, from, opening[character]!, -1));
  }
  return undefined;
}

function inclusiveReach(at: number | undefined): Reach | undefined {
  return at === undefined ? undefined : { at, kind: "inclusive" };
}

function findPartner(text: string, from: number, other: string, by: 1 | -1): number | undefined {
  const bracket = text[from]!;
  let depth = 0;
  for (let at = from; at >= 0 && at < text.length; at += by) {
    if (text[at] === bracket) depth++;
    else if (text[at] === other && --depth === 0) return at;
  }
  return undefined;
}
