// Where the snapshots of a workspace lie, and who may use them when: many who write, or one who sweeps.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { chatsDir, projectId } from "../../store/chats/layout.ts";
import { replaceFile } from "../../store/json-file.ts";
import { syncFoldersUpTo } from "../../store/sync.ts";
import { gitIndexOf, gitRepositoryOf } from "./git-index.ts";
import { type ObjectStore, openObjects } from "./objects.ts";
import { StatCache } from "./stat-cache.ts";

export type SnapshotPaths = { configDir: string; workspace: string };

/** A mark that is older belongs to a process that died: no snapshot takes so long. */
const oldMarkMs = 60 * 60 * 1000;
/** A sweep gives up before. */
export const oldSweepMs = 60 * 1000;

export class SnapshotStore {
  readonly folder: string;
  readonly chats: string;
  readonly objects: ObjectStore;
  readonly cache: StatCache;
  #lending = { borrow: true };
  readonly #workspace: string;
  readonly #top: string;

  constructor({ configDir, workspace }: SnapshotPaths) {
    this.#workspace = workspace;
    this.#top = configDir;
    this.folder = join(configDir, "courser", "snapshots", projectId(workspace));
    this.chats = join(chatsDir(configDir), projectId(workspace));
    this.objects = openObjects(join(this.folder, "objects"));
    this.cache = new StatCache(join(this.folder, "cache"), (object) => this.objects.has(object, this.#lending));
  }

  /** Was there ever a snapshot? */
  get exists(): boolean {
    return existsSync(join(this.folder, "HEAD"));
  }

  /** Runs `work` while nothing is swept away. What it makes must be kept by `keep` before it ends. */
  async use<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#make();
    const mark = join(this.folder, "busy", `${process.pid}-${Math.random().toString(36).slice(2)}`);
    while (true) {
      writeFileSync(mark, "", { mode: 0o600 });
      if (!this.#isSwept()) break;
      rmSync(mark, { force: true });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    try {
      this.objects.refresh();
      return await work();
    } finally {
      rmSync(mark, { force: true });
    }
  }

  /** Begins a comparison with what is known of files. `borrow`: what the repositories of the roots hold counts as saved. */
  beginRound(roots: readonly string[], { borrow }: { borrow: boolean }): void {
    this.#lending = { borrow };
    const repositories = borrow ? roots.flatMap((root) => gitRepositoryOf(root) ?? []) : [];
    for (const { objects } of repositories) this.objects.borrowFrom(objects);
    this.cache.begin(repositories.flatMap((repository) => gitIndexOf(repository) ?? []));
  }

  /** What a chat refers to stays as long as the chat. On the disk before the chat may name it. */
  keep(chatId: string, objects: readonly string[]): void {
    const file = this.#keptBy(chatId);
    const isNew = !existsSync(file);
    // Begins with a new line: the one before may have been cut off.
    appendFileSync(
      file,
      objects
        .map((object) => `\n${object}`)
        .join("")
        .concat("\n"),
      { mode: 0o600, flush: true },
    );
    if (isNew) syncFoldersUpTo(join(this.folder, "chats"), this.#top);
  }

  keepOnly(chatId: string, objects: readonly string[]): void {
    replaceFile(this.#keptBy(chatId), objects.map((object) => `${object}\n`).join(""));
  }

  release(chatId: string): void {
    rmSync(this.#keptBy(chatId), { force: true });
  }

  keptBy(chatId: string): string[] {
    try {
      return readFileSync(this.#keptBy(chatId), "utf8")
        .split("\n")
        .filter((line) => /^[0-9a-f]{40}$/.test(line));
    } catch {
      return [];
    }
  }

  /** Does anybody write at present? */
  isBusy(): boolean {
    const busy = join(this.folder, "busy");
    const old = readdirSync(busy).filter((name) => ageOf(join(busy, name)) > oldMarkMs);
    for (const name of old) rmSync(join(busy, name), { force: true });
    return readdirSync(busy).length > 0;
  }

  get sweepMark(): string {
    return join(this.folder, "sweeping");
  }

  #keptBy(chatId: string): string {
    return join(this.folder, "chats", chatId.replace(/[^\w-]/g, "_"));
  }

  #isSwept(): boolean {
    const age = ageOf(this.sweepMark);
    if (age > oldSweepMs) rmSync(this.sweepMark, { force: true });
    return age >= 0 && age <= oldSweepMs;
  }

  /** As git lays out a bare repository, so that it can be looked at with git. */
  #make(): void {
    if (this.exists) return;
    for (const name of ["objects", "refs", "busy", "chats"])
      mkdirSync(join(this.folder, name), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.folder, "description"), `Snapshots of ${this.#workspace}\n`, { mode: 0o600 });
    writeFileSync(join(this.folder, "HEAD"), "ref: refs/heads/none\n", { mode: 0o600 });
  }
}

/** In milliseconds; -1 when there is none. A clock that went back counts as no time. */
export function ageOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? Math.max(0, Date.now() - stat.mtimeMs) : -1;
}
