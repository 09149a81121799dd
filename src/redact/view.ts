// Decodes a text to what a reader sees: without colours, with escapes resolved. Secrets can be hidden in these.
import type { Span } from "./span.ts";

export type DecodedText = {
  text: string;
  /** Maps a position in the decoded text to the original text. */
  original(span: Span): Span;
  /** Returns whether something was removed right before this character. */
  isSeam(at: number): boolean;
};

/**
 * Terminal sequences; percent escapes, also doubled; JSON escapes at any depth; HTML entities; zero-width characters. Every repetition is
 * bounded, so that a million of something cannot overflow the stack.
 */
const hidden =
  /(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b[\]PX^_][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)|\x1b[ -/]{0,4}[0-~]|%(?:25){0,8}[0-9a-fA-F]{2}|\\{1,64}(?:(?:u001[bB]|x1[bB]|033|e)\[[0-?]{0,64}[ -/]{0,8}[@-~]|u[0-9a-fA-F]{4}|[nrtbf/"'])?|&(?:quot|apos|amp|lt|gt|#\d{2,5}|#x[0-9a-fA-F]{2,4});|[\u00ad\u200b-\u200d\u2060\ufeff]/g;

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const entities: Record<string, string> = { quot: '"', apos: "'", amp: "&", lt: "<", gt: ">" };

/** Removes terminal sequences and decodes escapes, which can hide secrets. Returns undefined if there are none, as is usual. */
export function decodedText(text: string): DecodedText | undefined {
  if (!/[\x1b\x9b%\\&\u00ad\u200b-\u200d\u2060\ufeff]/.test(text)) return undefined;
  /** For each change: its position in the view, its start and end in the original, and its length in the view. */
  const changes: number[] = [];
  let shorter = 0;
  const changed = text.replace(hidden, (sequence: string, at: number) => {
    const decoded = decodeEscape(sequence);
    if (decoded === sequence) return sequence;
    changes.push(at - shorter, at, at + sequence.length, decoded.length);
    shorter += sequence.length - decoded.length;
    return decoded;
  });
  return changes.length === 0 ? undefined : new ChangedView(changed, changes);
}

/** Matches the line breaks that programs insert into long base64 or hexadecimal, to join it again. */
const wrapped = /(?=[\r\n])(?<=[A-Za-z0-9+/_-]{32})\r?\n[ \t]{0,16}(?=[A-Za-z0-9+/_=-]{2})/g;

export function joinedLines(text: string): DecodedText | undefined {
  if (!text.includes("\n")) return undefined;
  const changes: number[] = [];
  let shorter = 0;
  const changed = text.replace(wrapped, (ending: string, at: number) => {
    changes.push(at - shorter, at, at + ending.length, 0);
    shorter += ending.length;
    return "";
  });
  return changes.length === 0 ? undefined : new ChangedView(changed, changes);
}

function decodeEscape(sequence: string): string {
  if (sequence[0] === "%") return characterFor(Number.parseInt(sequence.slice(-2), 16), sequence);
  if (sequence[0] === "&") {
    const number = /#(x?)([0-9a-fA-F]+);$/.exec(sequence);
    if (number) return characterFor(Number.parseInt(number[2]!, number[1] ? 16 : 10), sequence);
    return entities[sequence.slice(1, -1)] ?? sequence;
  }
  if (sequence[0] !== "\\") return "";
  const last = sequence.at(-1)!;
  if (last === "\\") return sequence;
  if (sequence.at(-2) === "\\") return escapes[last] ?? last;
  const code = /u([0-9a-fA-F]{4})$/.exec(sequence)?.[1];
  return code ? characterFor(Number.parseInt(code, 16), sequence) : ""; // this is an escape sequence for a colour
}

function characterFor(code: number, otherwise: string): string {
  return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : code === 10 || code === 13 ? "\n" : otherwise;
}

class ChangedView implements DecodedText {
  readonly text: string;
  readonly #changes: readonly number[];

  constructor(text: string, changes: readonly number[]) {
    this.text = text;
    this.#changes = changes;
  }

  original({ start, end }: Span): Span {
    return { start: this.#originalOf(start).start, end: this.#originalOf(end - 1).end };
  }

  isSeam(at: number): boolean {
    const change = this.#lastUpTo(at);
    if (change < 0) return false;
    return this.#changes[change] === at && this.#changes[change + 3] === 0;
  }

  #originalOf(at: number): Span {
    const change = this.#lastUpTo(at);
    if (change < 0) return { start: at, end: at + 1 };
    const [from = 0, start = 0, end = 0, length = 0] = this.#changes.slice(change, change + 4);
    if (at < from + length) return { start, end };
    const next = end + (at - from - length);
    return { start: next, end: next + 1 };
  }

  /** Returns the index of the last change at or before a character, or -1. */
  #lastUpTo(at: number): number {
    let low = 0;
    let high = this.#changes.length / 4;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#changes[middle * 4]! <= at) low = middle + 1;
      else high = middle;
    }
    return (low - 1) * 4;
  }
}
