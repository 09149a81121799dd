// Scans a tree without reading file contents. Limits decide what is left out; each omission is recorded by path.

import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { compileIgnoreList } from "../../text/ignore-patterns.ts";
import { tryOr } from "../../text/try-or.ts";
import { words } from "../../text/words.ts";
import { type FolderHandle, inFolder, openFolder, statOf } from "../folder-handle.ts";
import type { UnsavedReason } from "./reasons.ts";

/** Stat data that stays equal as long as the file is not changed. */
export type FileStat = { size: number; mtimeMs: number; ctimeMs: number; ino: number };
/** A file in a scanned tree; `object` is the id of its content, if known without reading it. */
export type FileNode = FileStat & { kind: "file"; mode: number; object?: string | undefined };
export type LinkNode = { kind: "link"; target: Buffer };
/** `object` is the id of the folder's manifest, if it is already stored; `children` is then empty. */
export type FolderNode = { kind: "folder"; mode: number; children: Map<string, TreeNode>; object?: string | undefined };
export type UnsavedNode = { kind: "unsaved"; why: UnsavedReason; stamp: string };
export type TreeNode = FileNode | LinkNode | FolderNode | UnsavedNode;

export type SnapshotLimits = {
  /** The size of the largest file that is saved, in bytes. */
  fileBytes: number;
  /** The limits for files that git ignores: a folder with more files or bytes than this is not saved at all. */
  ignoredFiles: number;
  ignoredBytes: number;
  /** The limits for the whole tree: if it has more files or bytes, no snapshot is taken. */
  files: number;
  bytes: number;
  /** If more than this many files are read, their contents are stored in one pack. */
  loose: number;
};

export const usualLimits: SnapshotLimits = {
  fileBytes: 10 * 1024 * 1024,
  ignoredFiles: 5000,
  ignoredBytes: 100 * 1024 * 1024,
  files: 200_000,
  bytes: 1024 * 1024 * 1024,
  loose: 200,
};

export type ScanOptions = {
  /** The size limits; if absent, files of any size are included. */
  limits?: SnapshotLimits;
  /** Folders that are not scanned: the agent's own configuration, and folders that were not saved before. */
  closed: ReadonlySet<string>;
  pauses: Pauses;
  /** Saves memory with large trees: what is known without reading is written folder by folder. */
  known?: {
    file(path: string, stat: FileStat): string | undefined;
    /** Returns the object of a folder whose entries all have the stat data with which it was saved. */
    unchanged(path: string, children: ReadonlyMap<string, TreeNode>): string | undefined;
    /** Returns undefined if something in the folder must be read first. */
    folder(children: ReadonlyMap<string, TreeNode>): string | undefined;
  };
};

export class TreeTooLarge extends Error {}

/** Yields to other work at intervals, and throws when the signal is aborted. */
export class Pauses {
  readonly #signal: AbortSignal | undefined;
  readonly #slice: number;
  /** Process uptime in seconds. `performance` would load a module that is not otherwise needed. */
  #last = process.uptime();

  constructor(signal?: AbortSignal, slice = 0.015) {
    this.#signal = signal;
    this.#slice = slice;
  }

  get due(): boolean {
    return process.uptime() - this.#last > this.#slice;
  }

  async take(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#signal?.throwIfAborted();
    this.#last = process.uptime();
  }
}

type FolderCount = { path: string; files: number; bytes: number; judged: boolean };

type TreeScan = ScanOptions & { counts: FolderCount[]; dropped?: FolderCount };

/** Scans a folder and everything in it. `root` must not contain symbolic links. */
export async function scanTree(root: string, options: ScanOptions): Promise<FolderNode> {
  const held = openFolder(root);
  try {
    const scan: TreeScan = { ...options, counts: [] };
    return (await scanFolder(scan, held, root, lstatSync(held.at(".")))) as FolderNode;
  } finally {
    held.close();
  }
}

/** Returns one entry, or undefined if there is none. Folders come without their contents. */
export function nodeAt(folder: FolderHandle, name: string): TreeNode | undefined {
  try {
    const stat = lstatSync(folder.at(name), { throwIfNoEntry: false });
    return stat && nodeOf(folder.at(name), stat);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    return { kind: "unsaved", why: "unreadable", stamp: "" };
  }
}

