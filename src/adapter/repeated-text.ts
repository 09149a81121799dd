// Finds the new part of a text that is sent again from the start, by the same model or another.

export class RepeatedText {
  readonly #said: string;
  #at = 0;
  #hasParted = false;

  /** Starts from the text that earlier attempts delivered. */
  constructor(deliveredText: string) {
    this.#said = deliveredText;
  }

  /** Returns what is new in the next piece. Once the text differs from the first one, it is given whole, as a new paragraph. */
  next(piece: string): string {
    if (this.#hasParted || piece === "") return piece;
    const repeatedPart = this.#said.slice(this.#at, this.#at + piece.length);
    if (piece.startsWith(repeatedPart)) {
      this.#at += repeatedPart.length;
      return piece.slice(repeatedPart.length);
    }
    this.#hasParted = true;
    return `${this.#said.endsWith("\n") ? "" : "\n\n"}${this.#said.slice(0, this.#at)}${piece}`;
  }
}
