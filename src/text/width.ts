// How wide a text is on a terminal, and cutting it to fit: wide characters take two columns, marks none.

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const unseen = /^(\p{Mn}|\p{Me}|\u200d)$/u;

export function widthOf(text: string): number {
  // Nearly everything is plain, and lists are long.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The text, or its beginning and an ellipsis: never wider than asked. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    const next = characterWidth(character);
    if (used + next > width - 1) break;
    used += next;
    kept += character;
  }
  return width > 0 ? `${kept.trimEnd()}…` : "";
}

export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

function characterWidth(character: string): number {
  if (character < "\u0300") return 1;
  if (unseen.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
