// Changes: reports when a folder that several processes write to has changed. Nothing runs while there are no waiters; a waiter
// keeps the process alive.
import { type FSWatcher, utimesSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The polling interval for systems that do not report changes of files. */
const lookAgainMs = 1000;
/** The longest delay a timer can have: patient waiters are not woken by the clock. */
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

  /** Grows with every change. Read it before looking at the data, then wait for a higher count. */
  get count(): number {
    this.#watch();
    return this.#count;
  }

  /**
   * Announces a change by this process that is now visible to all. SQLite writes its log before that, so processes woken by the
   * log alone may look too early: a file is therefore touched as well, after the change.
   */
  announce(): void {
    this.notify();
    const file = join(this.#folder, "runs.changed");
    try {
      const now = new Date();
      utimesSync(file, now, now);
    } catch {
      try {
        writeFileSync(file, "", { mode: 0o600 });
      } catch {
        // If the disk is full, other processes look again when the log grows.
      }
    }
  }

  /** Wakes the waiters in this process. */
  notify(): void {
    this.#count++;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves when the count differs from `seen` or the signal is aborted; unless `patient`, also after a second. */
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
    this.notify();
  }

  #watch(): void {
    if (this.#watcher || this.#isUnwatchable) return;
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, (_kind, name) => {
        if (!name?.endsWith(".log")) this.notify(); // the log files of hosts are no changes of runs
      });
      this.#watcher.on("error", () => this.#fail());
    } catch {
      this.#fail();
    }
  }

  /** Falls back to polling when the system has no watches left. */
  #fail(): void {
    this.#isUnwatchable = true;
    this.#watcher?.close();
    this.#watcher = undefined;
    this.notify();
  }
}
