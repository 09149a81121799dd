// Finds the new part of a text that is sent again from the start, by the same model or another.

export class RepeatedText {
  readonly #said: string;
  #at = 0;
  #hasParted = false;

  /** `said` is the text that was delivered before. */
  constructor(said: string) {
    this.#said = said;
  }

  /** Returns what is new in the next piece. Once the text differs from the first one, it is given whole, as a new paragraph. */
  next(piece: string): string {
    if (this.#hasParted || piece === "") return piece;
    const known = this.#said.slice(this.#at, this.#at + piece.length);
    if (piece.startsWith(known)) {
      this.#at += known.length;
      return piece.slice(known.length);
    }
    this.#hasParted = true;
    return `${this.#said.endsWith("\n") ? "" : "\n\n"}${this.#said.slice(0, this.#at)}${piece}`;
  }
}
