// Reads the index of a git repository: the content id of every tracked file, with the stat data it had when git last read it. Parses
// the file without git, and never writes it. Format: git-scm.com/docs/index-format
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { homeDir } from "../../store/config-dir.ts";
import type { FileStat } from "./scan.ts";

/** A repository that uses SHA-1 ids as the snapshots do, and where its objects are. */
export type GitRepository = {
  /** The folder that the paths in the index are relative to. */
  top: string;
  /** The folder that the search started from, and those above it up to the top. */
  above: string[];
  /** The git folder of this checkout, and the one that all checkouts share. */
  folder: string;
  common: string;
  objects: string;
};

/** Finds the git repository that contains a folder. */
export function gitRepositoryOf(root: string): GitRepository | undefined {
  const above: string[] = [];
  for (let top = root; ; top = dirname(top)) {
    above.push(top);
    const found = join(top, ".git");
    if (existsSync(found)) return repositoryAt(above, found);
    if (dirname(top) === top) return undefined;
  }
}

/** `.git` is a folder, or in a worktree or submodule a file that names one. */
function repositoryAt(above: string[], found: string): GitRepository | undefined {
  const top = dirname(found);
  try {
    const named = statSync(found).isFile() ? /^gitdir: (.+)$/m.exec(readFileSync(found, "utf8"))?.[1] : found;
    if (named === undefined) return undefined;
    const folder = realpathSync(resolve(top, named));
    const shared = read(join(folder, "commondir"))?.trim() ?? ".";
    const common = isAbsolute(shared) ? shared : join(folder, shared);
    const isKnown = !/objectformat\s*=\s*(?!sha1)/i.test(read(join(common, "config")) ?? "");
    const objects = join(common, "objects");
    return isKnown && existsSync(objects) ? { top, above, folder, common, objects } : undefined;
  } catch {
    return undefined;
  }
}

/** Finds the content id of a file by its path and stat data. */
export class GitIndex {
  readonly #top: string;
  readonly #bytes: Buffer;
  readonly #entries: IndexEntries;
  readonly #writtenAt: number;
  /** Caches where the entries of a folder's files start, for the folders requested last. */
  readonly #folders = new Map<string, Map<string, number>>();
  /** True if an attributes file makes git convert contents, so that what git stores may differ from the file. */
  isDoubtful = false;

