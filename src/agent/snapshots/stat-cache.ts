// Remembers the content of every file with its stat data, so that unchanged files are not read again.
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from "node:fs";
import { tryOr } from "../../text/try-or.ts";
import { inFolder } from "../folder-handle.ts";
import { attributesName, type GitIndex } from "./git-index.ts";
import type { ObjectPlace } from "./objects.ts";
import { type FileStat, fileStamp, type TreeNode } from "./scan.ts";

/**
 * A file that changed this shortly before it was read may change again without its
 * times showing it: file systems have coarse clocks, the coarsest of two seconds.
 */
export const tickMs = 2500;
const heading = "courser stat cache 1";

/** `text` is the object's id and the file's stat data; `round` is when it was last seen. */
type CachedFile = { text: string; round: number };

export class StatCache {
  readonly #file: string;
  readonly #isThere: (object: string) => ObjectPlace | undefined;
  #known = new Map<string, CachedFile>();
  /**
   * The objects of whole folders, by a hash of the names and stat data of what is in them. `text` is the object's id, then those of
   * files that are not borrowed.
   */
  readonly #folders = new Map<string, CachedFile>();
  /** Names the repositories that objects are borrowed from; when it changes, borrowed objects may be gone. */
  #lenders = "";
  /** The objects of files that were found in this round and are not borrowed. */
  readonly #own = new Set<string>();
  #loaded: string | undefined;
  #round = 0;
  #indexes: readonly GitIndex[] = [];
  #changed = false;

  /** `isThere` returns where an object is stored; if it is nowhere, its file is read and saved again. */
  constructor(file: string, isThere: (object: string) => ObjectPlace | undefined) {
    this.#file = file;
    this.#isThere = isThere;
  }

