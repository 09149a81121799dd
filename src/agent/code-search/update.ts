// Updates the index of a folder: reads changed files again, and removes those that are gone or hidden.
import { createHash } from "node:crypto";
import { closeSync, lstatSync, readSync } from "node:fs";
import { join } from "node:path";
import type { CodeIndex, FileStamp, FileTerms, IndexedFile } from "../../store/code-index/code-index.ts";
import { openRegularFile } from "../folder-handle.ts";
import { createScanner, type Scanner } from "./scanner.ts";
import { pathText } from "./words.ts";

/** What an index update did. `unread` lists files that the current user may not read. */
export type Update = { read: number; removed: number; files: number; unread: string[] };

/** Files per transaction, so that an interrupted build can continue. */
const batchSize = 400;
/** The maximum number of bytes that are indexed of one file. */
export const maxBytes = 256 * 1024;

/** Updates the index for new, changed and deleted files. `paths` are all files that may be seen, relative to the folder. */
export async function updateIndex(
  index: CodeIndex,
  folder: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Update> {
  const indexedFiles = new Map(index.files().map((file) => [file.path, file]));
  const changed: { path: string; stamp: FileStamp; old: IndexedFile | undefined }[] = [];
  for (const path of paths) {
    const old = indexedFiles.get(path);
    if (otherFiles.test(path)) continue;
    const stamp = statFile(join(folder, path));
    if (!stamp) continue;
    indexedFiles.delete(path);
    if (!old || !isSame(old, stamp)) changed.push({ path, stamp, old });
  }
  const gone = [...indexedFiles.values()];
  index.transact(() => {
    for (const { id } of gone) index.remove(id);
  });

  const scanner = createScanner();
  const unread: string[] = [];
  let read = 0;
  for (let at = 0; at < changed.length; at += batchSize) {
    signal.throwIfAborted();
    index.transact(() => {
      for (const { path, stamp, old } of changed.slice(at, at + batchSize)) {
        const bytes = readFileHead(join(folder, path));
        if (bytes === "denied") unread.push(path);
        if (!bytes || bytes === "denied") continue;
        const hash = createHash("sha1").update(bytes).digest("base64");
        if (old?.hash === hash) {
          index.touch(old.id, stamp);
          continue;
        }
        index.put(path, stamp, hash, isReadable(bytes) ? termsOf(scanner, bytes, path) : nothing);
        read += 1;
      }
    });
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { read, removed: gone.length, files: paths.length, unread };
}

const nothing: FileTerms = { path: "", symbols: "", comments: "", body: "" };

/** Files that are not searched by words: images, archives, lock files, source maps, minified code. */
const otherFiles =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|tiff?|svg|pdf|zip|gz|tgz|bz2|xz|zst|7z|rar|jar|war|class|pyc|pyo|o|a|so|dll|dylib|exe|bin|wasm|node|woff2?|ttf|otf|eot|mp[34]|m4a|ogg|wav|webm|mov|avi|db|sqlite3?|parquet|npy|pkl|map|lock|snap|min\.js|min\.css)$|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|npm-shrinkwrap\.json|go\.sum)$/i;

function statFile(path: string): FileStamp | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs, ctimeMs: stats.ctimeMs } : undefined;
}

function isSame(old: FileStamp, { size, mtimeMs, ctimeMs }: FileStamp): boolean {
  return old.size === size && old.mtimeMs === mtimeMs && old.ctimeMs === ctimeMs;
}

let buffer: Buffer | undefined;

/** Reads only regular files, not links: the index of a file decides whether it is found. */
function readFileHead(path: string): Buffer | "denied" | undefined {
  let descriptor: number | undefined;
  try {
    ({ descriptor } = openRegularFile(path));
    buffer ??= Buffer.alloc(maxBytes);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, maxBytes, 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // the file was removed, or is behind a symbolic link
    return code === "EACCES" || code === "EPERM" ? "denied" : undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Reports whether the file is text: no NUL bytes, and lines of ordinary length. */
function isReadable(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 32_768);
  if (head.includes(0)) return false;
  let lines = 1;
  for (let at = head.indexOf(10); at !== -1; at = head.indexOf(10, at + 1)) lines += 1;
  return head.length / lines < 500;
}

function termsOf(scanner: Scanner, bytes: Buffer, path: string): FileTerms {
  const fileTerms: FileTerms = { ...nothing, path: pathText(path) };
  for (const { text, symbols, comments, body } of scanner.scan(bytes, path)) {
    if (symbols > 0) fileTerms.symbols += repeatTerm(text, symbols);
    if (comments > 0) fileTerms.comments += repeatTerm(text, comments);
    if (body > 0) fileTerms.body += repeatTerm(text, body);
  }
  return fileTerms;
}

/** Dampens the count: a hundred occurrences say hardly more than ten. */
function repeatTerm(term: string, count: number): string {
  if (count === 1) return `${term} `;
  if (count < 4) return `${term} ${term} `;
  return count < 10 ? `${term} ${term} ${term} ` : `${term} ${term} ${term} ${term} `;
}
