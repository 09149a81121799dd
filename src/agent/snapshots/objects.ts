// Stores contents by their hash in git's own formats, so that `git --git-dir` can read them. Written without git.
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
import { pipeline } from "node:stream";
import { createDeflate, createInflate, deflateSync, inflateSync } from "node:zlib";
import { replaceFile } from "../../store/json-file.ts";
import { syncAll } from "../../store/sync.ts";
import { alternatesFile, alternatesOf, LentObjects } from "./lent-objects.ts";
import { Batch, Packs } from "./packs.ts";

const largestAtOnce = 16 * 1024 * 1024;
/** After this many milliseconds, the system has written all changes to disk, even without a sync. */
const surelyWrittenMs = 2 * 60 * 1000;

type SavedContent = { object: string; size: number };

/** Where a content is stored: in the store itself ("own"), or in a git repository that it borrows from ("lent"). */
export type ObjectPlace = "own" | "lent";

export type ObjectStore = {
  /** Returns the id of a content. It is on disk, and may be referred to, after the next `settle`. */
  put(content: Buffer | string): string;
  /** Saves the content of an open file of any size, from its start. `borrow`: do not save what a repository holds. */
  putFile(handle: number, size: number, options?: { borrow?: boolean }): Promise<SavedContent>;
  /** Returns undefined for a content that does not exist. It is not read. `borrow`: contents of a repository count. */
  placeOf(id: string, options: { borrow: boolean }): ObjectPlace | undefined;
  /** Treats contents in this object folder of a git repository as saved from now on. */
  borrowFrom(objects: string): void;
  /** Names the repositories that objects are borrowed from; changes when one of those objects may be gone. */
  lenders(): string;
  /** Syncs all new contents to disk. */
  settle(): Promise<void>;
  /** Throws if the content is missing or does not match its id. */
  get(id: string): Buffer;
  /** Reads the content to its end, and throws as `get` does. */
  check(id: string): Promise<void>;
  /** Reads a stored content of any size in chunks. */
  pieces(id: string): AsyncGenerator<Buffer>;
  /** Detects contents that other processes have added or removed. Call this only while no sweep runs. */
  refresh(): void;
  /** Everything `work` puts is stored when it ends: in one pack if there are more than `most`, otherwise as single files. */
  together<Result>(most: number, work: () => Promise<Result>): Promise<Result>;
  readonly packs: Packs;
};

