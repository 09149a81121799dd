// Parses JSON values from blocks between the lines __JSON_START__ and __JSON_END__. Everything outside is skipped.
import { ByteBuffer } from "../json/byte-buffer.ts";
import {
  createStrictDecoder,
  defaultMaxLineBytes,
  encodingFault,
  type JsonReader,
  malformedFault,
  parseValues,
  type Take,
  tooLargeFault,
  truncatedFault,
  withoutBom,
} from "../json/values.ts";

export const startMark = "__JSON_START__";
const endMark = "__JSON_END__";
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Longer than a mark with surrounding blanks; a longer line outside a block is noise and is not buffered. */
const longestMarkLine = 256;

/** Splits bytes into blocks of JSON between marks. */
export class SentinelBlocks implements JsonReader {
  readonly skipped = 0;
  readonly #maxBlockBytes: number;
  readonly #decoder = createStrictDecoder();
  readonly #line = new ByteBuffer();
  readonly #block = new ByteBuffer();
  #inBlock = false;
  #atStart = true;

  constructor(options: { maxLineBytes?: number } = {}) {
    this.#maxBlockBytes = options.maxLineBytes ?? defaultMaxLineBytes;
  }

  push(bytes: Uint8Array, take: Take): void {
    let start = 0;
    while (start < bytes.length) {
      const end = bytes.indexOf(lineFeed, start);
      this.#bufferBytes(bytes.subarray(start, end === -1 ? bytes.length : end));
      if (end === -1) return;
      this.#endLine(take);
      start = end + 1;
    }
  }

  end(take: Take): void {
    if (this.#line.length > 0) this.#endLine(take);
    if (this.#inBlock) throw truncatedFault(`a block, before its line ${endMark}`);
  }

  #bufferBytes(bytes: Uint8Array): void {
    if (!this.#inBlock) {
      this.#line.append(bytes.subarray(0, Math.max(0, longestMarkLine - this.#line.length)));
      return;
    }
    // The end mark counts as part of the block until it is recognised, so allow for its length.
    const length = this.#block.length + this.#line.length + bytes.length;
    if (length > this.#maxBlockBytes + longestMarkLine) throw tooLargeFault(this.#maxBlockBytes);
    this.#line.append(bytes);
  }

  #endLine(take: Take): void {
    const line = this.#atStart ? withoutBom(this.#line.view()) : this.#line.view();
    this.#atStart = false;
    const mark = markOf(line);
    if (!this.#inBlock) this.#inBlock = mark === startMark;
    else if (mark === startMark) throw truncatedFault(`a block: ${startMark} came before ${endMark}`);
    else if (mark === endMark) this.#endBlock(take);
    else {
      this.#block.append(line[line.length - 1] === carriageReturn ? line.subarray(0, -1) : line);
      this.#block.append(newline);
      if (this.#block.length - 1 > this.#maxBlockBytes) throw tooLargeFault(this.#maxBlockBytes);
    }
    this.#line.clear();
  }

  #endBlock(take: Take): void {
    this.#inBlock = false;
    let text: string;
    try {
      text = this.#decoder.decode(this.#block.view());
    } catch {
      throw encodingFault();
    }
    this.#block.clear();
    const values = parseValues(text);
    if (typeof values === "string") throw malformedFault(text);
    for (const value of values) take(value);
  }
}

const newline = new Uint8Array([lineFeed]);

/** The marks are ASCII, so no UTF-8 decoding is needed, and longer lines are skipped. */
function markOf(line: Uint8Array): string | undefined {
  if (line.length > longestMarkLine) return undefined;
  let text = "";
  for (const byte of line) text += String.fromCharCode(byte);
  return text.replace(/^[ \t]+|[ \t\r]+$/g, "");
}
