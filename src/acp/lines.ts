// Splits bytes into lines of text of limited length. A line that is too long or not UTF-8 is reported; later lines are not affected.
import { ByteBuffer } from "../json/byte-buffer.ts";
import { createStrictDecoder } from "../json/values.ts";
import { tryOr } from "../text/try-or.ts";

/** Why a line was refused. */
export type LineFault = { fault: string };

/** The maximum size of a line, enough for several of the largest images as base64. */
const longestLine = 64 * 1024 * 1024;

const lineFeed = 0x0a;

export class LineReader {
  readonly #take: (line: string | LineFault) => void;
  readonly #longest: number;
  readonly #decoder = createStrictDecoder();
  readonly #pending = new ByteBuffer();
  /** Whether the rest of a line that is too long is being skipped. */
  #isSkipping = false;

  constructor(take: (line: string | LineFault) => void, longest = longestLine) {
    this.#take = take;
    this.#longest = longest;
  }

  push(bytes: Uint8Array): void {
    let start = 0;
    while (start < bytes.length) {
      const end = bytes.indexOf(lineFeed, start);
      this.#bufferPart(bytes.subarray(start, end === -1 ? bytes.length : end));
      if (end === -1) return;
      this.#finish();
      start = end + 1;
    }
  }

  /** Handles the last line even if it has no line feed. */
  end(): void {
    if (this.#pending.length > 0) this.#finish();
  }

  #bufferPart(part: Uint8Array): void {
    if (this.#isSkipping) return;
    if (this.#pending.length + part.length <= this.#longest) {
      this.#pending.append(part);
      return;
    }
    this.#isSkipping = true;
    this.#pending.clear();
    this.#take({ fault: `A line is longer than ${this.#longest} bytes.` });
  }

  #finish(): void {
    const wasSkipping = this.#isSkipping;
    this.#isSkipping = false;
    if (wasSkipping) return;
    const line = this.#decodeLine();
    this.#pending.clear();
    if (typeof line !== "string" || line.trim() !== "") this.#take(line);
  }

  #decodeLine(): string | LineFault {
    return tryOr(() => this.#decoder.decode(this.#pending.view()), { fault: "A line is not valid UTF-8." });
  }
}
