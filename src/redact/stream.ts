// Redacts text in chunks: passes on whole lines, and holds back the last one until it ends.
import type { KeyState } from "./secrets-by-position.ts";
import { cutOut, type Span } from "./span.ts";

/** A line is held back up to this length; then the part far enough from its end is passed on. */
const longestWait = 262_144;
/** How many characters are kept back, as the possible beginning of a secret; no secret is longer. */
const keptBack = 16_384;

export class RedactedStream {
  readonly #find: (text: string, state: KeyState) => Span[];
  readonly #state: KeyState = { left: 0 };
  #pieces: string[] = [];
  #length = 0;
  /** Whether the rest of a secret that is too long to buffer is still arriving. */
  #isInside = false;

  constructor(find: (text: string, state: KeyState) => Span[]) {
    this.#find = find;
  }

  /** Adds a chunk of text, and returns the text that can be shown so far. */
  push(chunk: string): string {
    const rest = this.#isInside ? this.#afterSecret(chunk) : chunk;
    const lineEnd = rest.lastIndexOf("\n") + 1;
    const ready = lineEnd > 0 ? this.#takeBuffered() + rest.slice(0, lineEnd) : "";
    this.#bufferText(rest.slice(lineEnd));
    return this.#clean(ready) + (this.#length < longestWait ? "" : this.#takeFromLongLine());
  }

  /** Ends the stream, and returns the remaining text. */
  end(): string {
    return this.#clean(this.#takeBuffered());
  }

  #bufferText(text: string): void {
    if (text === "") return;
    this.#pieces.push(text);
    this.#length += text.length;
  }

  #takeBuffered(): string {
    const text = this.#pieces.join("");
    this.#pieces = [];
    this.#length = 0;
    return text;
  }

  #clean(text: string): string {
    return text === "" ? "" : cutOut(text, this.#find(text, this.#state));
  }

  #afterSecret(chunk: string): string {
    const end = chunk.search(/[\s"'`,;&<>|\\]/);
    if (end === -1) return "";
    this.#isInside = false;
    return chunk.slice(end);
  }

  /** Returns the start of a line that is too long to hold back, cut between words and not within a secret. */
  #takeFromLongLine(): string {
    const text = this.#takeBuffered();
    const spans = this.#find(text, { ...this.#state });
    let cut = text.length - keptBack;
    while (cut > 0 && !/[\s,;"']/.test(text[cut - 1]!)) cut--;
    if (cut === 0) cut = text.length - keptBack;
    const crossing = spans.filter(({ start, end }) => start < cut && end > cut);
    this.#isInside = crossing.some(({ end }) => end === text.length);
    cut = Math.max(cut, ...crossing.map(({ end }) => end));
    this.#bufferText(text.slice(cut));
    return this.#clean(text.slice(0, cut));
  }
}
