// A text that is told again, by the same model or another: what of it has not been said yet.

export class RepeatedText {
  readonly #said: string;
  #at = 0;
  #hasParted = false;

  /** `said`: what was delivered before the telling began again. */
  constructor(said: string) {
    this.#said = said;
  }

  /** What is new in the next piece. A text that turns out to be another one is given whole, in a paragraph of its own. */
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
