// Grapheme boundaries: a grapheme is what a user perceives as one character. The cursor never stands inside one.

let segmenter: Intl.Segmenter | undefined;

export function graphemesOf(text: string): Iterable<{ segment: string; index: number }> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** The lowest code point that can combine with the character before it. */
const firstMark = 0x300;

/** The end of the grapheme that begins at `at`. A line break is one grapheme. */
export function nextGrapheme(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const follower = text.charCodeAt(at + 1);
  if (text.charCodeAt(at) < firstMark && !(follower >= firstMark)) return at + 1;
  return graphemeAround(text, at).end;
}

/** Returns the start of the grapheme that ends at `at`. */
export function previousGrapheme(text: string, at: number): number {
  if (at <= 0) return 0;
  if (text.charCodeAt(at - 1) < firstMark) return at - 1;
  return graphemeAround(text, at - 1).start;
}

/** Returns the nearest grapheme boundary at or before an offset. */
export function graphemeBoundary(text: string, at: number): number {
  if (at <= 0) return 0;
  if (at >= text.length) return text.length;
  if (text.charCodeAt(at) < firstMark) return at;
  return graphemeAround(text, at).start;
}

/** Segments only the line around the offset, since no grapheme crosses a line break. */
function graphemeAround(text: string, at: number): { start: number; end: number } {
  const lineStart = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  if (text[at] === "\n") return { start: at, end: at + 1 };
  const lineBreak = text.indexOf("\n", at);
  const line = text.slice(lineStart, lineBreak === -1 ? text.length : lineBreak);
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const { segment, index } = segmenter.segment(line).containing(at - lineStart)!;
  return { start: lineStart + index, end: lineStart + index + segment.length };
}
