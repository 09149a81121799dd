// The reader: opens one pager at a time on the alternate screen and leaves the main screen unchanged.
import type { Key } from "../key.ts";
import type { Palette } from "../painted.ts";
import type { ScreenOutput } from "../screen.ts";
import type { Tty } from "../tty.ts";
import type { Size } from "../view.ts";
import { createFullScreen } from "./full-screen.ts";
import { Pager, type PagerOptions } from "./pager.ts";

type ReaderOptions = { palette: Palette; tty: Tty; output: ScreenOutput; drawNow(): void };

export class Reader {
  readonly #options: ReaderOptions;
  #open: { pager: Pager; screen: ReturnType<typeof createFullScreen>; closed(): void } | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Resolves when the user leaves the pager. If one is open already, it stays and this resolves at once. */
  open(options: PagerOptions): Promise<void> {
    if (this.#open) return Promise.resolve();
    const { palette, tty, output, drawNow } = this.#options;
    return new Promise((closed) => {
      tty.alternate(true);
      const pager = new Pager(palette, options, drawNow);
      this.#open = { pager, screen: createFullScreen(output), closed };
    });
  }

  press(key: Key): void {
    if (this.#open && !this.#open.pager.press(key)) this.close();
  }

  draw(size: Size): void {
    this.#open?.screen.draw(this.#open.pager.rows(size));
  }

  close(): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#options.tty.alternate(false);
    open.closed();
  }
}
