// Keeps the beginning and the end of a byte stream in bounded memory, without cutting a UTF-8 character.

/** Keeps the first and the last bytes of a stream of any length. */
export class BoundedBytes {
  total = 0;
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = new GrowingBytes();
  /** A ring buffer: appended to until it is full, then overwritten from the front. */
  #tail = new GrowingBytes();
  #tailStart = 0;

  constructor(limit: number) {
    this.#headLimit = Math.floor(limit / 2);
    this.#tailLimit = limit - this.#headLimit;
  }

  get isCut(): boolean {
    return this.total > this.#headLimit + this.#tailLimit;
  }

  push(bytes: Buffer): void {
    this.total += bytes.length;
    const room = this.#headLimit - this.#head.length;
    if (room > 0) this.#head.append(bytes.subarray(0, room));
    if (bytes.length > room) this.#pushTail(room > 0 ? bytes.subarray(room) : bytes);
  }

  #pushTail(bytes: Buffer): void {
    const rest = bytes.length > this.#tailLimit ? bytes.subarray(bytes.length - this.#tailLimit) : bytes;
    const room = this.#tailLimit - this.#tail.length;
    if (room > 0) this.#tail.append(rest.subarray(0, room));
    let left = rest.length > room ? rest.subarray(Math.max(room, 0)) : undefined;
    while (left && left.length > 0) {
      const written = Math.min(left.length, this.#tailLimit - this.#tailStart);
      this.#tail.overwrite(this.#tailStart, left.subarray(0, written));
      this.#tailStart = (this.#tailStart + written) % this.#tailLimit;
      left = left.subarray(written);
    }
  }

  /** Returns every byte while nothing has been dropped; otherwise the head followed by the tail. */
  bytes(): Buffer {
    return Buffer.concat([this.#head.view(), ...this.#tailInOrder()]);
  }

  /** Returns valid text for any bytes; where bytes were dropped, a line in the middle says how many. */
  text(): string {
    if (!this.isCut) return this.bytes().toString("utf8");
    const head = this.#head.view();
    const tail = Buffer.concat(this.#tailInOrder());
    const headEnd = wholeLength(head);
    const tailStart = nextCharacter(tail);
    const missing = this.total - headEnd - (tail.length - tailStart);
    return `${head.toString("utf8", 0, headEnd)}\n[… ${missing} bytes omitted …]\n${tail.toString("utf8", tailStart)}`;
  }

  #tailInOrder(): Buffer[] {
    const tail = this.#tail.view();
    return [tail.subarray(this.#tailStart), tail.subarray(0, this.#tailStart)];
  }
}

class GrowingBytes {
  length = 0;
  #buffer = Buffer.alloc(0);

  append(bytes: Buffer): void {
    if (this.length + bytes.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(1024, this.#buffer.length * 2, this.length + bytes.length));
      this.#buffer.copy(larger, 0, 0, this.length);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.length);
    this.length += bytes.length;
  }

  overwrite(at: number, bytes: Buffer): void {
    bytes.copy(this.#buffer, at);
  }

  view(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }
}

/** Returns the length without a UTF-8 character that is cut off at the end. */
export function wholeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return size > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function nextCharacter(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return start;
}
