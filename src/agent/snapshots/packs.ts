// Many contents in one file, in git's pack format: making thousands of small files is what costs the most.
import { createHash } from "node:crypto";
import {
  closeSync,
  fstatSync,
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

/** An index holds 31 bits of an offset. */
const largestPack = 2 ** 31 - 64 * 1024 * 1024;

/** The packs of a folder, as far as they were there when it was last looked. */
export class Packs {
  readonly #folder: string;
  #packs: PackIndex[] = [];
  #seen = "";

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Another process may have made packs, or swept some away. */
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

  /** Undefined when no pack holds it. */
  get(id: string): Buffer | undefined {
    for (const pack of this.#packs) {
      const index = pack.find(id);
      if (index !== undefined) return pack.read(index);
    }
    return undefined;
  }
}

/** A pack and its index, read when it is first needed. */
export class PackIndex {
  /** Without its ending. */
  readonly path: string;
  #loaded: { bytes: Buffer; count: number } | undefined;

  constructor(path: string) {
    this.path = path;
  }

  get ids(): string[] {
    const { bytes, count } = this.#load();
    return Array.from({ length: count }, (_, index) =>
      bytes.toString("hex", namesAt + index * 20, namesAt + index * 20 + 20),
    );
  }

  /** The place of a name among the names, which are sorted. */
  find(id: string): number | undefined {
    const { bytes, count } = this.#load();
    const wanted = Buffer.from(id, "hex");
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = namesAt + middle * 20;
      const order = bytes.compare(wanted, 0, 20, at, at + 20);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  read(index: number): Buffer {
    const { bytes, count } = this.#load();
    const start = bytes.readUInt32BE(namesAt + count * 24 + index * 4);
    const handle = openSync(`${this.path}.pack`, "r");
    try {
      const head = Buffer.alloc(16);
      readSync(handle, head, 0, head.length, start);
      const { size, length } = readEntryHeader(head);
      // What does not get smaller gets little larger. Unpacking ends where the content ends, whatever follows.
      const packed = Buffer.alloc(size + Math.ceil(size / 100) + 100);
      const read = readSync(handle, packed, 0, packed.length, start + length);
      return inflateSync(packed.subarray(0, read));
    } finally {
      closeSync(handle);
    }
  }

  remove(): void {
    // The index first: without it the rest is not seen.
    for (const ending of ["idx", "pack"]) rmSync(`${this.path}.${ending}`, { force: true });
  }

  #load(): { bytes: Buffer; count: number } {
    if (this.#loaded) return this.#loaded;
    const bytes = readFileSync(`${this.path}.idx`);
    const count = bytes.length >= namesAt ? bytes.readUInt32BE(namesAt - 4) : 0;
    // Where one of the two was lost in part when the machine went down, nothing is found in it.
    const isWhole = bytes.length === namesAt + count * 28 + 40 && this.#endsWith(bytes.subarray(-40, -20));
    this.#loaded = { bytes, count: isWhole ? count : 0 };
    return this.#loaded;
  }

  /** A pack ends with its sum, which the index also holds. */
  #endsWith(sum: Buffer): boolean {
    try {
      const handle = openSync(`${this.path}.pack`, "r");
      try {
        const end = Buffer.alloc(sum.length);
        readSync(handle, end, 0, end.length, fstatSync(handle).size - end.length);
        return end.equals(sum);
      } finally {
        closeSync(handle);
      }
    } catch {
      return false;
    }
  }
}

/** Behind the magic, the version, and the counts by first byte. */
const namesAt = 8 + 256 * 4;

type PackedObject = { id: string; offset: number; crc: number };

/** Nothing of it can be seen before it is finished. */
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
      const sum = this.#sum();
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

  /** What is not finished by then is gone. */
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

  /** Of the whole file, whose beginning is written last. */
  #sum(): Buffer {
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

/** Kind 3 is a blob; the size in groups of bits, the lowest first: four, then seven at a time. */
function entryHeader(size: number): Buffer {
  const bytes = [(3 << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}

function readEntryHeader(bytes: Buffer): { size: number; length: number } {
  let size = bytes[0]! & 15;
  let length = 1;
  for (let unit = 16; bytes[length - 1]! >= 0x80; unit *= 128) size += (bytes[length++]! & 127) * unit;
  return { size, length };
}

/** Version 2: how many names begin with which byte, the names, checksums and offsets in their order. */
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