  /**
   * Begins a round, reloading the file if another process has written it. `indexes` are the git indexes to consult, `lenders` is what
   * was seen of the repositories whose objects are borrowed.
   */
  begin(indexes: readonly GitIndex[] = [], lenders = ""): void {
    this.#round++;
    this.#indexes = indexes;
    this.#lenders = lenders;
    this.#own.clear();
    this.#changed = false;
    const identity = identityOf(statSync(this.#file, { throwIfNoEntry: false }));
    if (identity === this.#loaded) return;
    this.#folders.clear();
    this.#known = this.#read();
    this.#loaded = identity;
  }

  /** Returns the object of a file that is unchanged since it was read. */
  find(path: string, stat: FileStat): string | undefined {
    for (const index of this.#indexes) {
      const object = index.find(path, stat);
      if (object !== undefined && this.#find(object)) return object;
    }
    const known = this.#known.get(path);
    if (known === undefined) return undefined;
    const stamp = fileStamp(stat);
    if (known.text.length !== stamp.length + 41 || !known.text.endsWith(stamp)) return undefined;
    const object = known.text.slice(0, 40);
    if (known.round !== this.#round && !this.#find(object)) return undefined;
    known.round = this.#round;
    return object;
  }

  #find(object: string): boolean {
    const place = this.#isThere(object);
    if (place === "own") this.#own.add(object);
    return place !== undefined;
  }

  /** Returns the saved object of a folder if its files and folders are the same as when it was saved. */
  findFolder(path: string, children: ReadonlyMap<string, TreeNode>): string | undefined {
    const known = this.#folders.get(hashOf(children, this.#lenders) ?? "");
    if (!known?.text.split(" ").every((object) => this.#find(object))) return undefined;
    known.round = this.#round;
    if (this.#known.size > 0)
      for (const name of children.keys()) {
        const file = this.#known.get(inFolder(path, name));
        if (file) file.round = this.#round;
      }
    return known.text.slice(0, 40);
  }

  /** Records the object of a folder whose contents were all found unchanged in this round. */
  noteFolder(children: ReadonlyMap<string, TreeNode>, object: string): void {
    const hash = hashOf(children, this.#lenders);
    if (hash === undefined) return;
    const own = [...children.values()].flatMap((node) => (node.kind === "file" && node.object) || []);
    this.#folders.set(hash, {
      text: [object, ...own.filter((each) => this.#own.has(each))].join(" "),
      round: this.#round,
    });
    this.#changed = true;
  }

  /** Drops unreliable git indexes. Returns true if there were any: then everything found in this round is in doubt. */
  forgetDoubtful(): boolean {
    const reliable = this.#indexes.filter((index) => !index.isDoubtful);
    const isDoubtful = reliable.length < this.#indexes.length;
    this.#indexes = reliable;
    if (isDoubtful) this.#folders.clear();
    return isDoubtful;
  }

  /** Caches the object of a file; `readAt` is when reading it began. */
  note(path: string, stat: FileStat, { object, readAt }: { object: string; readAt: number }): void {
    if (Math.max(stat.mtimeMs, stat.ctimeMs) >= readAt - tickMs) return;
    this.#known.set(path, { text: `${object} ${fileStamp(stat)}`, round: this.#round });
    this.#changed = true;
  }

  /** Ends a round over the whole tree: drops files that were neither found nor noted in it. */
  save(): void {
    this.#keepOnly(({ round }) => round === this.#round);
  }

  /** Removes these objects from the cache. Call this after they were deleted. */
  drop(objects: ReadonlySet<string>): void {
    this.#keepOnly(({ text }) => !objects.has(text.slice(0, 40)));
  }

  #keepOnly(isKept: (file: CachedFile) => boolean): void {
    for (const cached of [this.#known, this.#folders])
      for (const [key, file] of cached) if (!isKept(file)) this.#changed = cached.delete(key);
    if (this.#changed) this.#write();
  }

  #write(): void {
    let text = heading;
    for (const [path, known] of this.#known) text += `\0${known.text} ${path}`;
    for (const [hash, known] of this.#folders) text += `\0folder ${hash} ${known.text}`;
    const temporary = `${this.#file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    try {
      writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
      renameSync(temporary, this.#file);
    } catch {
      // The cache only saves time: without it everything is read again.
      rmSync(temporary, { force: true });
      this.#known = new Map();
      this.#folders.clear();
    }
    this.#loaded = identityOf(statSync(this.#file, { throwIfNoEntry: false }));
  }

  #read(): Map<string, CachedFile> {
    const known = new Map<string, CachedFile>();
    const text = tryOr(() => readFileSync(this.#file, "utf8"), "");
    const [first, ...lines] = text.split("\0");
    if (first !== heading) return known;
    // Object id, four numbers, and the path, which may contain blanks.
    const form = /^([0-9a-f]{40} \d+ [\d.]+ [\d.]+ \d+) (.*)$/s;
    for (const line of lines) {
      const match = form.exec(line);
      if (match) known.set(match[2]!, { text: match[1]!, round: 0 });
      const folder = /^folder ([0-9a-f]{40}) ([0-9a-f ]{40,})$/.exec(line);
      if (folder) this.#folders.set(folder[1]!, { text: folder[2]!, round: 0 });
    }
    return known;
  }
}

/**
 * Hashes the names and stat data in a folder: while the hash is the same, so are the contents, as with a single file. Returns undefined
 * if a subfolder has no known content, or if there is a file of git attributes, which must be read.
 */
function hashOf(children: ReadonlyMap<string, TreeNode>, lenders: string): string | undefined {
  if (children.size === 0 || children.has(attributesName)) return undefined;
  const numbers = new Float64Array(children.size * 5);
  let text = lenders;
  let at = 0;
  for (const [name, node] of children) {
    if (node.kind === "file") {
      text += `\0${name}\0`;
      numbers[at + 1] = node.size;
      numbers[at + 2] = node.mtimeMs;
      numbers[at + 3] = node.ctimeMs;
      numbers[at + 4] = node.ino;
    } else if (node.kind === "folder" && node.object !== undefined) text += `\0${name}\0${node.object}`;
    else return undefined;
    numbers[at] = node.mode;
    at += 5;
  }
  return createHash("sha1").update(text).update(new Uint8Array(numbers.buffer)).digest("hex");
}

function identityOf(stat: Stats | undefined): string {
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : "none";
}
