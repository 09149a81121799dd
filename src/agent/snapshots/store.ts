// Locates the snapshots of a workspace and coordinates access: many writers, or one sweep.
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
import { tryOr } from "../../text/try-or.ts";
import { gitIndexOf, gitRepositoryOf } from "./git-index.ts";
import { type ObjectStore, openObjects } from "./objects.ts";
import { StatCache } from "./stat-cache.ts";

export type SnapshotPaths = { configDir: string; workspace: string };

/** An older mark is from a process that died: no snapshot takes that long. */
const oldMarkMs = 60 * 60 * 1000;
/** The maximum time in milliseconds that one sweep takes. */
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
    this.cache = new StatCache(join(this.folder, "cache"), (object) => this.objects.placeOf(object, this.#lending));
  }

  /** Whether a snapshot was ever taken here. */
  get exists(): boolean {
    return existsSync(join(this.folder, "HEAD"));
  }

  /** Runs `work` while no sweep runs. New objects must be passed to `keep` before it ends. */
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

  /** Begins a comparison with cached stat data. `borrow`: contents of the roots' repositories count as saved. */
  beginRound(roots: readonly string[], { borrow }: { borrow: boolean }): void {
    this.#lending = { borrow };
    const repositories = borrow ? roots.flatMap((root) => gitRepositoryOf(root) ?? []) : [];
    for (const { objects } of repositories) this.objects.borrowFrom(objects);
    const indexes = repositories.flatMap((repository) => gitIndexOf(repository) ?? []);
    this.cache.begin(indexes, borrow ? this.objects.lenders() : "none");
  }

  /**
   * Registers objects as used by a chat, so that they are kept as long as the chat exists. This is written to disk
   * before the chat refers to them.
   */
  keep(chatId: string, objects: readonly string[]): void {
    const file = this.#keptBy(chatId);
    const isNew = !existsSync(file);
    // Starts with a line break, since the previous line may have been cut off.
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
    return tryOr(
      () =>
        readFileSync(this.#keptBy(chatId), "utf8")
          .split("\n")
          .filter((line) => /^[0-9a-f]{40}$/.test(line)),
      [],
    );
  }

  /** Whether a process is taking a snapshot at the moment. */
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

  /** Creates the layout of a bare git repository, so that git can inspect it. */
  #make(): void {
    if (this.exists) return;
    for (const name of ["objects", "refs", "busy", "chats"])
      mkdirSync(join(this.folder, name), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.folder, "description"), `Snapshots of ${this.#workspace}\n`, { mode: 0o600 });
    writeFileSync(join(this.folder, "HEAD"), "ref: refs/heads/none\n", { mode: 0o600 });
  }
}

/** Returns the age in milliseconds, or -1 if the file is missing. If the clock was set back, the age is 0. */
export function ageOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? Math.max(0, Date.now() - stat.mtimeMs) : -1;
}
