// DeliveredEndings: tracks which turn endings the reader of the events has received, which is later than the turn ended.
import type { TurnEnding } from "../protocol/run.ts";

export class DeliveredEndings {
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
