// Encodes a text as a difference to known text: pieces to copy, and new text between them.

/**
 * A text as changes to a known text. A string is new text. Two numbers are a copy: start and length in characters,
 * counted in the known text followed by the output so far.
 */
export type Delta = (string | number)[];

/** The number of characters that must match before a copy is considered. A copy itself takes about ten. */
const window = 12;
const shortestCopy = 20;
/** How many characters are compared at a time when extending a match. */
const stride = 32;
const multiplier = 0x2f0b4c47;
/** The factor of the character that leaves the rolling hash's window. */
const leaving = powerOfInt32(multiplier, window);

export function encodeDelta(text: string, known: string): Delta {
  const all = known + text;
  return all.length <= short ? encodeShort(all, known.length) : encodeLong(all, known);
}

/** Up to this length, searching the whole text is faster than a table of its windows: it runs natively. */
const short = 8192;

/** Encodes the part of `all` from `border` on; the part before it is the known text. Finds copies by searching the text itself. */
function encodeShort(all: string, border: number): Delta {
  const delta: Delta = [];
  let written = border;
  // Hash one window after the other: any passage that is long enough to copy contains a whole window.
  for (let at = border; at + window <= all.length; ) {
    const place = all.indexOf(all.slice(at, at + window));
    const copy = place + window <= at ? copyAt(all, place, { at, written, border }) : undefined;
    if (copy) {
      if (copy.at > written) delta.push(all.slice(written, copy.at));
      delta.push(copy.from, copy.length);
      written = copy.at + copy.length;
    }
    at = copy ? written : at + shortestCopy - window;
  }
  if (written < all.length) delta.push(all.slice(written));
  return delta;
}

/** Encodes the part of `all` after `known`, with which it begins. Finds copies by a rolling hash and a table of earlier windows. */
function encodeLong(all: string, known: string): Delta {
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
      // In repetitive text keep the first position of a window, which allows the longest copies.
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

/** Rebuilds the text of a delta. Returns undefined if the delta does not fit `known`, or the text would be longer than `longest`. */
export function decodeDelta(delta: readonly unknown[], known: string, longest: number): string | undefined {
  const length = lengthOf(delta);
  if (length === undefined || length > longest) return undefined;
  // Copy bytes, since slicing a growing string copies it whole each time.
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

/** Returns the length of the text that a delta produces. */
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

/** Maps hashes to positions of windows in a text. A later entry replaces an earlier one with the same slot. */
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
    this.#table[this.#slotOf(hash)] = at + 1;
  }

  /** Returns a position before `at` with the same window. */
  find(hash: number, at: number): number | undefined {
    const place = this.#table[this.#slotOf(hash)]! - 1;
    if (place < 0 || place + window > at) return undefined;
    for (let index = 0; index < window; index++)
      if (this.#text.charCodeAt(place + index) !== this.#text.charCodeAt(at + index)) return undefined;
    return place;
  }

  #slotOf(hash: number): number {
    return (Math.imul(hash, 0x9e3779b1) >>> 7) & (this.#table.length - 1);
  }
}

/** Extends a match on both sides of a window. No copy crosses the border between known text and output. */
function copyAt(
  all: string,
  place: number | undefined,
  { at, written, border }: { at: number; written: number; border: number },
): { from: number; at: number; length: number } | undefined {
  if (place === undefined) return undefined;
  // A copy ends before its destination, so looking further back than this is useless.
  const first = place < border ? 0 : Math.max(border, 2 * place - at);
  let before = 0;
  while (at - before > written && place - before > first && all[at - before - 1] === all[place - before - 1]) before++;
  // A copy can only refer to output that was already written.
  const end = place < border ? border : at - before;
  let after = Math.min(window, end - place);
  const most = Math.min(all.length - at, end - place) - stride;
  while (after <= most && all.startsWith(all.slice(place + after, place + after + stride), at + after)) after += stride;
  while (at + after < all.length && place + after < end && all.charCodeAt(at + after) === all.charCodeAt(place + after))
    after++;
  // Do not split a surrogate pair: SQLite could not store the halves.
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

function powerOfInt32(base: number, exponent: number): number {
  let result = 1;
  for (let index = 0; index < exponent; index++) result = Math.imul(result, base);
  return result;
}
