// The stack of open panels: the last one receives the keys. Questions ignore keys until the user can have read them.
import type { OpenedPanel, Panel } from "./panel.ts";

/** A question accepts keys after this time without a key since it was drawn. */
const readingMs = 400;

export class PanelStack {
  readonly #panels: Panel[] = [];
  readonly #changed: () => void;
  /** When the question in front was drawn for the first time. */
  #shownAt: number | undefined;
  /** Whether the question was visible long enough to be read, so that keys now answer it. */
  #isRead = false;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get front(): Panel | undefined {
    return this.#panels.at(-1);
  }

  async open<Result>({ panel, closed }: OpenedPanel<Result>): Promise<Result | undefined> {
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

  /** Resets the state for the panel that is now in front. */
  #begin(): void {
    this.#shownAt = undefined;
    this.#isRead = false;
  }

  /** Called when the user does something else, so that keys do not answer the question. */
  unread(): void {
    this.#isRead = false;
  }

  /** Called when a frame with the panel is on the screen. */
  drawn(): void {
    if (this.front?.isQuestion) this.#shownAt ??= Date.now();
  }

  /**
   * Returns whether the panel in front takes a key. Keys typed before a question could be read are not meant for it. `lastKeyAt`
   * is the time of the previous key.
   */
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
