// LiveOutput: rate-limits what a call prints while it runs, for display only. Output that comes too fast is skipped, and output that was
// not taken yet is joined into one piece.
import { milliseconds } from "../process/clock.ts";

/** The maximum number of characters of live output per `everyMs` milliseconds, and of output that waits to be shown. */
const maxCharacters = 64 * 1024;
const everyMs = 250;
const skipped = "\n[… live output skipped …]\n";

export class LiveOutput {
  #waiting = "";
  #room = 0;
  #since = 0;
  #isSkipping = false;

  push(chunk: string): void {
    const now = milliseconds();
    if (this.#since === 0 || now - this.#since > everyMs) {
      this.#room = maxCharacters;
      this.#since = now;
    }
    const fits = chunk.length <= Math.min(this.#room, maxCharacters - this.#waiting.length);
    if (fits) {
      this.#room -= chunk.length;
      this.#waiting += chunk;
    } else if (!this.#isSkipping) this.#waiting += skipped;
    this.#isSkipping = !fits;
  }

  get isWaiting(): boolean {
    return this.#waiting !== "";
  }

  /** Returns the output since the last call, or an empty string. */
  take(): string {
    const taken = this.#waiting;
    this.#waiting = "";
    return taken;
  }
}
