// Schedules frames: soon after a change, never faster than the eye can follow, and not at all while idle.

/** The minimum time between two frames, in milliseconds. */
const frameMs = 16;
const tickMs = 200;
/** For how many milliseconds nothing is animated after a key, since a redraw would disturb input methods. */
const quietMs = 250;

export class FrameClock {
  readonly #draw: () => void;
  #next: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #drawnAt = 0;
  #keyAt = 0;
  #ticker: NodeJS.Timeout | undefined;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  get lastKeyAt(): number {
    return this.#keyAt;
  }

  keyPressed(): void {
    this.#keyAt = Date.now();
  }

  /** Schedules a frame. Several requests before it share the same frame. */
  request(): void {
    if (this.#next) return;
    const wait = this.#drawnAt + frameMs - Date.now();
    this.#next = wait > 0 ? setTimeout(() => this.now(), wait) : setImmediate(() => this.now());
  }

  now(): void {
    this.#cancel();
    this.#drawnAt = Date.now();
    this.#draw();
  }

  /** Redraws at intervals while a turn runs, for the spinner and the elapsed seconds. */
  animate(isRunning: boolean): void {
    if (!isRunning) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    } else
      this.#ticker ??= setInterval(() => {
        if (Date.now() - this.#keyAt >= quietMs) this.request();
      }, tickMs);
  }

  stop(): void {
    this.animate(false);
    this.#cancel();
  }

  #cancel(): void {
    clearTimeout(this.#next as NodeJS.Timeout);
    clearImmediate(this.#next as NodeJS.Immediate);
    this.#next = undefined;
  }
}
