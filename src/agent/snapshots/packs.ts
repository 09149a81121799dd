// Stores many contents in one file, in git's pack format: creating thousands of small files would cost the most time.
import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync, inflateSync } from "node:zlib";
import { syncFolder } from "../../store/sync.ts";
import { readOffset } from "./git-index.ts";

/** The maximum size of a pack: its index stores offsets of 31 bits. */
const largestPack = 2 ** 31 - 64 * 1024 * 1024;

/** The pack files of a folder, as of the last refresh. */
export class Packs {
  readonly #folder: string;
  #packs: PackIndex[] = [];
  #seen = "";

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Detects packs that another process has added or removed. */
  refresh(): void {
    const stat = statSync(this.#folder, { throwIfNoEntry: false });
    const seen = stat ? `${stat.ino} ${stat.mtimeMs}` : "";
    if (seen === this.#seen) return;
    this.#seen = seen;
    const names = seen === "" ? [] : readdirSync(this.#folder).filter((name) => name.endsWith(".idx"));
    this.#packs = names.map((name) => new PackIndex(join(this.#folder, name.slice(0, -4))));
  }

  get list(): readonly PackIndex[] {
    return this.#packs;
  }

  has(id: string): boolean {
    return this.#packs.some((pack) => pack.find(id) !== undefined);
  }

  /** Returns the content with this id, or undefined if no pack contains it. */
  get(id: string): Buffer | undefined {
    for (const pack of this.#packs) {
      const index = pack.find(id);
      if (index !== undefined) return pack.read(index, (other) => this.get(other));
    }
    return undefined;
  }
}

/** The index of a pack: the number of its contents, and read access to the index file. */
type IndexFile = {
  count: number;
  at(start: number, length: number): Buffer;
  number(start: number): number;
  nameAt(index: number): string;
};

/** A pack and its index, of a snapshot store or a repository. Loaded when first needed. */
export class PackIndex {
  /** The path of the pack without its extension. */
  readonly path: string;
  #loaded: IndexFile | undefined;

  constructor(path: string) {
    this.path = path;
  }

  get ids(): string[] {
    const { nameAt, count } = this.#load();
    return Array.from({ length: count }, (_, index) => nameAt(index));
  }

  /** Returns the position of an id among the sorted ids. */
  find(id: string): number | undefined {
    const { number, nameAt, count } = this.#load();
    if (count === 0) return undefined;
    const wanted = Number.parseInt(id.slice(0, 8), 16);
    const first = wanted >>> 24;
    let low = first === 0 ? 0 : number(4 + first * 4);
    let high = number(8 + first * 4);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (number(namesAt + middle * 20) < wanted) low = middle + 1;
      else high = middle;
    }
    for (; low < count && number(namesAt + low * 20) === wanted; low++) if (nameAt(low) === id) return low;
    return undefined;
  }

  /** Reads a content from the pack. `others` finds the base of a delta if it is not in this pack. */
  read(index: number, others: (id: string) => Buffer | undefined = () => undefined): Buffer {
    const handle = openSync(`${this.path}.pack`, "r");
    try {
      return contentAt(handle, this.#offsetOf(index), (id) => {
        const packedEntry = this.find(id);
        return packedEntry === undefined ? others(id) : this.#offsetOf(packedEntry);
      });
    } finally {
      closeSync(handle);
    }
  }

  remove(): void {
    // Remove the index first: a pack without an index is ignored.
    for (const ending of ["idx", "pack"]) rmSync(`${this.path}.${ending}`, { force: true });
  }

  /** Reads an offset from the index. Offsets of more than 31 bits are in a second table after the first. */
  #offsetOf(index: number): number {
    const { at, number, count } = this.#load();
    const short = number(namesAt + count * 24 + index * 4);
    if (short < 2 ** 31) return short;
    return Number(at(namesAt + count * 28 + (short - 2 ** 31) * 8, 8).readBigUInt64BE());
  }

