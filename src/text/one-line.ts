// Text of strangers on one line, and not too much of it.

/** The text, or its beginning and an ellipsis. Never half of a character. */
export function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

/** Names come from the disk and may hold anything: no control characters, no line breaks. */
export function oneLine(text: string, longest = 1000): string {
  return shortened(text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim(), longest);
}

/** Blanks and line breaks are one blank, however many they are. */
export function collapsed(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** What stood in the place of something else, as JSON. */
export function shownValue(value: unknown, longest = 60): string {
  return shortened(JSON.stringify(value) ?? String(value), longest);
}
