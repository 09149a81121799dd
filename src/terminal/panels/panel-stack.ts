// The panels that are open: the last one has the keys. A question waits until it can have been read.
import type { Panel } from "./panel.ts";

/** A question can be answered by keys that came so long after it was drawn, and after the key before. */
const readingMs = 400;

export class PanelStack {
  readonly #panels: Panel[] = [];
  readonly #changed: () => void;
  /** When the question in front was first drawn. */
  #shownAt: number | undefined;
  /** There was a pause in which it could be read: whoever presses keys now answers it. */
  #isRead = false;

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
    this.#begin();
    this.#changed();
    try {
      return await closed;
    } finally {
      this.#panels.splice(this.#panels.indexOf(panel), 1);
      this.#begin();
      this.#changed();
    }
  }

  /** Another panel is in front. */
  #begin(): void {
    this.#shownAt = undefined;
    this.#isRead = false;
  }

  /** Whoever presses keys now does something else. */
  unread(): void {
    this.#isRead = false;
  }

  /** A frame with it is on the screen. */
  drawn(): void {
    if (this.front?.isQuestion) this.#shownAt ??= Date.now();
  }

  /** Keys typed before a question could be read are not meant for it. `lastKeyAt`: of the key before this one. */
  takes(lastKeyAt: number): boolean {
    if (!this.front?.isQuestion) return this.front !== undefined;
    if (this.#shownAt === undefined) return false;
    this.#isRead ||= Date.now() - Math.max(this.#shownAt, lastKeyAt) >= readingMs;
    return this.#isRead;
  }

  cancelAll(): void {
    for (const panel of [...this.#panels]) panel.cancel();
  }
}