export function openObjects(folder: string): ObjectStore {
  const packs = new Packs(join(folder, "pack"));
  let lent = new LentObjects(alternatesOf(folder));
  let together: Batch | undefined;
  const objectPath = (id: string) => join(folder, id.slice(0, 2), id.slice(2));
  /** A file that is empty lost its content in a crash of the machine. */
  const objectSize = (id: string) => statSync(objectPath(id), { throwIfNoEntry: false })?.size ?? 0;
  /** Files and folders that may not have been synced to disk yet. */
  const unsettled = new Set<string>();
  /** Ids of loose contents that this process has read or written, so that they are known to be intact. */
  const sound = new Set<string>();
  const newFile = () => join(folder, `new-${process.pid}-${Math.random().toString(36).slice(2)}`);

  function storeObject(given: Buffer | string): string {
    const id = idOf(given);
    if (packs.has(id) || together?.has(id)) return id;
    if (isWhole(id)) return id;
    const content = typeof given === "string" ? Buffer.from(given) : given;
    if (together) together.add(id, content);
    else putSingle(id, content);
    return id;
  }

  function putSingle(id: string, content: Buffer): void {
    const temporary = newFile();
    try {
      const packed = deflateSync(Buffer.concat([headerOf(content.length), content]), { level: 1 });
      writeFileSync(temporary, packed, { mode: 0o600, flag: "wx" });
      moveIn(temporary, id);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  function moveIn(temporary: string, id: string): void {
    mkdirSync(join(folder, id.slice(0, 2)), { recursive: true, mode: 0o700 });
    renameSync(temporary, objectPath(id));
    sound.add(id);
    settleLater(id);
  }

  function settleLater(id: string): void {
    for (const path of [objectPath(id), join(folder, id.slice(0, 2)), folder]) unsettled.add(path);
  }

  /** Checks an existing loose content once by reading it. A very recent one may be from a process that died before syncing it. */
  function isWhole(id: string): boolean {
    if (sound.has(id)) return true;
    const stat = statSync(objectPath(id), { throwIfNoEntry: false });
    if (!stat || stat.size === 0) return false;
    try {
      if (stat.size <= largestAtOnce / 8) get(id);
    } catch {
      return false;
    }
    sound.add(id);
    if (Date.now() - stat.mtimeMs < surelyWrittenMs) settleLater(id);
    return true;
  }

  async function putFile(handle: number, size: number, { borrow = false } = {}): Promise<SavedContent> {
    if (size <= largestAtOnce) {
      const content = readFileSync(handle);
      const isLent = borrow && lent.has(idOf(content));
      return { object: isLent ? idOf(content) : storeObject(content), size: content.length };
    }
    const { pipeline: whole } = await import("node:stream/promises");
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
      await whole(source, createDeflate({ level: 1 }), file);
      const object = hash.digest("hex");
      moveIn(temporary, object);
      return { object, size };
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  const single = (id: string) => withoutHeader(inflateSync(readFileSync(objectPath(id))));

  function get(id: string): Buffer {
    const content = packs.get(id) ?? (objectSize(id) > 0 ? undefined : lent.get(id)) ?? single(id);
    if (idOf(content) !== id) throw damagedObjectError(id);
    return content;
  }

  async function* pieces(id: string): AsyncGenerator<Buffer> {
    if (objectSize(id) <= largestAtOnce / 8) {
      yield get(id);
      return;
    }
    const hash = createHash("sha1");
    const inflated = createInflate();
    // An error in either stream, or here, destroys both streams.
    pipeline(createReadStream(objectPath(id)), inflated, () => {});
    let begun = false;
    for await (const piece of inflated as AsyncIterable<Buffer>) {
      hash.update(piece);
      // The header is far shorter than one chunk.
      yield begun ? piece : withoutHeader(piece);
      begun = true;
    }
    if (hash.digest("hex") !== id) throw damagedObjectError(id);
  }

  return {
    put: storeObject,
    putFile,
    placeOf(id, { borrow }) {
      if (borrow && lent.has(id)) return "lent";
      return sound.has(id) || packs.has(id) || objectSize(id) > 0 ? "own" : undefined;
    },
    borrowFrom(objects) {
      const known = alternatesOf(folder);
      if (!known.includes(objects)) {
        mkdirSync(join(folder, "info"), { recursive: true, mode: 0o700 });
        replaceFile(alternatesFile(folder), [...known, objects, ""].join("\n"));
        lent = new LentObjects(alternatesOf(folder));
      }
    },
    lenders: () => lent.state,
    async settle() {
      const paths = [...unsettled];
      await syncAll(paths);
      for (const path of paths) unsettled.delete(path);
    },
    get,
    async check(id) {
      for await (const _piece of pieces(id));
    },
    pieces,
    packs,
    refresh() {
      packs.refresh();
      lent = new LentObjects(alternatesOf(folder));
      sound.clear();
    },
    async together(most, work) {
      together = new Batch(join(folder, "pack"), most);
      try {
        const result = await work();
        if (together.finish()) unsettled.add(folder);
        for (const [id, content] of together.waiting) putSingle(id, content);
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

/** Returns the id that an open file would have, without storing it. */
export function hashFile(handle: number, size: number): string {
  if (size <= largestAtOnce) return idOf(readFileSync(handle));
  const hash = createHash("sha1");
  for (const piece of wholePieces(handle, size)) hash.update(piece);
  return hash.digest("hex");
}

/** Returns the id that a content has, or would have. */
export function idOf(content: Buffer | string): string {
  return createHash("sha1")
    .update(headerOf(Buffer.byteLength(content)))
    .update(content)
    .digest("hex");
}

/** Yields the header, then the content. The header states the size, so the file must not change its size. */
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

function damagedObjectError(id: string): Error {
  return new Error(`the saved content ${id} is damaged`);
}
