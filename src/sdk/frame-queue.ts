// FrameQueue: queues frames for their reader, and reports when too many are waiting.
import { frameTypes } from "../protocol/frame-shapes.ts";
import type { Frame } from "../protocol/frames.ts";

/** The number of unread bytes at which the CLI is paused until the reader has caught up. */
const maxWaitingBytes = 256 * 1024;

export class FrameQueue implements AsyncIterable<Frame> {
  readonly #on: { full(): void; room(): void; abandoned(): void };
  #frames: Frame[] = [];
  #waitingBytes = 0;
  #wake: () => void = () => {};
  isClosed = false;
  isFull = false;
  /** The sender is no longer paused: frames that arrive while the queue is full are dropped, except the one that ends the turn. */
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
    if (this.#waitingBytes <= maxWaitingBytes || this.isFull) return;
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

  /** Yields all waiting frames at once: an async step per frame costs more than reading the frame. */
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
