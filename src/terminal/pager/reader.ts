// The reader: opens one pager at a time on the alternate screen and leaves the main screen unchanged.
import type { Key } from "../key.ts";
import type { Palette } from "../painted.ts";
import type { ScreenOutput } from "../screen.ts";
import type { Tty } from "../tty.ts";
import type { Size } from "../view.ts";
import { createFullScreen } from "./full-screen.ts";
import { Pager, type PagerOptions } from "./pager.ts";

export class Reader {
  readonly #palette: Palette;
  readonly #tty: Tty;
  readonly #output: ScreenOutput;
  #open: { pager: Pager; screen: ReturnType<typeof createFullScreen>; closed(): void } | undefined;

  readonly #changed: () => void;

  constructor(palette: Palette, tty: Tty, output: ScreenOutput, changed: () => void) {
    this.#changed = changed;
    this.#palette = palette;
    this.#tty = tty;
    this.#output = output;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Resolves when the user leaves the pager. If one is open already, it stays and this resolves at once. */
  open(options: PagerOptions): Promise<void> {
    if (this.#open) return Promise.resolve();
    return new Promise((closed) => {
      this.#tty.alternate(true);
      const pager = new Pager(this.#palette, options, this.#changed);
      this.#open = { pager, screen: createFullScreen(this.#output), closed };
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
    this.#tty.alternate(false);
    open.closed();
  }
}
