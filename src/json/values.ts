// Parses the JSON values in the text of one line or block.
import { shortened } from "../text/one-line.ts";
import { tryOr } from "../text/try-or.ts";
import { FrameError } from "./frame-error.ts";
import { tryParse } from "./object.ts";
import { isBlank, scanObjects } from "./scan.ts";

/** Receives one JSON value. It may throw, which stops the reader. */
export type Take = (value: unknown) => void;

/** Reads JSON values from bytes. Both methods throw FrameError at the first fault, after delivering everything before it. */
export interface JsonReader {
  push(bytes: Uint8Array, take: Take): void;
  end(take: Take): void;
  /** The number of lines that were skipped because they were not JSON. */
  readonly skipped: number;
}

/** The maximum length of a line, unless another is given. */
export const defaultMaxLineBytes = 16 * 1024 * 1024;

/** Deeper than any legitimate frame, and shallow enough for every recursive consumer, including JSON.stringify. */
const maxDepth = 2000;

/** The length of a text from which it must be checked for depth, since each level takes two characters. */
const shortestDeepText = 2 * maxDepth;

/** Returns usually one value, several if objects are adjacent, none if the text is blank. "cut" and "broken" are not JSON. */
export function parseValues(text: string): unknown[] | "cut" | "broken" {
  const value = tryParse(text);
  if (value !== undefined) return [guardDepth(value, text.length)];
  if (isBlank(text)) return [];
  const { ends, state } = scanObjects(text);
  if (state !== "complete") return state;
  const values: unknown[] = [];
  let start = 0;
  for (const end of ends) {
    const part = tryParse(text.slice(start, end));
    if (part === undefined) return "broken";
    values.push(guardDepth(part, end - start));
    start = end;
  }
  return values;
}

export function guardDepth(value: unknown, textLength: number): unknown {
  if (textLength > shortestDeepText && isDeeperThan(value, maxDepth)) {
    throw new FrameError("FRAME_MALFORMED", `A frame is nested deeper than ${maxDepth} levels.`);
  }
  return value;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) if (isDeeperThan((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}

// The last bytes need a decoder of their own, because a streaming call leaves state behind.
const strictUtf8 = { fatal: true, ignoreBOM: true };

/** Creates a decoder for all lines. It must not drop byte order marks, which are an error within a line. */
export function createStrictDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder("utf-8", strictUtf8);
}

/** Decodes bytes that may end inside a character. Returns undefined if they are not UTF-8 at all. */
export function decodeCutText(bytes: Uint8Array): string | undefined {
  return tryOr(() => createStrictDecoder().decode(bytes, { stream: true }), undefined);
}

export function withoutBom(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

export function encodingFault(): FrameError {
  return new FrameError("FRAME_ENCODING", "The stream is not valid UTF-8.");
}

export function malformedFault(text: string): FrameError {
  return new FrameError(
    "FRAME_MALFORMED",
    `A line of the stream is not a JSON object: ${JSON.stringify(shortened(text, 80))}`,
  );
}

export function tooLargeFault(maxLineBytes: number): FrameError {
  return new FrameError("FRAME_TOO_LARGE", `A line of the stream is longer than ${maxLineBytes} bytes.`);
}

export function truncatedFault(what: string): FrameError {
  return new FrameError("FRAME_TRUNCATED", `The stream ended inside ${what}.`);
}