  #load() {
    this.#loaded ??= this.#open() ?? { count: 0, at: () => Buffer.alloc(0), number: () => 0, nameAt: () => "" };
    return this.#loaded;
  }

  /** Returns undefined if either file was partly lost in a crash of the machine; nothing is then found in it. */
  #open(): IndexFile | undefined {
    const size = statSync(`${this.path}.idx`).size;
    // A pipe or a device has no size, and reading it may never end.
    if (size < namesAt + 40) return undefined;
    const whole = size <= largestInMemory ? readFileSync(`${this.path}.idx`) : undefined;
    const at = (start: number, length: number) =>
      whole ? whole.subarray(start, start + length) : readFilePart(`${this.path}.idx`, start, length);
    if (at(0, 8).toString("hex") !== "ff744f6300000002") return undefined;
    const number = (start: number) => (whole ?? at(start, 4)).readUInt32BE(whole ? start : 0);
    const nameAt = (index: number) => {
      const start = namesAt + index * 20;
      return whole ? whole.toString("hex", start, start + 20) : at(start, 20).toString("hex");
    };
    const count = number(namesAt - 4);
    const rest = size - (namesAt + count * 28 + 40);
    return rest >= 0 && rest % 8 === 0 && this.#endsWith(at(size - 40, 20)) ? { count, at, number, nameAt } : undefined;
  }

  /** Returns whether the pack ends with the given checksum, which its index also contains. */
  #endsWith(sum: Buffer): boolean {
    try {
      const file = `${this.path}.pack`;
      const { size } = statSync(file);
      return size > sum.length && readFilePart(file, size - sum.length, sum.length).equals(sum);
    } catch {
      return false;
    }
  }
}

/** The largest index that is kept in memory; larger ones are read from disk as needed. */
const largestInMemory = 16 * 1024 * 1024;

function readFilePart(file: string, start: number, length: number): Buffer {
  const handle = openSync(file, "r");
  try {
    const part = Buffer.alloc(length);
    readSync(handle, part, 0, length, start);
    return part;
  } finally {
    closeSync(handle);
  }
}

const offsetDelta = 6;
const namedDelta = 7;

/** Reads the content at an offset of a pack. `find` resolves the base of a delta: to its offset in this pack, or to its content. */
function contentAt(handle: number, start: number, find: (id: string) => number | Buffer | undefined): Buffer {
  const head = Buffer.alloc(48);
  readSync(handle, head, 0, head.length, start);
  const { kind, size, length } = readEntryHeader(head);
  const inflated = (from: number) => {
    // Read slightly more than the content's size, since data that does not compress grows a little. Inflating stops at
    // the end of the content.
    const packed = Buffer.alloc(size + Math.ceil(size / 100) + 100);
    return inflateSync(packed.subarray(0, readSync(handle, packed, 0, packed.length, from)));
  };
  if (kind === offsetDelta) {
    const back = readOffset(head, length);
    return applyDelta(contentAt(handle, start - back.value, find), inflated(start + back.end));
  }
  if (kind !== namedDelta) return inflated(start + length);
  const found = find(head.toString("hex", length, length + 20));
  if (found === undefined) throw new Error("a content that another one is a difference to is missing");
  const base = typeof found === "number" ? contentAt(handle, found, find) : found;
  return applyDelta(base, inflated(start + length + 20));
}

/** Applies git's delta format: both lengths, then ranges to copy and new bytes to insert. */
function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = delta[at++]!;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  };
  number();
  const content = Buffer.alloc(number());
  let end = 0;
  while (at < delta.length) {
    const command = delta[at++]!;
    if (command < 0x80) {
      end += delta.copy(content, end, at, at + command);
      at += command;
      continue;
    }
    // Write one bit for each byte of the offset and the length, set if that byte is not zero.
    const field = (bits: readonly number[]) =>
      bits.reduce((value, bit, index) => (command & bit ? value + delta[at++]! * 256 ** index : value), 0);
    const offset = field([1, 2, 4, 8]);
    const size = field([16, 32, 64]) || 0x10000;
    end += base.copy(content, end, offset, offset + size);
  }
  return content;
}

/** The ids follow the magic number, the version, and the table of counts by first byte. */
const namesAt = 8 + 256 * 4;

type PackedObject = { id: string; offset: number; crc: number };

/** The most bytes that wait in memory until it is clear whether a pack is worth creating. */
const maxWaiting = 4 * 1024 * 1024;

/** A batch of contents: a few wait for the caller to write each to its own file, more go into packs. */
export class Batch {
  readonly waiting = new Map<string, Buffer>();
  readonly #folder: string;
  readonly #most: number;
  #bytes = 0;
  #pack: PackWriter | undefined;

  constructor(folder: string, most: number) {
    this.#folder = folder;
    this.#most = most;
  }

  has(id: string): boolean {
    return this.waiting.has(id) || this.#pack?.has(id) === true;
  }

