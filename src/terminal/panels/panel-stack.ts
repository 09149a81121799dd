// The panels that are open: the last one has the keys. A question waits until it can have been read.
import type { Panel } from "./panel.ts";

/** A question can be answered by keys that came so long after it was drawn, and after the key before. */
const readingMs = 400;

export class PanelStack {
  readonly #panels: Panel[] = [];
  readonly #changed: () => void;
  /** When the question in front was first drawn. */
  #shownAt: number | undefined;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get front(): Panel | undefined {
    return this.#panels.at(-1);
  }

  async open<Result>({
    panel,
    closed,
  }: {
    panel: Panel;
    closed: Promise<Result | undefined>;
  }): Promise<Result | undefined> {
    this.#panels.push(panel);
    this.#shownAt = undefined;
    this.#changed();
    try {
      return await closed;
    } finally {
      this.#panels.splice(this.#panels.indexOf(panel), 1);
      this.#shownAt = undefined;
      this.#changed();
    }
  }

  /** A frame with it is on the screen. */
  drawn(): void {
    if (this.front?.isQuestion) this.#shownAt ??= Date.now();
  }

  /** Keys typed before a question could be read are not meant for it. `lastKeyAt`: of the key before this one. */
  takes(lastKeyAt: number): boolean {
    if (!this.front?.isQuestion) return this.front !== undefined;
    if (this.#shownAt === undefined) return false;
    const hasPaused = Date.now() - Math.max(this.#shownAt, lastKeyAt) >= readingMs;
    return hasPaused || lastKeyAt > this.#shownAt + readingMs;
  }

  cancelAll(): void {
    for (const panel of [...this.#panels]) panel.cancel();
  }
}
