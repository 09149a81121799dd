// Estimates the server's clock for one connection. It is read from time to time, by storing a message.
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import type { Connected } from "./connect.ts";
import { staleRead } from "./errors.ts";
import { answerMs, messageAt } from "./reads.ts";

const goodMs = 30_000;

export class ServerClock {
  /** When the server was last found again, by its clock; 0 if it was never lost. Updated by `now`. */
  foundAgainAt = 0;
  readonly #connected: Connected;
  readonly #key = `clock.${randomUuid()}`;
  #read: { offset: number; takenAt: number } | undefined;
  #reading: Promise<number> | undefined;
  #isFoundAgain = false;

  constructor(connected: Connected) {
    this.#connected = connected;
  }

  /** Called when writes are possible again after a while in which they were not. */
  found(): void {
    this.#read = undefined;
    this.#isFoundAgain = true;
  }

  /** Never ahead of the server. Concurrent callers share one read, each with its own retries. */
  async now(again: <T>(work: () => Promise<T>) => Promise<T>): Promise<number> {
    const known = this.#read;
    if (known && performance.now() - known.takenAt <= goodMs) return performance.now() + known.offset;
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
    const at = stored.time.getTime();
    this.#read = { offset: at - takenAt, takenAt };
    if (this.#isFoundAgain) this.foundAgainAt = at;
    this.#isFoundAgain = false;
    return this.#read.offset;
  }
}
