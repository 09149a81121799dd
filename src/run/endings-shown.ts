// EndingsShown: which turns have ended for whoever reads the events, which is later than they ended for the run.
import type { TurnEnding } from "../protocol/run.ts";

export class EndingsShown {
  readonly #shown = new WeakSet<TurnEnding>();
  #waiting: { ending: TurnEnding; resolve(): void }[] = [];

  add(ending: TurnEnding): void {
    this.#shown.add(ending);
    for (const each of this.#waiting) if (each.ending === ending) each.resolve();
    this.#waiting = this.#waiting.filter((each) => each.ending !== ending);
  }

  until(ending: TurnEnding): Promise<void> | undefined {
    if (this.#shown.has(ending)) return undefined;
    return new Promise((resolve) => this.#waiting.push({ ending, resolve }));
  }
}