  constructor(top: string, bytes: Buffer, writtenAt: number) {
    this.#top = folderPrefix(top);
    this.#bytes = bytes;
    this.#entries = new IndexEntries(bytes);
    this.#writtenAt = writtenAt;
    for (const path of this.#entries.named(attributesName)) this.#lookAt(join(top, path));
  }

  /** Returns the content id of a file that is unchanged since git read it. A file as new as the index may have changed unnoticed. */
  find(path: string, { size, mtimeMs, ctimeMs, ino }: FileStat): string | undefined {
    if (!path.startsWith(this.#top)) return undefined;
    const split = path.lastIndexOf(sep) + 1;
    const name = path.slice(split);
    const at = this.#filesIn(path.slice(this.#top.length, split)).get(name);
    if (at === undefined) {
      if (name === attributesName) this.#lookAt(path);
      return undefined;
    }
    const bytes = this.#bytes;
    const isSame =
      mtimeMs < this.#writtenAt &&
      bytes.readUInt32BE(at + 36) === size % 2 ** 32 &&
      bytes.readUInt32BE(at + 20) === ino % 2 ** 32 &&
      timeAt(bytes, at + 8) === mtimeMs &&
      timeAt(bytes, at) === ctimeMs;
    return isSame ? bytes.toString("hex", at + 40, at + 60) : undefined;
  }

  /** Caches some folders, since parents are requested again on the way back up. */
  #filesIn(folder: string): Map<string, number> {
    const existing = this.#folders.get(folder);
    if (existing) return existing;
    const files = this.#entries.filesIn(folder);
    const [oldest] = this.#folders.keys();
    if (oldest !== undefined && this.#folders.size >= maxFolders) this.#folders.delete(oldest);
    this.#folders.set(folder, files);
    return files;
  }

  #lookAt(attributes: string): void {
    this.isDoubtful ||= converting.test(read(attributes) ?? "");
  }
}

const maxFolders = 32;

export const attributesName = ".gitattributes";

/** Reads git's index, which names the blobs of unchanged files. Returns undefined if there is no reliable one. */
export function gitIndexOf(repository: GitRepository): GitIndex | undefined {
  try {
    if (mayConvert(repository)) return undefined;
    const file = join(repository.folder, "index");
    const stat = statSync(file);
    if (!stat.isFile()) return undefined;
    const index = new GitIndex(repository.top, readFileSync(file), stat.mtimeMs);
    return index.isDoubtful ? undefined : index;
  } catch {
    return undefined;
  }
}

/** Computed as Node does, so that equal times are equal numbers. */
function timeAt(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 1000 + bytes.readUInt32BE(at + 4) / 1_000_000;
}

const headerSize = 12;
const statSize = 62;
const regular = 0o100000;

/**
 * The entries of a git index in path order. They stay in the index's bytes, since fifty thousand strings would take too
 * much memory. Throws if the index has a later version or is split over two files.
 */
class IndexEntries {
  readonly #index: Buffer;
  /** For each entry, the offset at which it starts in the index and the offset of its path in `#paths`. */
  readonly #starts: Uint32Array;
  readonly #pathStarts: Uint32Array;
  readonly #pathEnds: Uint32Array;
  /** The index itself; in version 4, which stores only how each path differs from the previous one, the expanded paths. */
  #paths: Buffer;

  constructor(index: Buffer) {
    const version = index.readUInt32BE(4);
    if (index.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) throw new Error("an unknown index");
    const count = index.readUInt32BE(8);
    this.#index = index;
    this.#starts = new Uint32Array(count);
    this.#pathStarts = new Uint32Array(count);
    this.#pathEnds = new Uint32Array(count);
    this.#paths = version === 4 ? Buffer.alloc(index.length) : index;
    let at = headerSize;
    for (let number = 0; number < count; number++) {
      const start = at;
      this.#starts[number] = start;
      at += statSize + (this.#isExtended(start) ? 2 : 0);
      if (version === 4) {
        at = this.#addPath(number, at);
        continue;
      }
      const length = index.readUInt16BE(start + 60) & 0xfff;
      const end = length < 0xfff ? at + length : index.indexOf(0, at);
      this.#pathStarts[number] = at;
      this.#pathEnds[number] = end;
      at = start + Math.ceil((end + 1 - start) / 8) * 8;
    }
    if (hasExtension(index, at, "link")) throw new Error("a part of another index");
  }

  /** Returns where the entries of a folder's files start, by name. The folder ends with a slash; the top is empty. */
  filesIn(folder: string): Map<string, number> {
    const files = new Map<string, number>();
    const prefix = Buffer.from(folder);
    for (let number = this.#firstFrom(prefix); number < this.#starts.length; ) {
      const { start, end } = this.#pathAt(number);
      if (this.#paths.compare(prefix, 0, prefix.length, start, Math.min(end, start + prefix.length)) !== 0) break;
      const slash = this.#paths.indexOf(slashCode, start + prefix.length);
      if (slash !== -1 && slash < end) {
        // Skip a subfolder: this path sorts after everything in it.
        const below = Buffer.from(this.#paths.subarray(start, slash + 1));
        below[below.length - 1] = slashCode + 1;
        number = this.#firstFrom(below);
        continue;
      }
      const at = this.#starts[number]!;
      if (this.#isFile(at)) files.set(this.#paths.toString("utf8", start + prefix.length, end), at);
      number++;
    }
    return files;
  }

  /** Returns the paths of all files with this base name. */
  named(name: string): string[] {
    const found: string[] = [];
    for (let at = this.#paths.indexOf(name); at !== -1; at = this.#paths.indexOf(name, at + 1)) {
      const number = this.#pathEnds.indexOf(at + name.length);
      if (number !== -1) found.push(this.#paths.toString("utf8", this.#pathStarts[number], this.#pathEnds[number]));
    }
    return found;
  }

  #pathAt(number: number): { start: number; end: number } {
    return { start: this.#pathStarts[number] ?? 0, end: this.#pathEnds[number] ?? 0 };
  }

  /** Reads a path of version 4: how many bytes of the previous path to drop, then a suffix. Returns the next offset. */
  #addPath(number: number, at: number): number {
    const before = this.#pathAt(number - 1);
    const dropped = readOffset(this.#index, at);
    const end = this.#index.indexOf(0, dropped.end);
    const keptLength = before.end - before.start - dropped.value;
    const length = keptLength + end - dropped.end;
    if (before.end + length > this.#paths.length) this.#paths = Buffer.concat([this.#paths], (before.end + length) * 2);
    this.#paths.copyWithin(before.end, before.start, before.start + keptLength);
    this.#index.copy(this.#paths, before.end + keptLength, dropped.end, end);
    this.#pathStarts[number] = before.end;
    this.#pathEnds[number] = before.end + length;
    return end + 1;
  }

  #firstFrom(path: Buffer): number {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { start, end } = this.#pathAt(middle);
      if (this.#paths.compare(path, 0, path.length, start, end) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isExtended(start: number): boolean {
    return (this.#index.readUInt16BE(start + 60) & 0x4000) !== 0;
  }

  /** Reports whether the entry is a regular file without a merge conflict whose content was added. */
  #isFile(start: number): boolean {
    const isPlanned = this.#isExtended(start) && (this.#index.readUInt16BE(start + statSize) & 0x2000) !== 0;
    const isMerged = (this.#index.readUInt16BE(start + 60) & 0x3000) === 0;
    return isMerged && !isPlanned && (this.#index.readUInt32BE(start + 24) & 0o170000) === regular;
  }
}

const slashCode = "/".charCodeAt(0);

/** Reads git's offset encoding: groups of seven bits, highest first, where each group but the last adds one. */
export function readOffset(bytes: Buffer, start: number): { value: number; end: number } {
  let at = start;
  let value = bytes[at]! & 0x7f;
  while (bytes[at++]! >= 0x80) value = (value + 1) * 128 + (bytes[at]! & 0x7f);
  return { value, end: at };
}

function hasExtension(bytes: Buffer, start: number, name: string): boolean {
  for (let at = start; at + 8 <= bytes.length - 20; at += 8 + bytes.readUInt32BE(at + 4))
    if (bytes.toString("latin1", at, at + 4) === name) return true;
  return false;
}

/**
 * Reports whether git may store other contents than the file has: with other
 * line ends, or changed by a filter. Any setting that could do so counts.
 */
function mayConvert({ above, folder, common }: GitRepository): boolean {
  if (process.platform === "win32" || process.env["GIT_CONFIG_COUNT"] !== undefined) return true;
  const home = homeDir(process.env);
  const user = join(process.env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "git");
  const configs = [
    join(common, "config"),
    join(folder, "config.worktree"),
    process.env["GIT_CONFIG_GLOBAL"] ?? join(home, ".gitconfig"),
    join(user, "config"),
    ...systemFolders.map((system) => join(system, "gitconfig")),
  ];
  const conversion = /^\s*(autocrlf\s*(=\s*(?!false\b)|$)|attributesfile|\[include)/im;
  if (configs.some((file) => conversion.test(read(file) ?? ""))) return true;
  const lists = [
    ...[join(common, "info"), user, ...systemFolders].map((each) => join(each, "attributes")),
    ...above.map((each) => join(each, attributesName)),
    "/etc/gitattributes",
  ];
  return lists.some((file) => converting.test(read(file) ?? ""));
}

const systemFolders = ["/etc", "/usr/local/etc", "/opt/homebrew/etc"];
/** Matches an attribute after a pattern that makes git convert the content. */
const converting = /^[^#\n]*\s(text|crlf|eol|ident|filter|working-tree-encoding)(=|\s|$)/m;

/** Reads a file's text. Throws if it is not a regular file, since reading a pipe might never end. */
function read(file: string): string | undefined {
  try {
    if (!statSync(file).isFile()) throw new Error(`${file} is not a regular file`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

function folderPrefix(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}
