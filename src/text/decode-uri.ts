// Decodes percent-encoded text that strangers wrote.
import { tryOr } from "./try-or.ts";

/** Returns the text unchanged where its encoding is broken. */
export function decodeUri(text: string): string {
  return tryOr(() => decodeURIComponent(text), text);
}
