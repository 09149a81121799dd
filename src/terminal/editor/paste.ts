// Pastes: what is too long to be shown stands in the text as one character, and is shown as `[Pasted 240 lines #1]`.
// The character is of a private area, and foreign text that holds one of those is itself folded: so nothing that is typed or
// pasted can ever stand for something else.

export type Image = { mime: string; base64: string };

/** What a folded character stands for. */
export type Folded =
  | { type: "text"; text: string; lines: number; number: number }
  | { type: "image"; image: Image; number: number };

/** Folded characters, and what they stand for. A text without them means nothing. */
export type FoldedParts = ReadonlyMap<string, Folded>;

const first = 0x10f000;
const last = 0x10fffd;
const token = /[\u{10f000}-\u{10fffd}]/u;
const tokens = new RegExp(token, "gu");

const mostLines = 10;
const mostCharacters = 1000;

export function isTokenAt(text: string, at: number): boolean {
  const code = text.codePointAt(at);
  return code !== undefined && code >= first && code <= last;
}

export function holdsToken(text: string): boolean {
  return /[\udbfc-\udbff]/.test(text) && token.test(text); // the first is quick, and nearly always enough
}

export function isLong(text: string): boolean {
  return text.length > mostCharacters || countLines(text) > mostLines;
}

/** A line break at the end begins no further line. */
function countLines(text: string): number {
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

export function foldedText(text: string, number: number): Folded {
  return { type: "text", text, lines: countLines(text), number };
}

/** The folded parts of one editor. Numbers go up as long as it lives, so that an undo finds what it brings back. */
export class Folds {
  readonly #parts = new Map<string, Folded>();
  #next = 1;
  #images = 0;

  get parts(): FoldedParts {
    return this.#parts;
  }

  /** What is put into the text for a paste: itself, or one character. */
  forPaste(text: string): string {
    return isLong(text) || holdsToken(text) ? this.#add((number) => foldedText(text, number)) : text;
  }

  /** Images are counted by themselves. */
  forImage(image: Image): string {
    const number = ++this.#images;
    return this.#add(() => ({ type: "image", image, number }));
  }

  /** A text that was folded elsewhere, in a session before this one, with characters of this editor. */
  adopt(text: string, parts: FoldedParts): string {
    return text.replace(tokens, (character) => {
      const part = parts.get(character);
      return this.#add((number) => (part ? { ...part, number } : foldedText(character, number)));
    });
  }

  /** Parts of a text that went through another program: what came back whole is folded as it was. */
  refold(text: string, parts: FoldedParts): string {
    let folded = text;
    for (const [character, part] of parts) {
      const whole = part.type === "text" ? part.text : label(part);
      folded = folded.replace(whole, () => character);
    }
    return folded;
  }

  /** The parts that a text uses. */
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
    // Sixteen thousand later, the oldest is forgotten.
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

/** The text as it is sent: pastes whole, images by their label, and the images in order. */
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
