// Reads one JSON value per line from bytes: any chunking, strict UTF-8, LF or CR LF, bounded lines.

import { tryOr } from "../text/try-or.ts";
import { firstNonAscii } from "./ascii.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import { tryParse } from "./object.ts";
import {
  createStrictDecoder,
  decodeCutText,
  defaultMaxLineBytes,
  encodingFault,
  guardDepth,
  type JsonReader,
  malformedFault,
  parseValues,
  type Take,
  tooLargeFault,
  truncatedFault,
  withoutBom,
} from "./values.ts";

/** The options of `JsonLines`. */
export type JsonLinesOptions = {
  /** The maximum line length, without the line end. Defaults to 16 MiB. */
  maxLineBytes?: number;
  /** What to do with lines that do not begin like an object: fail (the default), or skip and count them. */
  onNoise?: "fail" | "skip";
};

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Complete lines are decoded together; this limits the text held at once. */
const runBytes = 1 << 18;

/** Splits bytes into lines of JSON and parses them. */
export class JsonLines implements JsonReader {
  readonly #maxLineBytes: number;
  readonly #skipNoise: boolean;
  readonly #decoder = createStrictDecoder();
  readonly #pending = new ByteBuffer();
  #atStart = true;
  #skipped = 0;

  constructor(options: JsonLinesOptions = {}) {
    this.#maxLineBytes = options.maxLineBytes ?? defaultMaxLineBytes;
    this.#skipNoise = options.onNoise === "skip";
  }

  get skipped(): number {
    return this.#skipped;
  }

  push(bytes: Uint8Array, take: Take): void {
    let start = 0;
    if (this.#pending.length > 0) {
      const end = bytes.indexOf(lineFeed);
      this.#bufferBytes(end === -1 ? bytes : bytes.subarray(0, end));
      if (end === -1) return;
      this.#readRun(this.#pending.view(), take);
      this.#pending.clear();
      start = end + 1;
    }
    const last = bytes.lastIndexOf(lineFeed);
    while (start <= last) {
      const end = last - start <= runBytes ? last : this.#runEnd(bytes, start);
      this.#readRun(bytes.subarray(start, end), take);
      start = end + 1;
    }
    if (start < bytes.length) this.#bufferBytes(bytes.subarray(start));
  }

  end(take: Take): void {
    const bytes = this.#first(this.#pending.view());
    const text = this.#decode(bytes);
    if (text === undefined) {
      const readable = decodeCutText(bytes);
      if (readable === undefined) throw encodingFault();
      if (parseValues(readable) === "broken") throw malformedFault(readable);
      throw truncatedFault("a character");
    }
    this.#pending.clear();
    this.#readUnusual(text, take, "at the end");
  }

  /** Returns the last line end of a run, or the first one if a single line is longer than a run. */
  #runEnd(bytes: Uint8Array, start: number): number {
    const end = bytes.lastIndexOf(lineFeed, start + runBytes);
    return end >= start ? end : bytes.indexOf(lineFeed, start);
  }

  #bufferBytes(bytes: Uint8Array): void {
    const length = this.#pending.length + bytes.length;
    // The CR of a line end is not counted, and whether this CR is part of one is not yet known.
    const last = bytes.length > 0 ? bytes[bytes.length - 1] : this.#pending.last();
    const counted = last === carriageReturn ? length - 1 : length;
    if (counted > this.#maxLineBytes) throw tooLargeFault(this.#maxLineBytes);
    this.#pending.append(bytes);
  }

  /**
   * Takes complete lines, without the end of the last one. A single character outside Latin-1 makes a whole string twice as wide and slows
   * the parsing of every line in it, so lines that are not ASCII are decoded separately.
   */
  #readRun(run: Uint8Array, take: Take): void {
    const bytes = this.#first(run);
    if (bytes.length > this.#maxLineBytes) {
      this.#readLines(bytes, take);
      return;
    }
    let start = 0;
    while (start < bytes.length) {
      const wide = firstNonAscii(bytes, start);
      const wideLine = wide === bytes.length ? wide : Math.max(start, bytes.lastIndexOf(lineFeed, wide) + 1);
      if (wideLine > start) this.#readStretch(bytes.subarray(start, wideLine), take);
      if (wideLine === bytes.length) return;
      const end = wideEnd(bytes, wide);
      this.#readStretch(bytes.subarray(wideLine, end), take);
      start = end + 1;
    }
  }

  #readStretch(bytes: Uint8Array, take: Take): void {
    const text = this.#decode(bytes);
    if (text === undefined) {
      this.#readLines(bytes, take);
      return;
    }
    let start = 0;
    for (;;) {
      const end = text.indexOf("\n", start);
      if (end === -1) break;
      if (end > start) this.#readLine(text.slice(start, end), take);
      start = end + 1;
    }
    if (start < text.length) this.#readLine(text.slice(start), take);
  }

  /** Reads line by line, so that everything before the faulty line is still delivered. */
  #readLines(bytes: Uint8Array, take: Take): void {
    let start = 0;
    while (start <= bytes.length) {
      const next = bytes.indexOf(lineFeed, start);
      const end = next === -1 ? bytes.length : next;
      const length = bytes[end - 1] === carriageReturn && end > start ? end - start - 1 : end - start;
      if (length > this.#maxLineBytes) throw tooLargeFault(this.#maxLineBytes);
      const text = this.#decode(bytes.subarray(start, end));
      if (text === undefined) throw encodingFault();
      this.#readLine(text, take);
      start = end + 1;
    }
  }

  #readLine(text: string, take: Take): void {
    const value = tryParse(text);
    if (value === undefined) this.#readUnusual(text, take);
    else take(guardDepth(value, text.length));
  }

  #readUnusual(text: string, take: Take, place?: "at the end"): void {
    const values = parseValues(text);
    if (values === "cut" && place === "at the end") throw truncatedFault("a line");
    if (typeof values !== "string") {
      for (const value of values) take(value);
      return;
    }
    if (!this.#skipNoise || text.trimStart().startsWith("{")) throw malformedFault(text);
    this.#skipped++;
  }

  #decode(bytes: Uint8Array): string | undefined {
    return tryOr(() => this.#decoder.decode(bytes), undefined);
  }

  /** Removes a byte order mark from the beginning of the stream. */
  #first(bytes: Uint8Array): Uint8Array {
    if (!this.#atStart) return bytes;
    this.#atStart = false;
    return withoutBom(bytes);
  }
}

/** Returns the end of the last consecutive line that is not ASCII: in most languages that is every line. */
function wideEnd(bytes: Uint8Array, from: number): number {
  let end = bytes.indexOf(lineFeed, from);
  while (end !== -1) {
    const next = bytes.indexOf(lineFeed, end + 1);
    const line = bytes.subarray(end + 1, next === -1 ? bytes.length : next);
    if (firstNonAscii(line, 0) === line.length) return end;
    end = next;
  }
  return bytes.length;
}
