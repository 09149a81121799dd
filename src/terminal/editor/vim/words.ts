// Words as vim counts them: keywords, other symbols, and blanks between. A line break takes the place of vim's end of line.
import { nextGrapheme, previousGrapheme } from "../graphemes.ts";
import { wordKind } from "../moves.ts";

/** Returns 0 for a blank or the end of a line. With `big`, everything else is one kind. */
export function kindAt(text: string, at: number, big: boolean): number {
  const character = text[at];
  if (character === undefined || /[ \t\n]/.test(character)) return 0;
  if (big) return 1;
  const kind = wordKind(text, at);
  return ["other", "latin", "token", "han", "kana", "hangul"].indexOf(kind) + 1;
}

export function isEmptyLine(text: string, at: number): boolean {
  return isLineEnd(text, at) && (at === 0 || text[at - 1] === "\n");
}

export function isLineEnd(text: string, at: number): boolean {
  return at >= text.length || text[at] === "\n";
}

/** Moves `n` words forward. With `stopAtLineEnd`, for operators, the last word ends with its line. */
export function wordForward(
  text: string,
  from: number,
  n: number,
  { big = false, stopAtLineEnd = false } = {},
): number {
  let at = from;
  for (let left = n - 1; left >= 0; left--) {
    const kind = kindAt(text, at, big);
    const isLastLine = text.indexOf("\n", at) === -1;
    if (at >= text.length) return at;
    const isLast = stopAtLineEnd && left === 0;
    const wasEnd = text[at] === "\n";
    at = nextGrapheme(text, at);
    const reachedEnd = !wasEnd && isLineEnd(text, at);
    if ((reachedEnd && isLastLine) || (isLast && (wasEnd || reachedEnd))) {
      if (isLast || isLastLine) return at;
    }
    if (kind !== 0) {
      while (kindAt(text, at, big) === kind) {
        at = nextGrapheme(text, at);
        if (isLast && isLineEnd(text, at)) return at;
      }
    }
    while (at < text.length && kindAt(text, at, big) === 0) {
      if (isEmptyLine(text, at)) break;
      at = nextGrapheme(text, at);
    }
  }
  return at;
}

export function wordBack(text: string, from: number, n: number, { big = false } = {}): number {
  let at = from;
  for (let left = n; left > 0; left--) {
    if (at === 0) return 0;
    at = previousGrapheme(text, at);
    let isEmpty = false;
    while (kindAt(text, at, big) === 0) {
      if (isEmptyLine(text, at)) {
        isEmpty = true;
        break;
      }
      if (at === 0) return 0;
      at = previousGrapheme(text, at);
    }
    if (isEmpty) continue;
    const kind = kindAt(text, at, big);
    while (kindAt(text, at, big) === kind) {
      if (at === 0) return 0;
      at = previousGrapheme(text, at);
    }
    at = nextGrapheme(text, at);
  }
  return at;
}

/** Moves to the last character of a word. With `stay`, a word that ends at the cursor counts, as for `cw`. */
export function wordEnd(text: string, from: number, n: number, { big = false, stay = false } = {}): number {
  let at = from;
  let mayStay = stay;
  for (let left = n; left > 0; left--) {
    const kind = kindAt(text, at, big);
    if (at >= text.length) return at;
    at = nextGrapheme(text, at);
    if (kind !== 0 && kindAt(text, at, big) === kind) at = skip(text, at, big);
    else if (!mayStay || kind === 0) {
      while (kindAt(text, at, big) === 0) {
        if (at >= text.length) return at;
        at = nextGrapheme(text, at);
      }
      at = skip(text, at, big);
    }
    at = previousGrapheme(text, at);
    mayStay = false;
  }
  return at;
}

function skip(text: string, from: number, big: boolean): number {
  const kind = kindAt(text, from, big);
  let at = from;
  while (at < text.length && kindAt(text, at, big) === kind) at = nextGrapheme(text, at);
  return at;
}

/** Moves to the last character of the previous word (`ge`). */
export function wordEndBack(text: string, from: number, n: number, { big = false } = {}): number {
  let at = from;
  for (let left = n; left > 0; left--) {
    const kind = kindAt(text, at, big);
    if (at === 0) return 0;
    at = previousGrapheme(text, at);
    if (kind !== 0) {
      while (kindAt(text, at, big) === kind) {
        if (at === 0) return 0;
        at = previousGrapheme(text, at);
      }
    }
    while (kindAt(text, at, big) === 0) {
      if (isEmptyLine(text, at) || at === 0) break;
      at = previousGrapheme(text, at);
    }
  }
  return at;
}
