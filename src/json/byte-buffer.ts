// Buffers bytes until their line is complete. Grows by doubling, so any chunking takes linear time.

/** How many bytes of capacity are kept between lines; more than this is released. */
const restingCapacity = 1 << 16;

export class ByteBuffer {
  #bytes = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.length * 2, 1024));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  /** Returns the bytes in the buffer. The result is valid until the next append. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  last(): number | undefined {
    return this.#length > 0 ? this.#bytes[this.#length - 1] : undefined;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > restingCapacity) this.#bytes = new Uint8Array(0);
  }
}
