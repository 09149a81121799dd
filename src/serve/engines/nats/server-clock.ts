// The clock of the server, as everybody on one connection knows it: read now and then, by a message that is stored.
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import type { Connected } from "./connect.ts";
import { staleRead } from "./errors.ts";
import { answerMs, messageAt } from "./reads.ts";

const goodMs = 30_000;

export class ServerClock {
  /** When the server was found again, by its clock; 0: it was never lost. Known after `now`. */
  foundAgainAt = 0;
  readonly #connected: Connected;
  readonly #key = `clock.${randomUuid()}`;
  #read: { offset: number; takenAt: number } | undefined;
  #reading: Promise<number> | undefined;
  #isFoundAgain = false;

  constructor(connected: Connected) {
    this.#connected = connected;
  }

  /** Nobody could write for a while, and now it is possible again. */
  found(): void {
    this.#read = undefined;
    this.#isFoundAgain = true;
  }

  /** Not ahead of the server. It is read once for all who ask; each of them has its own patience. */
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

  /** When a message was stored that was sent just now. One that the leader does not know of tells no time. */
  async #readOffset(): Promise<number> {
    const { jetstream, names } = this.#connected;
    const { seq } = await jetstream.publish(names.subject("lease", this.#key), "", { timeout: answerMs });
    const stored = await messageAt(this.#connected, names.stream("lease"), seq);
    if (!stored) throw staleRead();
    // The answer took its time.
    const takenAt = performance.now();
    const at = stored.time.getTime();
    this.#read = { offset: at - takenAt, takenAt };
    if (this.#isFoundAgain) this.foundAgainAt = at;
    this.#isFoundAgain = false;
    return this.#read.offset;
  }
}
