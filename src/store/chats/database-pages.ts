// Reads the pages of an SQLite file without SQLite, for a file that it no longer opens. Format: sqlite.org/fileformat2.html
import type { SqlValue } from "../sqlite.ts";

/** Pages by number, from 1; those of the write-ahead log replace older ones. `usable` is how many bytes of each page hold content. */
export type DatabasePages = { pages: Map<number, Buffer>; usable: number };

/** A row that was recovered; `number` is its row id, or 0 in tables without row ids. */
export type SalvagedRow = { number: number; values: SqlValue[] };

const headerSize = 100;
/** Page sizes to try if the header is lost: ours, and that of our earlier versions and of other programs. */
const usualPageSizes = [1024, 4096] as const;

/** Splits an SQLite file into its pages without the free ones, and applies `log`, its write-ahead log (WAL). */
export function pagesOf(file: Buffer, log: Buffer | undefined): DatabasePages {
  const size = pageSizeOf(file);
  const reserved = file.length > 20 && file[20]! < 64 ? file[20]! : 0;
  const pages = new Map<number, Buffer>();
  for (let number = 1; (number - 1) * size < file.length; number++)
    pages.set(number, file.subarray((number - 1) * size, number * size));
  for (const number of freePages(pages, file)) pages.delete(number);
  if (log) applyLogFrames(pages, log, size);
  return { pages, usable: size - reserved };
}

function pageSizeOf(file: Buffer): number {
  const statedSize = file.length > 18 ? file.readUInt16BE(16) : 0;
  const size = statedSize === 1 ? 65_536 : statedSize;
  if (size >= 512 && (size & (size - 1)) === 0) return size;
  const [small, large] = usualPageSizes;
  return leavesAt(file, small) > 2 * leavesAt(file, large) ? small : large;
}

/** Counts the pages of this size that start like a leaf page. */
function leavesAt(file: Buffer, size: number): number {
  let count = 0;
  for (let at = 0; at < file.length; at += size) if (file[at] === tableLeaf || file[at] === indexLeaf) count++;
  return count;
}

/** Returns the free pages. They still contain deleted content, which must not be restored. */
function freePages(pages: ReadonlyMap<number, Buffer>, file: Buffer): Set<number> {
  const free = new Set<number>();
  let trunk = file.length >= headerSize ? file.readUInt32BE(32) : 0;
  while (trunk > 0 && !free.has(trunk)) {
    free.add(trunk);
    const page = pages.get(trunk);
    if (!page || page.length < 8) break;
    const count = Math.min(page.readUInt32BE(4), Math.floor(page.length / 4) - 2);
    for (let index = 0; index < count; index++) free.add(page.readUInt32BE(8 + 4 * index));
    trunk = page.readUInt32BE(0);
  }
  return free;
}

const logHeader = 32;
const frameHeader = 24;

/** Applies frames up to the last commit; frames of an older round have different salts. */
function applyLogFrames(pages: Map<number, Buffer>, log: Buffer, size: number): void {
  if (log.length < logHeader) return;
  const salts = log.subarray(16, 24);
  let waiting: [number, Buffer][] = [];
  for (let at = logHeader; at + frameHeader + size <= log.length; at += frameHeader + size) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break;
    waiting.push([log.readUInt32BE(at), log.subarray(at + frameHeader, at + frameHeader + size)]);
    if (log.readUInt32BE(at + 4) === 0) continue;
    for (const [number, page] of waiting) pages.set(number, page);
    waiting = [];
  }
}

const tableLeaf = 0x0d;
const indexLeaf = 0x0a;

/** Yields every row in a leaf page, whether or not it is reachable. Skips invalid rows. */
export function* leafRows({ pages, usable }: DatabasePages): Generator<SalvagedRow> {
  for (const [number, page] of pages) {
    const start = number === 1 ? headerSize : 0;
    const kind = page[start];
    if ((kind !== tableLeaf && kind !== indexLeaf) || page.length < start + 8) continue;
    const count = Math.min(page.readUInt16BE(start + 3), Math.floor((page.length - start - 8) / 2));
    for (let cell = 0; cell < count; cell++) {
      try {
        yield rowAt(page.readUInt16BE(start + 8 + 2 * cell), { page, isTable: kind === tableLeaf, pages, usable });
      } catch (error) {
        // the cell refers to data outside the page, or is longer than the file
        if (!(error instanceof RangeError)) throw error;
      }
    }
  }
}

type Cell = DatabasePages & { page: Buffer; isTable: boolean };

function rowAt(offset: number, { page, isTable, pages, usable }: Cell): SalvagedRow {
  const length = readVarint(page, offset);
  const number = isTable ? readVarint(page, length.end) : { value: 0, end: length.end };
  const payload = payloadAt(number.end, length.value, { page, isTable, pages, usable });
  return { number: number.value, values: decodeValues(payload) };
}

/** Reads the part in the page, and the rest from its chain of overflow pages. */
function payloadAt(start: number, length: number, { page, isTable, pages, usable }: Cell): Buffer {
  const most = isTable ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  if (length <= most) return slice(page, start, length);
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const fitting = least + ((length - least) % (usable - 4));
  const local = fitting <= most ? fitting : least;
  const parts = [slice(page, start, local)];
  let left = length - local;
  let next = page.readUInt32BE(start + local);
  for (const seen = new Set<number>(); left > 0; ) {
    const further = pages.get(next);
    if (!further || seen.has(next)) throw new RangeError("the rest is missing");
    seen.add(next);
    parts.push(slice(further, 4, Math.min(left, usable - 4)));
    left -= usable - 4;
    next = further.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

function decodeValues(payload: Buffer): SqlValue[] {
  const header = readVarint(payload, 0);
  const values: SqlValue[] = [];
  let at = header.value;
  for (let position = header.end; position < header.value; ) {
    const type = readVarint(payload, position);
    position = type.end;
    const { value, size } = valueAt(payload, at, type.value);
    values.push(value);
    at += size;
  }
  return values;
}

const integerSizes = [0, 1, 2, 3, 4, 6, 8];

function valueAt(payload: Buffer, at: number, type: number): { value: SqlValue; size: number } {
  if (type === 0) return { value: null, size: 0 };
  if (type === 8 || type === 9) return { value: type - 8, size: 0 };
  if (type === 7) return { value: payload.readDoubleBE(at), size: 8 };
  if (type >= 12) {
    const size = Math.floor((type - 12) / 2);
    const bytes = slice(payload, at, size);
    return { value: type % 2 === 0 ? bytes : bytes.toString("utf8"), size };
  }
  const size = integerSizes[type];
  if (size === undefined) throw new RangeError(`${type} is not a type of value`);
  return { value: size === 8 ? Number(payload.readBigInt64BE(at)) : payload.readIntBE(at, size), size };
}

/** Reads seven bits per byte, and eight from the ninth. Values too large for a number are invalid here. */
function readVarint(bytes: Buffer, at: number): { value: number; end: number } {
  let value = 0;
  for (let index = 0; index < 8; index++) {
    const byte = bytes.readUInt8(at + index);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: at + index + 1 };
  }
  throw new RangeError("too large a number");
}

function slice(bytes: Buffer, start: number, length: number): Buffer {
  if (start + length > bytes.length) throw new RangeError("it does not fit");
  return bytes.subarray(start, start + length);
}
