// Finds JSON in prose, as models answer when they are asked for JSON.
import { tryParse } from "./object.ts";

/** Limits the steps for a text of hostile brackets, beyond a few for each character. */
const spareSteps = 1_000_000;

/**
 * Yields the values in a text, the likeliest first: the text itself; the contents of fenced blocks; objects and lists between words, in
 * order, except for what looks like a footnote. Nested values are not listed.
 */
export function* jsonIn(text: string): Generator<unknown> {
  const whole = tryParse(text.trim());
  if (whole !== undefined) {
    yield whole;
    return;
  }
  for (const [, fenced = ""] of text.matchAll(/^[ \t]*```[^\n`]*\n([\s\S]*?)\n?[ \t]*```/gm)) {
    const value = tryParse(fenced.trim());
    if (value !== undefined) yield value;
  }
  const notes: unknown[] = [];
  for (const value of bracketedValues(text)) {
    if (isNote(value)) notes.push(value);
    else yield value;
  }
  yield* notes;
}

/** `[1]`, `[2, 3]`, `[]` and `{}` in prose are seldom meant as JSON. */
function isNote(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === "number");
  return Object.keys(value as object).length === 0;
}

function* bracketedValues(text: string): Generator<unknown> {
  let steps = 8 * text.length + spareSteps;
  for (let start = nextBracket(text, 0); start !== -1 && steps > 0; ) {
    const end = endOfValue(text, start);
    steps -= (end === -1 ? text.length : end) - start;
    const value = end === -1 ? undefined : tryParse(text.slice(start, end));
    if (value !== undefined) yield value;
    start = nextBracket(text, value === undefined ? start + 1 : end);
  }
}

function nextBracket(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === "{" || text[at] === "[") return at;
  return -1;
}

/** Returns the position after the bracket that closes the one at `start`, or -1. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
      // A line break ends the search, since a JSON string cannot contain one.
      else if (character === "\n") return -1;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1;
  }
  return -1;
}