/** Formats stat data as text. Fractions of milliseconds are kept as far as a number can hold them. */
export function fileStamp({ size, mtimeMs, ctimeMs, ino }: FileStat): string {
  return `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
}

/** Scans a folder and its subfolders. Returns undefined if it is, or lies in, an ignored folder that exceeds the limits. */
async function scanFolder(
  scan: TreeScan,
  held: FolderHandle,
  path: string,
  stat: Stats,
): Promise<FolderNode | undefined> {
  const { counts, pauses } = scan;
  const children = new Map<string, TreeNode>();
  const names = namesIn(held, children);
  counts.push({ path, files: 0, bytes: 0, judged: counts.length === 0 });
  let stats: (Stats | undefined)[] = [];
  for (const [index, name] of names.entries()) {
    if (index % 16 === 0 && pauses.due) await pauses.take();
    if (index % statsAtOnce === 0) stats = statsOf(held, path, names.slice(index, index + statsAtOnce));
    const found = lookAt(scan, held, { path: inFolder(path, name), name, stat: stats[index % statsAtOnce] });
    if (!found) continue;
    const over = scan.limits && countIn(counts, scan.limits, found.node.kind === "file" ? found.node.size : 0);
    if (over) dropLargeFolder(scan, over);
    const node = found.folder && !scan.dropped ? await scanBelow(scan, held, name, found.folder) : found.node;
    if (scan.dropped) break;
    if (node) children.set(name, node);
  }
  counts.pop();
  if (scan.dropped) return undefined;
  const object = await knownObject(scan, path, children);
  return { kind: "folder", mode: stat.mode & 0o7777, children: object === undefined ? children : new Map(), object };
}

async function knownObject(
  { known, pauses }: TreeScan,
  path: string,
  children: ReadonlyMap<string, TreeNode>,
): Promise<string | undefined> {
  const unchanged = known?.unchanged(path, children);
  if (!known || unchanged !== undefined) return unchanged;
  for (const [name, node] of children) {
    if (pauses.due) await pauses.take();
    if (node.kind === "file") node.object = known.file(inFolder(path, name), node);
  }
  return known.folder(children);
}

const statsAtOnce = 256;

/** Uses paths, which takes half the time of going through the handle, unless the path leads elsewhere by now. */
function statsOf(held: FolderHandle, path: string, names: readonly string[]): (Stats | undefined)[] {
  const stats = names.map((name) => statOf(inFolder(path, name)));
  return held.isAt(path) ? stats : names.map((name) => statOf(held.at(name)));
}

type ScannedEntry = { node: TreeNode; folder?: { path: string; stat: Stats } };

/** Examines one path; `folder` is set in the result if the path is a folder to scan next. */
function lookAt(
  scan: TreeScan,
  held: FolderHandle,
  { path, name, stat }: { path: string; name: string; stat: Stats | undefined },
): ScannedEntry | undefined {
  if (name.length === 4 && name.toLowerCase() === ".git") return { node: unsavedNode("repository") };
  if (!stat) return isReadable(held) ? undefined : { node: unsavedNode("unreadable") };
  if (scan.closed.has(path)) return { node: unsavedNode("own", fileStamp(stat)) };
  const node = nodeOf(held.at(name), stat);
  if (!node) return undefined;
  if (node.kind === "folder") return { node, folder: { path, stat } };
  if (node.kind !== "file") return { node };
  if (scan.limits !== undefined && node.size > scan.limits.fileBytes)
    return { node: unsavedNode("large", fileStamp(stat)) };
  return { node };
}

/** Returns whether the entries of a folder can be read: it may be listable although they cannot. */
function isReadable(held: FolderHandle): boolean {
  try {
    accessSync(held.at("."), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function scanBelow(
  scan: TreeScan,
  held: FolderHandle,
  name: string,
  { path, stat }: { path: string; stat: Stats },
): Promise<TreeNode | undefined> {
  let below: FolderHandle | undefined;
  try {
    below = held.child(name);
    const node = await scanFolder(scan, below, path, stat);
    if (node || scan.dropped?.path !== path) return node;
    delete scan.dropped;
    return unsavedNode("many");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The folder was removed, or is no longer a folder.
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    if (code !== "EACCES" && code !== "EPERM" && code !== "EMFILE") throw error;
    return unsavedNode("unreadable", fileStamp(stat));
  } finally {
    below?.close();
  }
}

/** Counts an entry for every folder above it. Returns a folder that exceeded the limits and was not checked yet. */
function countIn(counts: readonly FolderCount[], limits: SnapshotLimits, bytes: number): FolderCount | undefined {
  let over: FolderCount | undefined;
  for (const each of counts) {
    each.files++;
    each.bytes += bytes;
    if (!each.judged && (each.files > limits.ignoredFiles || each.bytes > limits.ignoredBytes)) over ??= each;
  }
  const { files, bytes: all } = counts[0]!;
  if (files > limits.files) throw new TreeTooLarge(`it contains more than ${limits.files} files`);
  if (all > limits.bytes) throw new TreeTooLarge(`it contains more than ${Math.round(limits.bytes / 1_048_576)} MiB`);
  return over;
}

/** Drops a large ignored folder as a whole, and stops counting its contents. */
function dropLargeFolder(scan: TreeScan, large: FolderCount): void {
  const { counts } = scan;
  large.judged = true;
  if (!isIgnoredFolder(large.path, counts[0]!.path)) return;
  scan.dropped = large;
  for (const outer of counts.slice(0, counts.indexOf(large))) {
    outer.files -= large.files;
    outer.bytes -= large.bytes;
  }
}

function nodeOf(path: string, stat: Stats): TreeNode | undefined {
  const mode = stat.mode & 0o7777;
  const { size, mtimeMs, ctimeMs, ino } = stat;
  if (stat.isFile()) return { kind: "file", mode, size, mtimeMs, ctimeMs, ino };
  if (stat.isDirectory()) return { kind: "folder", mode, children: new Map() };
  if (!stat.isSymbolicLink()) return unsavedNode("special", fileStamp(stat));
  return tryOr(() => ({ kind: "link", target: readlinkSync(path, { encoding: "buffer" }) }), undefined);
}

/** Returns the names sorted. A name that is not UTF-8 cannot be stored, and is recorded as unsaved. */
function namesIn(held: FolderHandle, children: Map<string, TreeNode>): string[] {
  const names = readdirSync(held.at("."));
  if (!names.some((name) => name.includes("\ufffd"))) return names.sort();
  return readdirSync(held.at("."), { encoding: "buffer" })
    .flatMap((bytes) => {
      const name = bytes.toString("utf8");
      if (Buffer.from(name).equals(bytes)) return [name];
      children.set(name, unsavedNode("name"));
      return [];
    })
    .sort();
}

function unsavedNode(why: UnsavedReason, stamp = ""): UnsavedNode {
  return { kind: "unsaved", why, stamp };
}

/** Generated folders that a command can restore, whether or not an ignore file lists them. */
const usual = words(`
  node_modules bower_components .venv venv .tox .nox __pycache__ .gradle .next .nuxt .turbo .parcel-cache .pnpm-store
  .cache`);
const longestList = 1024 * 1024;

/** Checks the ignore files of every folder above, from the top of the repository down; the nearest match decides. */
function isIgnoredFolder(path: string, root: string): boolean {
  const top = findRepository(root) ?? root;
  const names = relative(top, path).split(sep);
  if (usual.has(names.at(-1)!)) return true;
  let ignored = false;
  let folder = top;
  for (const list of [join(top, ".git/info/exclude"), join(top, ".gitignore")]) {
    ignored = judged(list, names, ignored);
  }
  for (const [index, name] of names.slice(0, -1).entries()) {
    folder = join(folder, name);
    ignored = judged(join(folder, ".gitignore"), names.slice(index + 1), ignored);
  }
  return ignored;
}

function judged(list: string, names: readonly string[], before: boolean): boolean {
  const ignored = compileIgnoreList(read(list) ?? "")(names.join("/"), () => true);
  return ignored === "unknown" ? before : (ignored ?? before);
}

/** Returns the nearest folder, at or above the given one, that contains `.git`. */
function findRepository(root: string): string | undefined {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

function read(file: string): string | undefined {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat?.isFile() && stat.size <= longestList ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
