// Handles captured output: splits it at whole characters, and spills what is too long to a file.
import { closeSync, openSync, writeSync } from "node:fs";
import { wholeLength } from "../process/bounded-bytes.ts";

/** Passes bytes on in whole characters, so that two streams can be interleaved. */
export class CharacterStream {
  #held = Buffer.alloc(0);

  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    const whole = wholeLength(bytes);
    this.#held = whole === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(whole));
    return whole === bytes.length ? bytes : bytes.subarray(0, whole);
  }

  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }
}

const maxSpilledBytes = 64 * 1024 * 1024;

/** Stores the whole output, up to a limit, in a file that only its owner can read. */
export class SpillFile {
  readonly path: string;
  readonly #limit: number;
  #descriptor: number | undefined;
  written = 0;
  lines = 0;
  #dropped = 0;
  #failure: string | undefined;

  constructor(path: string, limit = maxSpilledBytes) {
    this.path = path;
    this.#limit = limit;
    try {
      this.#descriptor = openSync(path, "wx", 0o600);
    } catch (error) {
      this.#failure = (error as NodeJS.ErrnoException).code ?? String(error);
    }
  }

  /** Whether the output file exists; false if it could not be written at all. */
  get isThere(): boolean {
    return this.written > 0 || this.#failure === undefined;
  }

  write(bytes: Buffer): void {
    const room = this.#failure === undefined ? this.#limit - this.written : 0;
    const kept = bytes.length > room ? bytes.subarray(0, Math.max(room, 0)) : bytes;
    this.#dropped += bytes.length - kept.length;
    if (kept.length > 0) this.#writeWhole(kept);
  }

  end(): void {
    if (this.#descriptor === undefined) return;
    if (this.#dropped > 0) {
      const why = this.#failure ?? `the file ends at ${this.#limit} bytes`;
      this.#writeWhole(Buffer.from(`\n[${this.#dropped} more bytes were dropped: ${why}]\n`));
    }
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  // Writes are synchronous, so that nothing queues in memory for the disk: a chunk is at most 64 KiB.
  #writeWhole(bytes: Buffer): void {
    let done = 0;
    try {
      while (done < bytes.length) done += writeSync(this.#descriptor!, bytes, done);
    } catch (error) {
      this.#failure = (error as NodeJS.ErrnoException).code ?? String(error);
      this.#dropped += bytes.length - done;
    }
    this.written += done;
    for (let at = bytes.indexOf(10); at !== -1 && at < done; at = bytes.indexOf(10, at + 1)) this.lines++;
  }
}
