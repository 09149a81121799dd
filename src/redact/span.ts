// Replaces spans of a text that must not be shown. A line of JSON stays valid JSON.

/** `quote` is put around the marker in place of a bare JSON value, so that it is a value too. */
export type Span = { start: number; end: number; quote?: string };

export const marker = "[redacted]";

/** Replaces each span with a marker. Without spans, returns the same text. */
export function cutOut(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let out = "";
  let at = 0;
  for (const { start, end, quote = "" } of merge(spans.map((span) => wholeEscapes(text, span)))) {
    out += text.slice(at, start) + quote + marker + quote;
    at = end;
  }
  return out + text.slice(at);
}

/** Sorts the spans and joins those that overlap. */
function merge(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((one, other) => one.start - other.start || other.end - one.end);
  const merged: Span[] = [];
  for (const span of sorted) {
    const last = merged.at(-1);
    if (!last || span.start > last.end) {
      merged.push({ ...span });
      continue;
    }
    if (span.start === last.start && span.quote !== undefined) last.quote = span.quote;
    last.end = Math.max(last.end, span.end);
  }
  return merged;
}

/** Extends a span so that it does not cut through `\n` or `\u0041`. */
function wholeEscapes(text: string, span: Span): Span {
  return {
    ...span,
    start: escapeAt(text, span.start)?.start ?? span.start,
    end: escapeAt(text, span.end)?.end ?? span.end,
  };
}

/** Returns the escape sequence that begins before `at` and ends after it. */
function escapeAt(text: string, at: number): Span | undefined {
  for (let back = 1; back <= 5; back++) {
    const start = at - back;
    if (text[start] !== "\\" || !isUnpaired(text, start)) continue;
    const end = /^\\u[0-9a-fA-F]{4}/.test(text.slice(start, start + 6)) ? start + 6 : start + 2;
    return end > at && end <= text.length ? { start, end } : undefined;
  }
  return undefined;
}

function isUnpaired(text: string, at: number): boolean {
  let before = at;
  while (before > 0 && text[before - 1] === "\\") before--;
  return (at - before) % 2 === 0;
}
