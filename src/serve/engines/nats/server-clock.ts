// Estimates the server's clock for one connection. It is read from time to time, by storing a message.
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import { answerMs, type Connected } from "./connect.ts";
import { staleRead } from "./errors.ts";
import { messageAt } from "./reads.ts";

const goodMs = 30_000;

export class ServerClock {
  readonly #connected: Connected;
  readonly #key = `clock.${randomUuid()}`;
  #read: { offset: number; takenAt: number } | undefined;
  #reading: Promise<number> | undefined;
  /** When the server was last found again, by `performance.now()`. */
  #foundAt: number | undefined;

  constructor(connected: Connected) {
    this.#connected = connected;
  }

  /** Called when writes are possible again after a while in which they were not. The new leader's clock may differ. */
  found(): void {
    this.#foundAt = performance.now();
    if (this.#read) this.#read.takenAt = -Infinity;
  }

  /** When the server was last found again, by its clock; 0 if it was never lost. */
  get foundAgainAt(): number {
    return this.#foundAt === undefined ? 0 : this.#foundAt + (this.#read?.offset ?? 0);
  }

  /** Returns the server's time, never ahead of it. Concurrent callers share one read, each with its own retries. */
  async now(again: <T>(work: () => Promise<T>) => Promise<T>): Promise<number> {
    const lastReading = this.#read;
    if (lastReading && performance.now() - lastReading.takenAt <= goodMs) return performance.now() + lastReading.offset;
    const offset = await again(() => {
      this.#reading ??= this.#readOffset().finally(() => {
        this.#reading = undefined;
      });
      return this.#reading;
    });
    return performance.now() + offset;
  }

  /** Reads when a message sent now was stored. Throws if the leader does not know that message. */
  async #readOffset(): Promise<number> {
    const { jetstream, names } = this.#connected;
    const { seq } = await jetstream.publish(names.subject("lease", this.#key), "", { timeout: answerMs });
    const stored = await messageAt(this.#connected, names.stream("lease"), seq);
    if (!stored) throw staleRead();
    // Taken after the reply, so that the estimate is never ahead.
    const takenAt = performance.now();
    this.#read = { offset: stored.time.getTime() - takenAt, takenAt };
    return this.#read.offset;
  }
}
