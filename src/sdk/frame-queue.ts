// FrameQueue: frames that wait for their reader, and word to the sender when too many do.
import { frameTypes } from "../protocol/frame-shapes.ts";
import type { Frame } from "../protocol/frames.ts";

/** So much may wait before the sender is held up; it goes on when the reader comes for it. */
const mostWaitingBytes = 256 * 1024;

export class FrameQueue implements AsyncIterable<Frame> {
  readonly #on: { full(): void; room(): void; abandoned(): void };
  #frames: Frame[] = [];
  #waitingBytes = 0;
  #wake: () => void = () => {};
  isClosed = false;
  isFull = false;
  /** The sender is no longer held up: what comes while the queue is full is dropped, except the end of the turn. */
  isClosing = false;

  constructor(on: { full(): void; room(): void; abandoned(): void }) {
    this.#on = on;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  push(frame: Frame, bytes: number): void {
    if (this.isClosed || (this.isClosing && this.isFull && !frameTypes.get(frame.type)?.isTerminal)) return;
    this.#frames.push(frame);
    this.#waitingBytes += bytes;
    this.#wake();
    if (this.#waitingBytes <= mostWaitingBytes || this.isFull) return;
    this.isFull = true;
    this.#on.full();
  }

  close(): void {
    this.isClosed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Frame> {
    for await (const batch of this.batches()) yield* batch;
  }

  /** All that waits at once: a step for each frame costs more than reading it. */
  async *batches(): AsyncGenerator<Frame[]> {
    try {
      for (;;) {
        if (this.#frames.length > 0) {
          const batch = this.#frames;
          this.#frames = [];
          this.#waitingBytes = 0;
          if (this.isFull) {
            this.isFull = false;
            if (!this.isClosed) this.#on.room();
          }
          yield batch;
        } else if (this.isClosed) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    this.#frames = [];
    this.isFull = false;
    if (this.isClosed) return;
    this.close();
    this.#on.abandoned();
  }
}
