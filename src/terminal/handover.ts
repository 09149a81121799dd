// The terminal handed over for a while: to another program, or to a pager on the alternate screen. The live region goes before,
// and comes back afterwards below whatever was written.
import type { Key } from "./key.ts";
import type { PagerOptions } from "./pager/pager.ts";
import { Reader } from "./pager/reader.ts";
import type { Palette } from "./painted.ts";
import type { Screen, ScreenOutput } from "./screen.ts";
import { deafToInterrupts, type Tty } from "./tty.ts";

export type HandoverOptions = {
  tty: Tty;
  screen: Screen;
  output: ScreenOutput;
  palette: Palette;
  /** Draws at once: what was said before stands above. */
  drawNow(): void;
  /** It is ours again; where the cursor is, a new live region begins. */
  returned(): void;
};

export class Handover {
  readonly #options: HandoverOptions;
  readonly #reader: Reader;
  #isLent = false;

  constructor(options: HandoverOptions) {
    this.#options = options;
    this.#reader = new Reader(options.palette, options.tty, options.output, options.drawNow);
  }

  /** Another program has it: keys are not ours, and nothing is drawn. */
  get isLent(): boolean {
    return this.#isLent;
  }

  get isReading(): boolean {
    return this.#reader.isOpen;
  }

  lend<Result>(work: () => Promise<Result>): Promise<Result> {
    const { tty, screen, drawNow, returned } = this.#options;
    drawNow();
    return deafToInterrupts(async () => {
      screen.clear();
      tty.leave();
      this.#isLent = true;
      try {
        return await work();
      } finally {
        tty.enter();
        this.#isLent = false;
        screen.forget();
        returned();
      }
    });
  }

  /** Terminals do not agree on where the cursor is when the window changed meanwhile: then the live region goes to its end. */
  async read(options: PagerOptions): Promise<void> {
    const { screen, drawNow, returned } = this.#options;
    if (this.isReading) return;
    const before = screen.size;
    drawNow();
    screen.clear();
    const closed = this.#reader.open(options);
    drawNow();
    await closed;
    screen.forget(screen.size === before ? undefined : "bottom");
    returned();
  }

  /** For the pager that is open. */
  press(key: Key): void {
    this.#reader.press(key);
  }

  draw(): void {
    this.#reader.draw(this.#options.screen.size);
  }

  close(): void {
    this.#reader.close();
  }
}
