// Selects the framing of a stream: given by the caller, or detected from its first line and then fixed.

import { ByteBuffer } from "../json/byte-buffer.ts";
import { JsonLines, type JsonLinesOptions } from "../json/lines.ts";
import { isBlank } from "../json/scan.ts";
import { type JsonReader, type Take, withoutBom } from "../json/values.ts";
import { SentinelBlocks, startMark } from "./sentinel.ts";

export type Framing = "ndjson" | "sentinel" | "auto";

export function readerFor(options: JsonLinesOptions & { framing?: Framing }): JsonReader {
  switch (options.framing) {
    case "sentinel":
      return new SentinelBlocks(options);
    case "auto":
      return new SeenFraming(options);
    default:
      return new JsonLines(options);
  }
}

/** Longer than the mark with surrounding blanks; a longer first line cannot be the mark. */
const longestFirstLine = 256;

class SeenFraming implements JsonReader {
  readonly #options: JsonLinesOptions;
  #reader: JsonReader | undefined;
  readonly #first = new ByteBuffer();

  constructor(options: JsonLinesOptions) {
    this.#options = options;
  }

  get skipped(): number {
    return this.#reader?.skipped ?? 0;
  }

  push(bytes: Uint8Array, take: Take): void {
    if (this.#reader) {
      this.#reader.push(bytes, take);
      return;
    }
    this.#first.append(bytes);
    const line = firstLine(this.#first.view());
    if (line === undefined) return;
    this.#choose(line).push(this.#first.view(), take);
    this.#first.clear();
  }

  end(take: Take): void {
    const first = this.#first.view();
    if (!this.#reader) this.#choose(firstLine(first, { isWhole: true }) ?? "").push(first, take);
    this.#reader!.end(take);
  }

  #choose(line: string): JsonReader {
    this.#reader = line.trim() === startMark ? new SentinelBlocks(this.#options) : new JsonLines(this.#options);
    return this.#reader;
  }
}

/** Returns the first non-blank line; undefined while it is incomplete and could still be the mark. */
function firstLine(bytes: Uint8Array, { isWhole = false } = {}): string | undefined {
  // Wait for more bytes, since a byte order mark may be split across chunks.
  if (!isWhole && bytes[0] === 0xef && bytes.length < 3) return undefined;
  let text = "";
  for (const byte of withoutBom(bytes).subarray(0, 4 * longestFirstLine)) text += String.fromCharCode(byte);
  const lines = text.split("\n");
  const index = lines.findIndex((line) => !isBlank(line));
  const line = lines[index];
  if (line === undefined) return bytes.length > longestFirstLine ? "" : undefined;
  const isComplete = isWhole || index < lines.length - 1 || !couldBeMark(line);
  return isComplete ? line : undefined;
}

function couldBeMark(beginning: string): boolean {
  const start = beginning.trim();
  return beginning.length <= longestFirstLine && startMark.startsWith(start);
}
