// Reads and writes workspace files: real paths, no links followed, whole writes. All of the agent's file writes go through here.
import { constants, promises as fs, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import * as paths from "../policy/paths.ts";
import { unlessStopped } from "../protocol/unless-stopped.ts";
import { homeDir } from "../store/config-dir.ts";
import { noFollow, onlyFolder, readOnly } from "./folder-handle.ts";
import type { Sandbox } from "./sandbox/index.ts";
import type { OpenBuffers } from "./seams.ts";
import { failure, ToolFailure } from "./tools/tool.ts";

/**
 * `approved` maps each path to where it led when it was permitted; a path that leads elsewhere on use is refused. `buffers` holds unsaved
 * editor text, which takes precedence over the disk. `sandbox` is notified of new files. An aborted `signal` prevents any change.
 * `isPreview` prevents all changes.
 */
export type FileContext = {
  workspace: string;
  approved?: ReadonlyMap<string, string> | undefined;
  buffers?: OpenBuffers;
  sandbox?: Pick<Sandbox, "expect">;
  signal?: AbortSignal;
  isPreview?: boolean;
};

export type OpenFile = { handle: fs.FileHandle; real: string; stat: Stats };

export function absolutePath(path: string, context: { workspace: string }): string {
  return paths.absolutePath(path, { workspace: context.workspace, home: homeDir(process.env) });
}

/** Opens a regular file for reading at its real path. The caller closes the handle. */
export async function openFile(path: string, context: FileContext): Promise<OpenFile> {
  const real = await fs.realpath(path);
  checkApproved(path, context, real);
  // Check before opening, since opening a device can have side effects.
  checkRegular(await fs.lstat(real), real, path);
  const handle = await fs.open(real, readOnly);
  try {
    const stat = await handle.stat();
    checkRegular(stat, real, path);
    if (((await handlePath(handle)) ?? (await fs.realpath(path))) !== real) throw movedAway(path);
    return { handle, real, stat };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Resolves the real path of a file or folder to search. */
export async function realFolder(path: string, context: FileContext): Promise<{ real: string; isFile: boolean }> {
  try {
    const real = await fs.realpath(path);
    checkApproved(path, context, real);
    const stat = await fs.stat(real);
    if (!stat.isDirectory()) checkRegular(stat, real, path);
    return { real, isFile: !stat.isDirectory() };
  } catch (error) {
    throw describe(error, path, "search");
  }
}

/**
 * Reads a file, lets `change` compute its new bytes, and writes them. Calls for the same file are serialized, so that edits which a model
 * sends together are all kept.
 */
export async function changeFile(
  path: string,
  context: FileContext,
  change: (before: Buffer | undefined) => Buffer,
): Promise<void> {
  try {
    const target = paths.realTarget(path);
    checkApproved(path, context, target);
    checkKernelPath(target, path);
    await inTurn(target, async () => {
      const open = await context.buffers?.read(target);
      const before = open === undefined ? await readWhole(target, path) : Buffer.from(open, "utf8");
      const after = change(before);
      if (before !== undefined && after.equals(before)) return;
      if (context.isPreview) return;
      await unlessStopped(context.signal, async () => {
        if (before === undefined) context.sandbox?.expect(target);
        if (!(await writtenElsewhere(target, after, context))) await replaceFile(target, after, path);
      });
    });
  } catch (error) {
    throw describe(error, path, "write");
  }
}

/** Writes to the editor that has the file open. Bytes that are not valid UTF-8 always go to the disk. */
async function writtenElsewhere(target: string, bytes: Buffer, { buffers }: FileContext): Promise<boolean> {
  if (!buffers) return false;
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) && (await buffers.write(target, text));
}

/** Removes a file, or a link itself rather than its target. File-system errors are thrown unchanged. */
export async function deleteFile(path: string, context: FileContext): Promise<void> {
  const folderPath = await fs.realpath(dirname(path));
  const real = join(folderPath, basename(path));
  checkKernelPath(real, path);
  const folder = await openFolder(folderPath, path);
  try {
    const entry = join(folder.at, basename(path));
    const stat = await fs.lstat(entry);
    if (stat.isSymbolicLink()) {
      // The link was judged by its target. Resolve it from the folder held open, since the path may lead elsewhere by now.
      checkApproved(path, context, paths.realTarget(resolve(folderPath, await fs.readlink(entry))));
    } else {
      checkApproved(path, context, real);
      checkRegular(stat, real, path);
    }
    await unlessStopped(context.signal, () => fs.unlink(entry));
  } finally {
    await folder.close();
  }
}

/** Turns a file-system error into a sentence that names the path and suggests what to do. */
export function describe(error: unknown, path: string, doing: "read" | "write" | "delete" | "search"): ToolFailure {
  if (error instanceof ToolFailure) return error;
  const code = errorCode(error);
  if (code === undefined) throw error;
  const sentence = sentences[code]?.(path, doing) ?? `Cannot ${doing} ${path}: ${(error as Error).message}`;
  return failure(sentence, { path });
}

export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

const sentences: Record<string, (path: string, doing: string) => string> = {
  ENOENT: (path) => `File not found: ${path}`,
  EACCES: (path, doing) => `Permission denied: this user may not ${doing} ${path}.`,
  EPERM: (path, doing) => `Operation not permitted: cannot ${doing} ${path}.`,
  EROFS: (path, doing) => `Cannot ${doing} ${path}: the file system is read-only.`,
  ENOSPC: (path) => `Cannot write ${path}: no space left on the disk. The file is unchanged; free some space first.`,
  EDQUOT: (path) => `Cannot write ${path}: the disk quota is used up. The file is unchanged.`,
  EISDIR: (path) => `${path} is a directory, not a file. Use LS to see what is in it.`,
  ENOTDIR: (path) => `Cannot use ${path}: a part of this path is a file, not a directory.`,
  ELOOP: (path) => `Cannot use ${path}: its links form a loop.`,
  ENAMETOOLONG: (path) => `Cannot use ${path}: the name is too long for the file system.`,
};

async function readWhole(target: string, path: string): Promise<Buffer | undefined> {
  let file: OpenFile;
  try {
    file = await openFile(target, { workspace: target, approved: new Map([[target, target]]) });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    if (file.stat.size > 32 * 1024 * 1024) {
      throw failure(`${path} has ${file.stat.size} bytes: too large for this tool. Change it with Shell.`, { path });
    }
    return await file.handle.readFile();
  } finally {
    await file.handle.close();
  }
}

async function replaceFile(target: string, content: Buffer, path: string): Promise<void> {
  const folder = await openFolder(dirname(target), path, { create: true });
  const entry = join(folder.at, basename(target));
  const temporary = join(folder.at, `.courser-${process.pid}-${Math.random().toString(36).slice(2)}.tmp`);
  try {
    const before = await fs.lstat(entry).catch(() => undefined);
    if (before?.isSymbolicLink()) throw movedAway(path);
    if (before) checkRegular(before, target, path);
    try {
      await writeNew(temporary, content, before);
      await fs.rename(temporary, entry);
    } catch (error) {
      await fs.rm(temporary, { force: true });
      // When the folder takes no new files or the file is a mount point, the file itself may still be writable: write
      // in place.
      if (before && ["EACCES", "EPERM", "EBUSY"].includes(errorCode(error) ?? "")) {
        await writeInPlace(entry, content, { target, path });
        return;
      }
      throw error;
    }
  } finally {
    await folder.close();
  }
}

async function writeNew(temporary: string, content: Buffer, before: Stats | undefined): Promise<void> {
  const handle = await fs.open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o666);
  try {
    await handle.writeFile(content);
    if (!before) return;
    const mine = await handle.stat();
    if (before.uid !== mine.uid || before.gid !== mine.gid) {
      // Only root may restore the previous owner; otherwise the file belongs to the current user.
      await handle.chown(before.uid, before.gid).catch(() => undefined);
    }
    await handle.chmod(before.mode & 0o7777);
  } finally {
    await handle.close();
  }
}

async function writeInPlace(entry: string, content: Buffer, of: { target: string; path: string }): Promise<void> {
  const { target, path } = of;
  const handle = await fs.open(entry, constants.O_RDWR | readOnly);
  try {
    const stat = await handle.stat();
    checkRegular(stat, target, path);
    // Refuse a file with other hard links: one of its other names may be protected.
    if (stat.nlink > 1) throw failure(`${path} has other hard links and its directory is not writable.`, { path });
    const before = await handle.readFile();
    try {
      await overwrite(handle, content);
    } catch (error) {
      await overwrite(handle, before);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

async function overwrite(handle: fs.FileHandle, content: Buffer): Promise<void> {
  for (let written = 0; written < content.length; ) {
    written += (await handle.write(content, written, content.length - written, written)).bytesWritten;
  }
  await handle.truncate(content.length);
}

/** Opens a real folder and holds it. On Linux `at` addresses it through the handle, so that renames above it cannot redirect a write. */
async function openFolder(real: string, path: string, options: { create?: boolean } = {}) {
  let handle: fs.FileHandle;
  try {
    handle = await fs.open(real, onlyFolder);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || !options.create) throw error;
    const parent = await openFolder(dirname(real), path, options);
    try {
      const entry = join(parent.at, basename(real));
      await fs.mkdir(entry).catch((problem) => {
        if (errorCode(problem) !== "EEXIST") throw problem;
      });
      handle = await fs.open(entry, onlyFolder);
    } finally {
      await parent.close();
    }
  }
  const seen = await handlePath(handle);
  if ((seen ?? (await fs.realpath(real))) !== real) {
    await handle.close();
    throw movedAway(path);
  }
  return { at: seen === undefined ? real : `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
}

/** Returns the path that the kernel reports for a handle; undefined where the kernel cannot be asked. */
async function handlePath(handle: fs.FileHandle): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  return fs.readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
}

function checkApproved(path: string, context: FileContext, real: string): void {
  const approved = context.approved?.get(path);
  if (approved !== undefined && approved !== real) throw movedAway(path);
}

function checkRegular(stat: Stats, real: string, path: string): void {
  checkKernelPath(real, path);
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw Object.assign(new Error(`EISDIR: ${path}`), { code: "EISDIR" });
  const kind = stat.isFIFO()
    ? "a named pipe"
    : stat.isSocket()
      ? "a socket"
      : stat.isSymbolicLink()
        ? "a link"
        : "a device";
  throw failure(`${path} is ${kind}, not a regular file; it was not changed.`, { path });
}

/** Throws for a file under /proc: it reports as regular, but shows or changes running processes. */
function checkKernelPath(real: string, path: string): void {
  if (/^\/proc(\/|$)/.test(real)) throw failure(`${path} belongs to the kernel; it is not a regular file.`, { path });
}

function movedAway(path: string): ToolFailure {
  return failure(`${path} now points elsewhere than when it was checked: nothing was done. Try again.`, { path });
}

// Keyed by real path for the whole process, since two of its sessions may share a workspace.
const turns = new Map<string, Promise<unknown>>();

async function inTurn<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const turn = (turns.get(key) ?? Promise.resolve()).then(work, work);
  turns.set(key, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(key) === turn) turns.delete(key);
  }
}
