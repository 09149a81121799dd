// Remembers the content of every file with its stat data, so that unchanged files are not read again.
import { readFileSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from "node:fs";
import type { GitIndex } from "./git-index.ts";
import { type FileStat, stampOf } from "./scan.ts";

/**
 * A file that changed this shortly before it was read may change again without its
 * times showing it: file systems have coarse clocks, the coarsest of two seconds.
 */
const tickMs = 2500;
const heading = "courser stat cache 1";

/** `text` is the object's id and the file's stat data; `round` is when it was last seen. */
type CachedFile = { text: string; round: number };

export class StatCache {
  readonly #file: string;
  readonly #isThere: (object: string) => boolean;
  #known = new Map<string, CachedFile>();
  #loaded: string | undefined;
  #round = 0;
  #indexes: readonly GitIndex[] = [];
  #changed = false;

  /** `isThere` reports whether an object still exists; the file of a lost one is read and saved again. */
  constructor(file: string, isThere: (object: string) => boolean) {
    this.#file = file;
    this.#isThere = isThere;
  }

  /** Begins a round, reloading the file if another process has written it. `indexes` are the git indexes to consult. */
  begin(indexes: readonly GitIndex[] = []): void {
    this.#round++;
    this.#indexes = indexes;
    this.#changed = false;
    const identity = identityOf(statSync(this.#file, { throwIfNoEntry: false }));
    if (identity === this.#loaded) return;
    this.#known = this.#read();
    this.#loaded = identity;
  }

  /** Returns the object of a file that is unchanged since it was read. */
  find(path: string, stat: FileStat): string | undefined {
    for (const index of this.#indexes) {
      const object = index.find(path, stat);
      if (object !== undefined && this.#isThere(object)) return object;
    }
    const known = this.#known.get(path);
    if (known === undefined) return undefined;
    const stamp = stampOf(stat);
    if (known.text.length !== stamp.length + 41 || !known.text.endsWith(stamp)) return undefined;
    const object = known.text.slice(0, 40);
    if (known.round !== this.#round && !this.#isThere(object)) return undefined;
    known.round = this.#round;
    return object;
  }

  /** Drops unreliable git indexes. Returns true if there were any: then everything found in this round is in doubt. */
  forgetDoubtful(): boolean {
    const reliable = this.#indexes.filter((index) => !index.isDoubtful);
    const isDoubtful = reliable.length < this.#indexes.length;
    this.#indexes = reliable;
    return isDoubtful;
  }

  /** `readAt` is when reading began. */
  note(path: string, stat: FileStat, { object, readAt }: { object: string; readAt: number }): void {
    if (Math.max(stat.mtimeMs, stat.ctimeMs) >= readAt - tickMs) return;
    this.#known.set(path, { text: `${object} ${stampOf(stat)}`, round: this.#round });
    this.#changed = true;
  }

  /** Ends a round over the whole tree: drops files that were neither found nor noted in it. */
  save(): void {
    this.#keep(({ round }) => round === this.#round);
  }

  /** Call this after these objects were removed. */
  drop(objects: ReadonlySet<string>): void {
    this.#keep(({ text }) => !objects.has(text.slice(0, 40)));
  }

  #keep(isKept: (file: CachedFile) => boolean): void {
    for (const [path, file] of this.#known) if (!isKept(file)) this.#changed = this.#known.delete(path);
    if (this.#changed) this.#write();
  }

  #write(): void {
    let text = heading;
    for (const [path, known] of this.#known) text += `\0${known.text} ${path}`;
    const temporary = `${this.#file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    try {
      writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
      renameSync(temporary, this.#file);
    } catch {
      // The cache only saves time: without it everything is read again.
      rmSync(temporary, { force: true });
      this.#known = new Map();
    }
    this.#loaded = identityOf(statSync(this.#file, { throwIfNoEntry: false }));
  }

  #read(): Map<string, CachedFile> {
    const known = new Map<string, CachedFile>();
    let text: string;
    try {
      text = readFileSync(this.#file, "utf8");
    } catch {
      return known;
    }
    const [first, ...lines] = text.split("\0");
    if (first !== heading) return known;
    // Object id, four numbers, and the path, which may contain blanks.
    const form = /^([0-9a-f]{40} \d+ [\d.]+ [\d.]+ \d+) (.*)$/s;
    for (const line of lines) {
      const match = form.exec(line);
      if (match) known.set(match[2]!, { text: match[1]!, round: 0 });
    }
    return known;
  }
}

function identityOf(stat: Stats | undefined): string {
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : "none";
}
