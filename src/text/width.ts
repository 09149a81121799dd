// Measures text on a terminal and cuts it to fit. Wide characters take two columns, combining marks none, and what is seen as one character
// (a composed emoji, a flag, a letter with its marks) is never split.

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const unseen = /^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u1160-\u11ff]$/u;
/** Matches an emoji, of any number of parts. */
const picture = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\u20e3/u;

/** Characters that take one column each and never combine: nearly all text, and all of the interface's own symbols. */
const simple =
  /^[\x20-\x7e\xa0-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25fc\u2713-\u2717\u2800-\u28ff]*$/;

let segmenter: Intl.Segmenter | undefined;

/** Splits text into graphemes: what is seen as single characters. */
export function charactersOf(text: string): string[] {
  if (text.length === 1 || simple.test(text)) return text.split("");
  // Create the segmenter only when needed, since that is slow.
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

export function widthOf(text: string): number {
  if (simple.test(text)) return text.length;
  let width = 0;
  for (const character of charactersOf(text)) width += characterWidth(character);
  return width;
}

/** Returns the text, or its start and an ellipsis, at most `width` columns wide. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of charactersOf(text)) {
    const next = characterWidth(character);
    if (used + next > width - 1) break;
    used += next;
    kept += character;
  }
  return width > 0 ? `${kept.trimEnd()}…` : "";
}

/** Returns the text, or its start and end around an ellipsis. The end of a path is the most informative part. */
export function cutMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width < 1) return "";
  const characters = charactersOf(text);
  const take = (from: readonly string[], room: number): string[] => {
    const kept: string[] = [];
    let used = 0;
    for (const character of from) {
      used += characterWidth(character);
      if (used > room) break;
      kept.push(character);
    }
    return kept;
  };
  const before = take(characters, Math.floor((width - 1) / 3)).join("");
  const after = take(characters.reverse(), width - 1 - widthOf(before))
    .reverse()
    .join("");
  return `${before}…${after}`;
}

export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Returns the width of a grapheme in columns. */
export function characterWidth(character: string): number {
  if (character.length === 1 && character < "\u0300") return 1;
  if (picture.test(character)) return 2;
  let width = 0;
  for (const part of character) if (!unseen.test(part)) width += wide.test(part) ? 2 : 1;
  return width;
}
