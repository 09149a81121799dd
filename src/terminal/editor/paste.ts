// Folds long pastes: the text holds one private-use character for each, shown as `[Pasted 240 lines #1]`. Untrusted text that
// contains such a character is folded too, so that nothing typed or pasted can stand for something else.

export type Image = { mime: string; base64: string };

/** The content that a fold character stands for. */
export type Folded =
  | { type: "text"; text: string; lines: number; number: number }
  | { type: "image"; image: Image; number: number };

/** Folded characters with their contents. A folded text cannot be read without them. */
export type FoldedParts = ReadonlyMap<string, Folded>;

const first = 0x10f000;
const last = 0x10fffd;
const token = /[\u{10f000}-\u{10fffd}]/u;
const tokens = new RegExp(token, "gu");

const maxLines = 10;
const maxCharacters = 1000;

export function isTokenAt(text: string, at: number): boolean {
  const code = text.codePointAt(at);
  return code !== undefined && code >= first && code <= last;
}

export function holdsToken(text: string): boolean {
  return /[\udbfc-\udbff]/.test(text) && token.test(text); // the first test is fast and nearly always sufficient
}

export function isLong(text: string): boolean {
  return text.length > maxCharacters || countLines(text) > maxLines;
}

/** Counts lines. A line break at the end does not start another line. */
function countLines(text: string): number {
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

export function foldedText(text: string, number: number): Folded {
  return { type: "text", text, lines: countLines(text), number };
}

/** The folded parts of one editor. Numbers only go up during its lifetime, so that undo can restore old parts. */
export class Folds {
  readonly #parts = new Map<string, Folded>();
  #next = 1;
  #images = 0;

  get parts(): FoldedParts {
    return this.#parts;
  }

  /** Returns the text to insert for a paste: the paste itself, or one folded character. */
  forPaste(text: string): string {
    return isLong(text) || holdsToken(text) ? this.#add((number) => foldedText(text, number)) : text;
  }

  /** Returns the fold character for an image. Images are numbered separately. */
  forImage(image: Image): string {
    const number = ++this.#images;
    return this.#add(() => ({ type: "image", image, number }));
  }

  /** Converts a text folded in an earlier session to characters of this editor. */
  adopt(text: string, parts: FoldedParts): string {
    return text.replace(tokens, (character) => {
      const part = parts.get(character);
      return this.#add((number) => (part ? { ...part, number } : foldedText(character, number)));
    });
  }

  /** Folds parts again that came back unchanged from an external editor. */
  refold(text: string, parts: FoldedParts): string {
    let folded = text;
    for (const [character, part] of parts) {
      const whole = part.type === "text" ? part.text : label(part);
      folded = folded.replace(whole, () => character);
    }
    return folded;
  }

  /** Returns the folded parts that occur in a text. */
  usedIn(text: string): FoldedParts {
    const used = new Map<string, Folded>();
    for (const [character] of text.matchAll(tokens)) {
      const part = this.#parts.get(character);
      if (part) used.set(character, part);
    }
    return used;
  }

  #add(make: (number: number) => Folded): string {
    const number = this.#next++;
    // Characters are reused after about sixteen thousand parts, when the oldest is dropped.
    const character = String.fromCodePoint(first + (number % (last - first + 1)));
    this.#parts.set(character, make(number));
    return character;
  }
}

export function label(part: Folded | undefined): string {
  if (part === undefined) return "[Pasted text]";
  if (part.type === "image") return `[Image ${part.number}]`;
  return part.lines > 1
    ? `[Pasted ${part.lines} lines #${part.number}]`
    : `[Pasted ${part.text.length} characters #${part.number}]`;
}

/** Replaces folds by what is sent: pastes by their text, and images by a label. Returns the images in order. */
export function expand(text: string, parts: FoldedParts): { text: string; images: Image[] } {
  const images: Image[] = [];
  const whole = text.replace(tokens, (character) => {
    const part = parts.get(character);
    if (part === undefined) return character;
    if (part.type === "text") return part.text;
    images.push(part.image);
    return label(part);
  });
  return { text: whole, images };
}
