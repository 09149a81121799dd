// Changes: tells when a folder that several processes write to has changed. Nothing runs while nobody waits; who waits keeps the
// process alive.
import { type FSWatcher, utimesSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where a system tells nothing of changes, who follows a run looks again this often. */
const lookAgainMs = 1000;
/** The longest that a timer can be told: who waits by no clock is not woken by it. */
const holdMs = 2 ** 31 - 1;

export class Changes {
  readonly #folder: string;
  readonly #waiting = new Set<() => void>();
  #count = 0;
  #watcher: FSWatcher | undefined;
  #isUnwatchable = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Grows with every change. Take it before you look, then wait for more than this. */
  get count(): number {
    this.#watch();
    return this.#count;
  }

  /**
   * This process changed something, which is visible to all now. SQLite writes its log before that, and others who are woken
   * by the log alone may look too early: so a file is touched as well, after the change.
   */
  announce(): void {
    this.tell();
    const file = join(this.#folder, "runs.changed");
    try {
      const now = new Date();
      utimesSync(file, now, now);
    } catch {
      try {
        writeFileSync(file, "", { mode: 0o600 });
      } catch {
        // On a disk that is full, others look again when the log grows.
      }
    }
  }

  /** Wakes who waits in this process. */
  tell(): void {
    this.#count++;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves when there are more than `seen`, and when the signal is aborted. `patient`: by no clock. */
  async after(seen: number, signal: AbortSignal, { patient = false } = {}): Promise<void> {
    if (this.#count !== seen || signal.aborted) return;
    this.#watch();
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
      timer = setTimeout(wake, patient && !this.#isUnwatchable ? holdMs : lookAgainMs);
    });
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.tell();
  }

  #watch(): void {
    if (this.#watcher || this.#isUnwatchable) return;
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, (_kind, name) => {
        if (!name?.endsWith(".log")) this.tell(); // what hosts complain about is no change of a run
      });
      this.#watcher.on("error", () => this.#fail());
    } catch {
      this.#fail();
    }
  }

  /** The system has no watch left to give: clocks must do. */
  #fail(): void {
    this.#isUnwatchable = true;
    this.#watcher?.close();
    this.#watcher = undefined;
    this.tell();
  }
}
