// What the bytes of a text file mean: encoding, byte order mark, line endings; and back to bytes.
import { isUtf8 } from "node:buffer";

type Encoding = "utf8" | "utf16le" | "utf16be";

type TextFile = { text: string; encoding: Encoding; hasMark: boolean };

const mark = "\uFEFF";

/** Undefined when the bytes are not text. The mark is not part of the text. */
export function decodeText(bytes: Buffer): TextFile | undefined {
  const encoding = encodingOf(bytes);
  if (encoding === "utf8") {
    if (bytes.includes(0) || !isUtf8(bytes)) return undefined;
    const text = bytes.toString("utf8");
    return text.startsWith(mark)
      ? { text: text.slice(1), encoding, hasMark: true }
      : { text, encoding, hasMark: false };
  }
  const body = bytes.subarray(2, bytes.length - (bytes.length % 2));
  const text = (encoding === "utf16be" ? Buffer.from(body).swap16() : body).toString("utf16le");
  return { text, encoding, hasMark: true };
}

/** The text as bytes, in the way of the file that it came from. */
export function encodeText(text: string, like: { encoding: Encoding; hasMark: boolean }): Buffer {
  const whole = like.hasMark ? mark + text : text;
  if (like.encoding === "utf8") return Buffer.from(whole, "utf8");
  const bytes = Buffer.from(whole, "utf16le");
  return like.encoding === "utf16be" ? bytes.swap16() : bytes;
}

/** UTF-16 is known only by its mark. */
export function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf16be";
  return "utf8";
}

/** Does the start of a file look like text? Where more follows, a character that the cut splits is not a fault. */
export function startsAsText(start: Buffer, fileSize: number): boolean {
  if (encodingOf(start) !== "utf8") return true;
  if (start.includes(0)) return false;
  const mostCut = start.length < fileSize ? 3 : 0;
  for (let cut = 0; cut <= mostCut; cut += 1) {
    if (isUtf8(start.subarray(0, start.length - cut))) return true;
  }
  return false;
}

type LineEnding = "\n" | "\r\n" | "mixed";

export function lineEndingOf(text: string): LineEnding {
  let carriages = 0;
  let newlines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    newlines += 1;
    if (text[at - 1] === "\r") carriages += 1;
  }
  if (carriages === 0) return "\n";
  return carriages === newlines ? "\r\n" : "mixed";
}

export function withNewlines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

export function withCarriages(text: string): string {
  return withNewlines(text).replaceAll("\n", "\r\n");
}
