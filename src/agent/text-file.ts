// Decodes and encodes text files: encoding, byte order mark, line endings.
import { isUtf8 } from "node:buffer";
import { failure } from "./tools/tool.ts";

type Encoding = "utf8" | "utf16le" | "utf16be" | "windows1252";

type TextFile = { text: string; encoding: Encoding; hasMark: boolean };

const mark = "\uFEFF";

/** Decodes the bytes of a text file, without its byte order mark. Returns undefined if they are not text. */
export function decodeText(bytes: Buffer): TextFile | undefined {
  const encoding = encodingOf(bytes);
  if (encoding === "utf8") {
    if (!isUtf8(bytes)) return isSingleByteText(bytes) ? singleByteText(bytes) : undefined;
    if (bytes.includes(0)) return undefined;
    const text = bytes.toString("utf8");
    return text.startsWith(mark)
      ? { text: text.slice(1), encoding, hasMark: true }
      : { text, encoding, hasMark: false };
  }
  const body = bytes.subarray(2, bytes.length - (bytes.length % 2));
  const text = (encoding === "utf16be" ? Buffer.from(body).swap16() : body).toString("utf16le");
  return { text, encoding, hasMark: true };
}

/** Encodes the text like the file that it came from. Throws a failure for the model when that encoding lacks a character. */
export function encodeText(text: string, like: { encoding: Encoding; hasMark: boolean }, path: string): Buffer {
  if (like.encoding === "windows1252") return singleBytes(text, path);
  const whole = like.hasMark ? mark + text : text;
  if (like.encoding === "utf8") return Buffer.from(whole, "utf8");
  const bytes = Buffer.from(whole, "utf16le");
  return like.encoding === "utf16be" ? bytes.swap16() : bytes;
}

/** Windows-1252 has letters where Latin-1 has controls; where it has none, the control stays, so that every byte round-trips. */
const highCharacters = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

export const singleByteNote = "[Not UTF-8: read as Windows-1252 (Latin-1), and edits are written back so.]";

/**
 * Returns whether bytes look like text in a single-byte encoding: only the control characters of text, unlike
 * compressed or compiled data.
 */
function isSingleByteText(bytes: Buffer): boolean {
  return !/[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]/.test(bytes.toString("latin1"));
}

export function singleByteText(bytes: Buffer): TextFile {
  const text = bytes
    .toString("latin1")
    .replace(/[\x80-\x9f]/g, (control) => highCharacters[control.charCodeAt(0) - 0x80]!);
  return { text, encoding: "windows1252", hasMark: false };
}

function singleBytes(text: string, path: string): Buffer {
  const latin = text.replace(/[^\x00-\x7f\xa0-\xff]/gu, (character) => {
    const index = highCharacters.indexOf(character);
    if (index !== -1) return String.fromCharCode(0x80 + index);
    const advice = "Use characters that it has, or convert the file first with Shell: iconv.";
    throw failure(`${path} is Windows-1252 text, which has no ${JSON.stringify(character)}. ${advice}`, { path });
  });
  return Buffer.from(latin, "latin1");
}

/** Detects an encoding. UTF-16 is recognised by its byte order mark; the caller checks if the rest is UTF-8. */
export function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf16be";
  return "utf8";
}

/** Returns whether the start of a file looks like text. */
export function startsAsText(start: Buffer, fileSize: number): boolean {
  if (encodingOf(start) !== "utf8") return true;
  if (startsAsUtf8(start, fileSize)) return !start.includes(0);
  return isSingleByteText(start);
}

/** Returns whether a file begins with valid UTF-8. A character may be cut at the end of `start`. */
export function startsAsUtf8(start: Buffer, fileSize: number): boolean {
  const maxCut = start.length < fileSize ? 3 : 0;
  for (let cut = 0; cut <= maxCut; cut += 1) {
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
