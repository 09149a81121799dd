// Decodes percent-encoded text that strangers wrote.

/** Returns the text unchanged where its encoding is broken. */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