  add(id: string, content: Buffer): void {
    this.#bytes += content.length;
    this.waiting.set(id, content);
    if (!this.#pack && this.waiting.size <= this.#most && this.#bytes <= maxWaiting) return;
    if (this.#pack?.isFull) {
      this.#pack.finish();
      this.#pack = undefined;
    }
    this.#pack ??= new PackWriter(this.#folder);
    for (const each of this.waiting) this.#pack.add(...each);
    this.waiting.clear();
  }

  /** Completes the pack. Returns whether a new one was written. */
  finish(): boolean {
    this.#pack?.finish();
    return this.#pack !== undefined;
  }

  abandon(): void {
    this.#pack?.abandon();
  }
}

/** Writes a pack, which becomes visible only when it is finished. */
export class PackWriter {
  readonly #folder: string;
  readonly #file: string;
  readonly #handle: number;
  readonly #entries = new Map<string, PackedObject>();
  #offset = 0;
  #isOpen = true;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#file = join(folder, `new-${process.pid}-${Math.random().toString(36).slice(2)}`);
    this.#handle = openSync(this.#file, "wx+", 0o600);
    this.#append(packHeader(0));
  }

  get isFull(): boolean {
    return this.#offset > largestPack;
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  add(id: string, content: Buffer): void {
    const entry = Buffer.concat([entryHeader(content.length), deflateSync(content, { level: 1 })]);
    this.#entries.set(id, { id, offset: this.#offset, crc: crc32(entry) });
    this.#append(entry);
  }

  finish(): void {
    try {
      if (this.#entries.size === 0) return;
      writeSync(this.#handle, packHeader(this.#entries.size), 0, undefined, 0);
      const sum = this.#checksum();
      this.#append(sum);
      const sorted = [...this.#entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      const path = join(this.#folder, `pack-${sum.toString("hex")}`);
      fsyncSync(this.#handle);
      renameSync(this.#file, `${path}.pack`);
      writeFileSync(`${path}.new`, indexOf(sorted, sum), { mode: 0o600, flush: true });
      syncFolder(this.#folder);
      renameSync(`${path}.new`, `${path}.idx`);
      syncFolder(this.#folder);
    } finally {
      this.abandon();
    }
  }

  abandon(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#handle);
    rmSync(this.#file, { force: true });
  }

  #append(bytes: Buffer): void {
    writeFileSync(this.#handle, bytes);
    this.#offset += bytes.length;
  }

  /** Computes the checksum of the whole file. This needs a second pass, since its header is written last. */
  #checksum(): Buffer {
    const hash = createHash("sha1");
    const piece = Buffer.allocUnsafe(1024 * 1024);
    for (let at = 0; at < this.#offset; ) {
      const count = readSync(this.#handle, piece, 0, piece.length, at);
      if (count === 0) break;
      hash.update(piece.subarray(0, count));
      at += count;
    }
    return hash.digest();
  }
}

function packHeader(count: number): Buffer {
  const header = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  header.writeUInt32BE(count, 8);
  return header;
}

/** Kind 3 is a blob; the size follows in groups of bits, lowest first: four, then seven at a time. */
function entryHeader(size: number): Buffer {
  const bytes = [(3 << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}

function readEntryHeader(bytes: Buffer): { kind: number; size: number; length: number } {
  let size = bytes[0]! & 15;
  let length = 1;
  for (let unit = 16; bytes[length - 1]! >= 0x80; unit *= 128) size += (bytes[length++]! & 127) * unit;
  return { kind: (bytes[0]! >> 4) & 7, size, length };
}

/** Version 2: counts by first byte, then sorted ids, checksums and offsets in that order. */
function indexOf(sorted: readonly PackedObject[], packSum: Buffer): Buffer {
  const bytes = Buffer.alloc(namesAt + sorted.length * 28);
  bytes.writeUInt32BE(0xff744f63, 0);
  bytes.writeUInt32BE(2, 4);
  for (const [index, { id, crc, offset }] of sorted.entries()) {
    bytes.write(id, namesAt + index * 20, "hex");
    bytes.writeUInt32BE(crc, namesAt + sorted.length * 20 + index * 4);
    bytes.writeUInt32BE(offset, namesAt + sorted.length * 24 + index * 4);
  }
  for (let first = 0, count = 0; first < 256; first++) {
    while (count < sorted.length && bytes[namesAt + count * 20]! <= first) count++;
    bytes.writeUInt32BE(count, 8 + first * 4);
  }
  const whole = Buffer.concat([bytes, packSum]);
  return Buffer.concat([whole, createHash("sha1").update(whole).digest()]);
}
