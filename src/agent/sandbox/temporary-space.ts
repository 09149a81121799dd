// Limits the size of the commands' private /tmp, which is on the machine's disk.
import { readdirSync, rmSync, statfsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

const everyMs = 250;
const megabyte = 2 ** 20;

/**
 * Folders that share one size limit. Nothing is counted until free disk space has dropped by a quarter of the limit, so ordinary
 * commands cost one system call per interval.
 */
export class TemporarySpace {
  readonly #folders: readonly string[];
  readonly #maxBytes: number;
  #freeBefore: number;
  #isFull = false;

  constructor(folders: readonly string[], maxMb: number) {
    this.#folders = folders;
    this.#maxBytes = maxMb * megabyte;
    this.#freeBefore = this.#freeBytes();
  }

  /** Watches until `stop` is called. `onFull` is called once for every running command, since they share the folders. */
  watch(onFull: () => void): { stop(): void } {
    let isCounting = false;
    const look = async () => {
      if (isCounting) return;
      isCounting = true;
      await this.#look();
      isCounting = false;
      if (!this.#isFull) return;
      clearInterval(timer);
      onFull();
    };
    const timer = setInterval(() => void look(), everyMs);
    timer.unref();
    return { stop: () => clearInterval(timer) };
  }

  async #look(): Promise<void> {
    const free = this.#freeBytes();
    if (this.#isFull || this.#freeBefore - free < this.#maxBytes / 4) return;
    this.#isFull = (await this.#count()) > this.#maxBytes;
    this.#freeBefore = Math.min(free, this.#freeBefore);
  }

  /**
   * Empties the folders if they are full. Call this after the last command has ended, since other folders may be
   * mounted inside until then.
   */
  emptyIfFull(): void {
    if (!this.#isFull) return;
    for (const folder of this.#folders)
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
    this.#freeBefore = this.#freeBytes();
    this.#isFull = false;
  }

  #freeBytes(): number {
    const [folder] = this.#folders;
    if (folder === undefined) return 0;
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  }

  /** Counts the disk usage of the files, up to the limit. */
  async #count(): Promise<number> {
    let bytes = 0;
    const open = [...this.#folders];
    for (let folder = open.pop(); folder !== undefined && bytes <= this.#maxBytes; folder = open.pop())
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) open.push(path);
        else bytes += ((await lstat(path).catch(() => undefined))?.blocks ?? 0) * 512;
      }
    return bytes;
  }
}
