// Formats untrusted text on one line, with a limited length.

/** Returns the text, or its start and an ellipsis. Never splits a character. */
export function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

/** Returns the text, or its start, an ellipsis and a longer part of its end. Never splits a character. */
export function withoutMiddle(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const start = Math.floor(longest / 3);
  return `${shortened(text, start)}${text.slice(start + 1 - longest).replace(/^[\udc00-\udfff]/, "")}`;
}

/** Removes control characters and line breaks, which file names may contain. */
export function oneLine(text: string, longest = 1000): string {
  return shortened(text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim(), longest);
}

/** Replaces each run of spaces and line breaks with a single space. */
export function collapsed(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Formats an unexpected value as JSON, for error messages. */
export function shownValue(value: unknown, longest = 60): string {
  return shortened(JSON.stringify(value) ?? String(value), longest);
}
