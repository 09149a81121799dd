// A tar archive (POSIX ustar, with pax headers for long names), made piece by piece from files on the disk.
import { constants } from "node:fs";
import { type FileHandle, open, readlink } from "node:fs/promises";
import { join } from "node:path";

/** `path` has `/` between its parts, and is relative to the root of the archive. */
export type TarEntry = { path: string; kind: "file" | "link"; isExecutable: boolean };

const block = 512;
const chunkBytes = 256 * 1024;

export async function* tarOf(root: string, entries: Iterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    if (entry.kind === "link") yield* linkOf(root, entry);
    else yield* fileOf(root, entry);
  }
  yield Buffer.alloc(2 * block);
}

async function* linkOf(root: string, { path }: TarEntry): AsyncGenerator<Uint8Array> {
  const target = await readlink(join(root, path));
  yield header({ path, target, type: "2", mode: 0o777, size: 0, mtime: 0 });
}

/** A file that is gone by now is left out; one that changed meanwhile has the length that it had at first. */
async function* fileOf(root: string, { path, isExecutable }: TarEntry): AsyncGenerator<Uint8Array> {
  let file: FileHandle;
  try {
    file = await open(join(root, path), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  try {
    const { size, mtimeMs } = await file.stat();
    const mode = isExecutable ? 0o755 : 0o644;
    yield header({ path, type: "0", mode, size, mtime: Math.floor(mtimeMs / 1000) });
    let left = size;
    while (left > 0) {
      const chunk = Buffer.alloc(Math.min(left, chunkBytes));
      const { bytesRead } = await file.read(chunk, 0, chunk.length);
      if (bytesRead === 0) break;
      left -= bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
    const rest = left + ((block - (size % block)) % block);
    for (let padding = rest; padding > 0; padding -= chunkBytes) yield Buffer.alloc(Math.min(padding, chunkBytes));
  } finally {
    await file.close();
  }
}

type Head = { path: string; type: string; mode: number; size: number; mtime: number; target?: string };

/** What does not fit into its field stands in a pax header before it. */
function header(head: Head): Uint8Array {
  const { path, target = "" } = head;
  const long = [
    ...(Buffer.byteLength(path) > 100 ? [record("path", path)] : []),
    ...(Buffer.byteLength(target) > 100 ? [record("linkpath", target)] : []),
  ];
  if (long.length === 0) return plainHeader(head);
  const body = Buffer.concat(long);
  const padded = Buffer.concat([body, Buffer.alloc((block - (body.length % block)) % block)]);
  const pax = plainHeader({ path: "pax-header", type: "x", mode: 0o644, size: body.length, mtime: head.mtime });
  return Buffer.concat([pax, padded, plainHeader(head)]);
}

/** `<length> name=value\n`: the length counts itself. */
function record(name: string, value: string): Buffer {
  const rest = ` ${name}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  if (String(length).length + bytes !== length) length++;
  return Buffer.from(`${length}${rest}`);
}

function plainHeader({ path, type, mode, size, mtime, target = "" }: Head): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, at: number, width: number) =>
    bytes.write(`${value.toString(8).padStart(width - 1, "0")}\0`, at, "latin1");
  const name = (text: string, at: number) => Buffer.from(text).subarray(0, 100).copy(bytes, at);
  name(path, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.max(0, mtime), 136, 12);
  bytes.fill(" ", 148, 156);
  bytes.write(type, 156, "latin1");
  name(target, 157);
  bytes.write("ustar\u000000", 257, "latin1");
  octal(
    bytes.reduce((sum, each) => sum + each, 0),
    148,
    7,
  );
  return bytes;
}
