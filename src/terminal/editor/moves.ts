// Cursor movement by words and lines, from offset to offset.
import { nextGrapheme, previousGrapheme } from "./graphemes.ts";
import { isTokenAt } from "./paste.ts";

export function lineStart(text: string, at: number): number {
  return at <= 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

/** The offset of the line break that ends the line, or of the end of the text. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** The first non-blank character of the line, or the end of a blank line. */
export function firstNonBlank(text: string, at: number): number {
  const end = lineEnd(text, at);
  let found = lineStart(text, at);
  while (found < end && /[ \t]/.test(text[found]!)) found++;
  return found;
}

/** Moves right past non-word characters and then past a word. */
export function wordRight(text: string, from: number): number {
  let at = from;
  while (at < text.length && wordKind(text, at) === "other") at = nextGrapheme(text, at);
  const kind = wordKind(text, at);
  if (kind === "token") return nextGrapheme(text, at);
  while (at < text.length && wordKind(text, at) === kind) at = nextGrapheme(text, at);
  return at;
}

export function wordLeft(text: string, from: number): number {
  let at = from;
  const before = () => wordKind(text, previousGrapheme(text, at));
  while (at > 0 && before() === "other") at = previousGrapheme(text, at);
  if (at === 0) return 0;
  const kind = before();
  if (kind === "token") return previousGrapheme(text, at);
  while (at > 0 && before() === kind) at = previousGrapheme(text, at);
  return at;
}

/** Moves back over blanks, then over non-blanks, as a shell does for Ctrl+W. */
export function blankWordLeft(text: string, from: number): number {
  let at = from;
  while (at > 0 && /\s/.test(text[at - 1]!)) at--;
  while (at > 0 && !/\s/.test(text[at - 1]!)) at = previousGrapheme(text, at);
  return at;
}

/** Returns the kind of word at a position. Scripts without blanks form words by script; a folded paste is a word. */
export function wordKind(text: string, at: number): "other" | "token" | "latin" | "han" | "kana" | "hangul" {
  const character = text[at];
  if (character === undefined) return "other";
  if (character < "\u0080") return /\w/.test(character) ? "latin" : "other";
  if (isTokenAt(text, at)) return "token";
  const whole = String.fromCodePoint(text.codePointAt(at)!);
  if (/\p{Script=Han}/u.test(whole)) return "han";
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(whole)) return "kana";
  if (/\p{Script=Hangul}/u.test(whole)) return "hangul";
  return /[\p{L}\p{N}\p{M}]/u.test(whole) ? "latin" : "other";
}
