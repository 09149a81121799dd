// A text as a difference to text that is known already: which pieces to copy, and what is new between them.

/**
 * A string is new text. Two numbers copy: from where, and how many characters, counted in the known text followed by what has
 * been written so far.
 */
export type Delta = (string | number)[];

/** So many characters must agree before a copy is considered. A copy itself takes about ten. */
const window = 12;
const shortestCopy = 20;
const multiplier = 0x2f0b4c47;
/** What a character is multiplied by when it leaves the window. */
const leaving = power(multiplier, window);

export function encodeDelta(text: string, known: string): Delta {
  const all = known + text;
  const places = new Places(all);
  for (let at = 0; at + window <= known.length; at += window) places.add(at, places.hashAt(at));
  const delta: Delta = [];
  let written = known.length;
  let at = written;
  let hash = places.hashAt(at);
  const last = all.length - window;
  while (at <= last) {
    const place = places.find(hash, at);
    const copy = copyAt(all, place, { at, written, border: known.length });
    if (copy === undefined) {
      // Of text that repeats itself the first place stays: the farther it is, the longer the copies.
      if (at % window === 0 && place === undefined) places.add(at, hash);
      hash = (Math.imul(hash, multiplier) + all.charCodeAt(at + window) - Math.imul(all.charCodeAt(at), leaving)) | 0;
      at++;
      continue;
    }
    if (copy.at > written) delta.push(all.slice(written, copy.at));
    delta.push(copy.from, copy.length);
    at = copy.at + copy.length;
    written = at;
    hash = places.hashAt(at);
  }
  if (written < all.length) delta.push(all.slice(written));
  return delta;
}

/** Undefined: it is not a delta to this text, or makes a text that is longer than `longest`. */
export function decodeDelta(delta: readonly unknown[], known: string, longest: number): string | undefined {
  const length = lengthOf(delta);
  if (length === undefined || length > longest) return undefined;
  // Copied as bytes: a string that is cut while it grows is copied whole each time.
  const isWide = [known, ...delta].some((part) => typeof part === "string" && /[^\0-\xff]/.test(part));
  const [encoding, width] = isWide ? (["utf16le", 2] as const) : (["latin1", 1] as const);
  const bytes = Buffer.allocUnsafe((known.length + length) * width);
  let end = bytes.write(known, encoding);
  for (let index = 0; index < delta.length; index++) {
    const part = delta[index] as string | number;
    if (typeof part === "string") {
      end += bytes.write(part, end, encoding);
      continue;
    }
    const [start, size] = [part * width, (delta[++index] as number) * width];
    if (start + size > end) return undefined;
    bytes.copyWithin(end, start, start + size);
    end += size;
  }
  return bytes.toString(encoding, known.length * width, end);
}

/** How long the text is that a delta makes. */
function lengthOf(delta: readonly unknown[]): number | undefined {
  let sum = 0;
  for (let index = 0; index < delta.length; index++) {
    const part = delta[index];
    const length = typeof part === "string" ? part.length : isCount(part) ? delta[++index] : undefined;
    if (!isCount(length)) return undefined;
    sum += length;
  }
  return sum;
}

/** Where windows of a text lie, by their hashes. Of several with the same hash the last is known. */
class Places {
  readonly #text: string;
  readonly #table: Int32Array;

  constructor(text: string) {
    this.#text = text;
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(text.length / window + 2) + 1));
  }

  hashAt(start: number): number {
    let hash = 0;
    for (let at = start; at < start + window; at++)
      hash = (Math.imul(hash, multiplier) + this.#text.charCodeAt(at)) | 0;
    return hash;
  }

  add(at: number, hash: number): void {
    this.#table[this.#slot(hash)] = at + 1;
  }

  /** A place before `at` that holds the same window. */
  find(hash: number, at: number): number | undefined {
    const place = this.#table[this.#slot(hash)]! - 1;
    if (place < 0 || place + window > at) return undefined;
    for (let index = 0; index < window; index++)
      if (this.#text.charCodeAt(place + index) !== this.#text.charCodeAt(at + index)) return undefined;
    return place;
  }

  #slot(hash: number): number {
    return (Math.imul(hash, 0x9e3779b1) >>> 7) & (this.#table.length - 1);
  }
}

/** As much as agrees on both sides of a window. No copy crosses the border between what is known and what is written. */
function copyAt(
  all: string,
  place: number | undefined,
  { at, written, border }: { at: number; written: number; border: number },
): { from: number; at: number; length: number } | undefined {
  if (place === undefined) return undefined;
  // What is copied ends before the place that it is copied to, so that there is no use in looking further back than this.
  const first = place < border ? 0 : Math.max(border, 2 * place - at);
  let before = 0;
  while (at - before > written && place - before > first && all[at - before - 1] === all[place - before - 1]) before++;
  // What is copied must have been written by then.
  const end = place < border ? border : at - before;
  let after = Math.min(window, end - place);
  while (at + after < all.length && place + after < end && all.charCodeAt(at + after) === all.charCodeAt(place + after))
    after++;
  // A character of two halves is not taken apart: SQLite could not keep them.
  if (isSecondHalf(all, at - before)) before--;
  if (isSecondHalf(all, at + after)) after--;
  const length = before + after;
  return length < shortestCopy ? undefined : { from: place - before, at: at - before, length };
}

function isSecondHalf(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function power(base: number, exponent: number): number {
  let result = 1;
  for (let index = 0; index < exponent; index++) result = Math.imul(result, base);
  return result;
}
