// A disk whose unsynced writes vanish: what a program did to a folder, as strace saw it, and what is left of it after a power cut.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const calls = [
  "openat,open,creat,close,dup,dup2,dup3,lseek,write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,fallocate",
  "fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat",
  "copy_file_range,sendfile",
].join(",");

export const noTracing = (() => {
  const { status } = spawnSync("strace", ["-f", "-e", "trace=close", "true"], { stdio: "ignore" });
  return status !== 0 && "strace is not installed, or may not trace here";
})();

export type TracedCall = { name: string; args: string; result: string };

/** Runs a command, and returns every call that may concern a disk, in the order they ended. */
export function trace(
  command: readonly string[],
  { log, ...options }: { log: string; cwd: string; env: Record<string, string> },
): TracedCall[] {
  const flags = ["-f", "-y", "-xx", "-s", "10000000", "-e", `trace=${calls}`, "-o", log];
  const env = { ...options.env, UV_USE_IO_URING: "0" };
  const run = spawnSync("strace", [...flags, ...command], { ...options, env, encoding: "utf8", timeout: 60_000 });
  if (run.status !== 0) throw new Error(`${command.join(" ")}: ${run.stdout}${run.stderr}`);
  return parseLog(readFileSync(log, "latin1"));
}

/** A call that another thread interrupted stands in two lines: it counts where it ended. */
function parseLog(log: string): TracedCall[] {
  const open = new Map<string, string>();
  const found: TracedCall[] = [];
  for (const line of log.split("\n")) {
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (thread === undefined || rest === undefined) continue;
    const begun = /^(.*) <unfinished \.\.\.>$/.exec(rest);
    if (begun) {
      open.set(thread, begun[1]!);
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const whole = resumed ? `${open.get(thread) ?? ""}${resumed[1]}` : rest;
    const [, name, args, result] = /^(\w+)\((.*)\) += (.*)$/.exec(whole) ?? [];
    if (name !== undefined && !/^-1 |^\?/.test(result!)) found.push({ name, args: args!, result: result! });
  }
  return found;
}

const bytesOf = (escaped: string) => Buffer.from(escaped.replaceAll("\\x", ""), "hex");
const textOf = (escaped: string) => bytesOf(escaped).toString();

type Change = { at: number; bytes: Buffer } | { length: number };
type File = { kind: "file"; content: Buffer; synced: Buffer /** Since it was synced. */; pending: Change[] };
type Folder = { kind: "folder"; names: Map<string, Entry>; synced: Map<string, Entry> };
type Entry = File | Folder;

const newFolder = (): Folder => ({ kind: "folder", names: new Map(), synced: new Map() });

/**
 * How a disk may look after a power cut. `names`: all of them, or only those that were synced. `data`: what was synced,
 * everything, or any part of the rest.
 */
export type Loss = { names: "synced" | "all"; data: "synced" | "all" | "some"; random?: () => number };

export class TracedDisk {
  readonly #root: string;
  readonly #top = newFolder();
  readonly #offsets = new Map<number, { at: number; isAtEnd: boolean }>();
  /** Everything that was written to file 1. */
  shown = "";

  /** `root` is empty, and on the disk. */
  constructor(root: string) {
    this.#root = root;
  }

  /** False: nothing that a disk would know of. */
  apply({ name, args, result }: TracedCall): boolean {
    const handle = Number(/^\d+/.exec(args)?.[0]);
    const path = textOf(/^\d+<((?:\\x[0-9a-f]{2})*)>/.exec(args)?.[1] ?? "");
    if (handle === 1 && /^p?writev?/.test(name)) {
      this.shown += this.#data(args).toString();
      return true;
    }
    if (name === "close") {
      this.#offsets.delete(handle);
      return false;
    }
    if (/^(openat|open|creat)$/.test(name)) return this.#open(args, result);
    if (/^(rename|unlink|mkdir|rmdir|link|symlink)/.test(name)) return this.#change(name, args);
    if (!this.#isInside(path)) return false;
    const entry = this.#find(path);
    if (!entry) return false; // it was removed while it was open
    if (name === "fsync" || name === "fdatasync") return this.#sync(entry);
    if (entry.kind !== "file") throw new Error(`${name} of a folder: ${path}`);
    const offset = this.#offsets.get(handle);
    switch (name) {
      case "lseek":
        if (offset) offset.at = Number(result);
        return false;
      case "ftruncate":
        return write(entry, { length: Number(args.split(", ").at(-1)) });
      case "pwrite64":
      case "pwritev":
        return write(entry, { at: Number(args.split(", ").at(-1)), bytes: this.#data(args) });
      case "write":
      case "writev": {
        if (!offset) throw new Error(`written to an unknown file: ${path}`);
        const bytes = this.#data(args);
        const at = offset.isAtEnd ? entry.content.length : offset.at;
        offset.at = at + bytes.length;
        return write(entry, { at, bytes });
      }
      default:
        throw new Error(`${name} is not simulated: ${path}`);
    }
  }

  /** What is left, written to an empty folder. */
  leave(folder: string, loss: Loss): void {
    leave(this.#top, folder, loss);
  }

  #isInside(path: string): boolean {
    return path === this.#root || path.startsWith(`${this.#root}/`);
  }

  #find(path: string): Entry | undefined {
    let entry: Entry | undefined = this.#top;
    for (const name of path.slice(this.#root.length + 1).split("/")) {
      if (name === "") continue;
      entry = entry?.kind === "folder" ? entry.names.get(name) : undefined;
    }
    return entry;
  }

  #folderOf(path: string): Folder {
    const folder = this.#find(dirname(path));
    if (folder?.kind !== "folder") throw new Error(`there is no folder for ${path}`);
    return folder;
  }

  #open(args: string, result: string): boolean {
    const [, number, escaped] = /^(\d+)<((?:\\x[0-9a-f]{2})*)>/.exec(result) ?? [];
    const path = textOf(escaped ?? "");
    if (number === undefined || !this.#isInside(path)) return false;
    this.#offsets.set(Number(number), { at: 0, isAtEnd: args.includes("O_APPEND") });
    const found = this.#find(path);
    if (!found && args.includes("O_CREAT")) {
      this.#folderOf(path).names.set(nameOf(path), {
        kind: "file",
        content: Buffer.alloc(0),
        synced: Buffer.alloc(0),
        pending: [],
      });
      return true;
    }
    if (found?.kind === "file" && args.includes("O_TRUNC")) return write(found, { length: 0 });
    return false;
  }

  #change(name: string, args: string): boolean {
    const paths = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, path]) => textOf(path!));
    const [path = "", to = ""] = paths;
    if (!paths.some((each) => this.#isInside(each))) return false;
    if (!paths.every((each) => this.#isInside(each))) throw new Error(`${name} across the disk: ${paths}`);
    const folder = this.#folderOf(path);
    if (name.startsWith("mkdir")) folder.names.set(nameOf(path), newFolder());
    else if (name.startsWith("unlink") || name === "rmdir") folder.names.delete(nameOf(path));
    else if (name.startsWith("rename")) {
      this.#folderOf(to).names.set(nameOf(to), folder.names.get(nameOf(path))!);
      folder.names.delete(nameOf(path));
    } else throw new Error(`${name} is not simulated: ${path}`);
    return true;
  }

  #sync(entry: Entry): boolean {
    if (entry.kind === "folder") entry.synced = new Map(entry.names);
    else {
      entry.synced = entry.content;
      entry.pending = [];
    }
    return true;
  }

  #data(args: string): Buffer {
    return Buffer.concat([...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, bytes]) => bytesOf(bytes!)));
  }
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

function write(file: File, change: Change): boolean {
  file.content = changed(file.content, change);
  file.pending.push(change);
  return true;
}

function changed(content: Buffer, change: Change): Buffer {
  const length = "length" in change ? change.length : Math.max(content.length, change.at + change.bytes.length);
  const next = Buffer.alloc(length);
  content.copy(next);
  if ("bytes" in change) change.bytes.copy(next, change.at);
  return next;
}

function leave(folder: Folder, path: string, loss: Loss): void {
  mkdirSync(path, { recursive: true });
  for (const [name, entry] of loss.names === "all" ? folder.names : folder.synced) {
    if (entry.kind === "folder") leave(entry, join(path, name), loss);
    // What lies in shared memory is made anew.
    else if (!name.endsWith("-shm")) writeFileSync(join(path, name), contentAfter(entry, loss));
  }
}

function contentAfter({ content, synced, pending }: File, { data, random = Math.random }: Loss): Buffer {
  if (data === "all") return content;
  if (data === "synced") return synced;
  return pending.filter(() => random() < 0.5).reduce(changed, synced);
}
