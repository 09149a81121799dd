// Contents by their hash, in git's own formats, so that `git --git-dir` can read them. Written without git.
import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  fstatSync,
  mkdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createDeflate, createInflate, deflateSync, inflateSync } from "node:zlib";
import { Packs, PackWriter } from "./packs.ts";

const largestAtOnce = 16 * 1024 * 1024;

type SavedContent = { object: string; size: number };

export type ObjectStore = {
  /** The id of a content, which is kept from then on. */
  put(content: Buffer): string;
  /** The same for an open file of any size, from its beginning. */
  putFile(handle: number, size: number): Promise<SavedContent>;
  /** Throws when there is none, or when it is not what its name says. */
  get(id: string): Buffer;
  /** The same in pieces, for contents of any size. */
  pieces(id: string): AsyncGenerator<Buffer>;
  /** Everything that `work` puts goes into one file, and is there when it ends. */
  together<Result>(work: () => Promise<Result>): Promise<Result>;
  readonly packs: Packs;
};

export function openObjects(folder: string): ObjectStore {
  const packs = new Packs(join(folder, "pack"));
  let together: PackWriter | undefined;
  const pathOf = (id: string) => join(folder, id.slice(0, 2), id.slice(2));
  const sizeOf = (id: string) => statSync(pathOf(id), { throwIfNoEntry: false })?.size ?? 0;
  const newFile = () => join(folder, `new-${process.pid}-${Math.random().toString(36).slice(2)}`);

  function put(content: Buffer): string {
    const id = idOf(content);
    if (packs.has(id) || together?.has(id)) return id;
    if (together) {
      if (together.isFull) {
        together.finish();
        together = new PackWriter(join(folder, "pack"));
      }
      together.add(id, content);
      return id;
    }
    // One that is empty was lost when the machine went down.
    if (sizeOf(id) > 0) return id;
    const temporary = newFile();
    try {
      const packed = deflateSync(Buffer.concat([headerOf(content.length), content]), { level: 1 });
      writeFileSync(temporary, packed, { mode: 0o600, flag: "wx" });
      moveIn(temporary, id);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return id;
  }

  function moveIn(temporary: string, id: string): void {
    mkdirSync(join(folder, id.slice(0, 2)), { recursive: true, mode: 0o700 });
    renameSync(temporary, pathOf(id));
  }

  async function putFile(handle: number, size: number): Promise<SavedContent> {
    if (size <= largestAtOnce) {
      const content = readFileSync(handle);
      return { object: put(content), size: content.length };
    }
    const { pipeline } = await import("node:stream/promises");
    const hash = createHash("sha1");
    const source = async function* () {
      for (const piece of wholePieces(handle, size)) {
        hash.update(piece);
        yield piece;
      }
    };
    const temporary = newFile();
    try {
      const file = createWriteStream(temporary, { flags: "wx", mode: 0o600 });
      await pipeline(source, createDeflate({ level: 1 }), file);
      const object = hash.digest("hex");
      moveIn(temporary, object);
      return { object, size };
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  function get(id: string): Buffer {
    const content = packs.get(id) ?? withoutHeader(inflateSync(readFileSync(pathOf(id))));
    if (idOf(content) !== id) throw damaged(id);
    return content;
  }

  async function* pieces(id: string): AsyncGenerator<Buffer> {
    if (sizeOf(id) <= largestAtOnce / 8) {
      yield get(id);
      return;
    }
    const hash = createHash("sha1");
    const source = createReadStream(pathOf(id));
    const inflated = createInflate();
    source.on("error", (error) => inflated.destroy(error));
    let begun = false;
    for await (const piece of source.pipe(inflated) as AsyncIterable<Buffer>) {
      hash.update(piece);
      // The header is far shorter than a piece.
      yield begun ? piece : withoutHeader(piece);
      begun = true;
    }
    if (hash.digest("hex") !== id) throw damaged(id);
  }

  return {
    put,
    putFile,
    get,
    pieces,
    packs,
    async together(work) {
      together = new PackWriter(join(folder, "pack"));
      try {
        const result = await work();
        together.finish();
        return result;
      } catch (error) {
        together.abandon();
        throw error;
      } finally {
        together = undefined;
        packs.refresh();
      }
    },
  };
}

/** What the id of an open file would be, without keeping it. */
export function hashFile(handle: number, size: number): string {
  if (size <= largestAtOnce) return idOf(readFileSync(handle));
  const hash = createHash("sha1");
  for (const piece of wholePieces(handle, size)) hash.update(piece);
  return hash.digest("hex");
}

function idOf(content: Buffer): string {
  return createHash("sha1").update(headerOf(content.length)).update(content).digest("hex");
}

/** The header, then the content. The header says the size, so the file must keep it. */
function* wholePieces(handle: number, size: number): Generator<Buffer> {
  yield headerOf(size);
  for (let at = 0; at < size; ) {
    const piece = Buffer.allocUnsafe(Math.min(1024 * 1024, size - at));
    const count = readSync(handle, piece, 0, piece.length, at);
    if (count === 0) break;
    at += count;
    yield piece.subarray(0, count);
  }
  if (fstatSync(handle).size !== size) throw new Error("the file changed while it was read");
}

function headerOf(size: number): Buffer {
  return Buffer.from(`blob ${size}\0`, "latin1");
}

function withoutHeader(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf(0) + 1);
}

function damaged(id: string): Error {
  return new Error(`the saved content ${id} is damaged`);
}
