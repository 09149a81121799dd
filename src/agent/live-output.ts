// LiveOutput: what a call prints while it runs, for eyes. Nobody reads a gigabyte a second, and nothing queues it up: what comes
// too fast is skipped, and what nobody has taken yet grows into one piece.
import { milliseconds } from "../process/clock.ts";

/** So many characters in so many milliseconds; and so many may wait to be taken. */
const most = 64 * 1024;
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
      this.#room = most;
      this.#since = now;
    }
    const fits = chunk.length <= Math.min(this.#room, most - this.#waiting.length);
    if (fits) {
      this.#room -= chunk.length;
      this.#waiting += chunk;
    } else if (!this.#isSkipping) this.#waiting += skipped;
    this.#isSkipping = !fits;
  }

  get isWaiting(): boolean {
    return this.#waiting !== "";
  }

  /** What came since the last time; empty when nothing did. */
  take(): string {
    const taken = this.#waiting;
    this.#waiting = "";
    return taken;
  }
}
