// Lends the terminal to another program, or to a pager on the alternate screen. The live region is removed first, and drawn again
// afterwards below whatever was written.
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
  /** Draws a frame immediately, so that earlier messages are above. */
  drawNow(): void;
  /** Called when the terminal is back; a new live region begins at the cursor. */
  returned(): void;
};

export class Handover {
  readonly #options: HandoverOptions;
  readonly #reader: Reader;
  #isLent = false;
  /** The current loan. The next one waits for it, since each restores the screen it found. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: HandoverOptions) {
    this.#options = options;
    this.#reader = new Reader(options);
  }

  /** Whether another program is using the terminal, so that no keys are read and nothing is drawn. */
  get isLent(): boolean {
    return this.#isLent;
  }

  get isReading(): boolean {
    return this.#reader.isOpen;
  }

  async lend<Result>(work: () => Promise<Result>): Promise<Result> {
    const { tty, screen, drawNow, returned } = this.#options;
    while (this.#isLent || this.isReading) await this.#last;
    drawNow();
    const lent = deafToInterrupts(async () => {
      this.#isLent = true;
      await screen.allAnswered();
      screen.clear();
      await screen.allRead();
      tty.leave();
      try {
        return await work();
      } finally {
        tty.enter();
        this.#isLent = false;
        screen.forget();
        returned();
      }
    });
    this.#last = lent.catch(() => {});
    return lent;
  }

  /**
   * Opens the pager. If the window was resized meanwhile, the live region is put at the bottom, since terminals disagree on where
   * the cursor is.
   */
  async read(options: PagerOptions): Promise<void> {
    const { screen, drawNow, returned } = this.#options;
    while (this.#isLent) await this.#last;
    if (this.isReading) return;
    const before = screen.size;
    drawNow();
    screen.clear();
    const closed = this.#reader.open(options);
    this.#last = closed;
    drawNow();
    await closed;
    screen.forget(screen.size === before ? undefined : "bottom");
    returned();
  }

  /** Passes a key to the pager that is open. */
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
