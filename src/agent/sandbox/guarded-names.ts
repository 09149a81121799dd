// Guards paths that must not be created, or must stay a certain link, while a command runs. Puts no placeholder in the workspace: what
// appears under such a name is moved aside at once, and named in the result.
import { type FSWatcher, lstatSync, readdirSync, readlinkSync, renameSync, symlinkSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { tryOr } from "../../text/try-or.ts";
import { type FolderHandle, openFolder } from "../folder-handle.ts";

export type GuardRequest = {
  /** Paths to watch, with their current state: the target of a link, or undefined where nothing exists. */
  watched: ReadonlyMap<string, string | undefined>;
  /** Folders in which any newly created name may be a guarded one. */
  folders: readonly string[];
  /** Called for a new path in one of those folders. */
  isGuarded(path: string): boolean;
  /** Called when the command creates guarded names faster than they can be removed. */
  onFlood(): void;
};

/** Limit, since a program that keeps creating guarded names would fill the folder with moved files. */
const maxMoved = 10;

export class GuardedNames {
  readonly #request: GuardRequest;
  readonly #watched: Map<string, string | undefined>;
  readonly #folders: Set<string>;
  /** Guarded paths that the agent itself is creating with permission. */
  readonly #expected = new Set<string>();
  /** The guarded names in each watched folder. */
  readonly #names = new Map<string, Set<string>>();
  readonly #held = new Map<string, FolderHandle>();
  readonly #watchers: FSWatcher[] = [];
  readonly #notes: string[] = [];
  readonly #aside = new Set<string>();

  constructor(request: GuardRequest) {
    this.#request = request;
    this.#watched = new Map(request.watched);
    this.#folders = new Set(request.folders);
    for (const path of this.#watched.keys()) this.#addName(path);
    for (const folder of new Set([...this.#names.keys(), ...this.#folders])) this.#follow(folder);
  }

  /** Allows the agent itself to write this file. Other new names in the folders on its path stay guarded. */
  expect(path: string): void {
    const way: string[] = [];
    for (let at = path; at !== dirname(at); at = dirname(at)) {
      way.push(at);
      if (!this.#folders.has(dirname(at)) && !this.#names.has(dirname(at))) continue;
      if (this.#isGuarded(at)) for (const each of way) this.#expected.add(each);
      return;
    }
  }

  /** Checks a last time and returns sentences about what was undone. `more` lists new paths that were found elsewhere. */
  end(more: readonly string[]): string[] {
    for (const path of more) {
      if (this.#watched.has(path)) continue;
      this.#watched.set(path, undefined);
      this.#addName(path);
    }
    for (const path of this.#expected) this.#look(dirname(path), basename(path));
    for (const [folder, names] of this.#names) for (const name of [...names]) this.#look(folder, name);
    for (const watcher of this.#watchers) watcher.close();
    for (const held of this.#held.values()) held.close();
    const rest = this.#notes.length - maxNotes;
    return rest <= 0 ? this.#notes : [...this.#notes.slice(0, maxNotes), `and so were ${rest} more`];
  }

  #addName(path: string): void {
    const names = this.#names.get(dirname(path)) ?? new Set();
    this.#names.set(dirname(path), names.add(basename(path)));
  }

  #follow(folder: string): void {
    const held = holdFolder(folder);
    if (!held) return; // the folder does not exist; it is checked when the command has ended
    this.#held.set(folder, held);
    try {
      const watcher = watch(held.at("."), { persistent: false }, (_, name) => this.#onNameChanged(folder, name));
      watcher.on("error", () => {});
      this.#watchers.push(watcher);
    } catch {
      // The system's limit on watched folders is reached. Files created here are removed when the command has ended.
    }
  }

  #onNameChanged(folder: string, name: string | null): void {
    if (this.#aside.size > maxMoved) return;
    for (const each of name === null ? [...(this.#names.get(folder) ?? [])] : [name]) this.#look(folder, each);
    if (this.#aside.size > maxMoved) this.#request.onFlood();
  }

  #look(folder: string, name: string): void {
    const path = join(folder, name);
    if (this.#expected.has(path)) {
      if (!this.#folders.has(path)) this.#enter(path);
      return;
    }
    if (!this.#isGuarded(path)) return;
    if (!this.#watched.has(path)) {
      this.#watched.set(path, undefined);
      this.#addName(path);
    }
    this.#restore(folder, name);
  }

  #isGuarded(path: string): boolean {
    if (this.#aside.has(path)) return false;
    return this.#watched.has(path) || (this.#folders.has(dirname(path)) && this.#request.isGuarded(path));
  }

  /** Starts watching a folder that the agent has just created, and checks what is already in it. */
  #enter(folder: string): void {
    this.#follow(folder);
    const held = this.#held.get(folder);
    if (!held) return; // the path is a file instead of a folder
    this.#folders.add(folder);
    for (const name of readdirSync(held.at("."))) this.#look(folder, name);
  }

  /** Restores the previous state of a guarded path. A file that is there instead is moved to another name. */
  #restore(folder: string, name: string): void {
    const path = join(folder, name);
    const before = this.#watched.get(path);
    const held = this.#held.get(folder) ?? holdFolder(folder);
    if (!held) return; // the folder was never created
    try {
      const entry = held.at(name);
      const now = pathState(entry);
      if (now === before) return;
      if (now === undefined) this.#notes.push(`${path} is protected and was put back`);
      else {
        const aside = freeName(held, `${name}.blocked`);
        renameSync(entry, held.at(aside));
        this.#aside.add(join(folder, aside));
        this.#notes.push(
          `${path} is protected: what appeared there while the command ran is now ${join(folder, aside)}`,
        );
      }
      if (before !== undefined) symlinkSync(before, entry);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another run that guards the same name has already restored it.
      if (code !== "ENOENT" && code !== "EEXIST")
        this.#notes.push(`${path} is protected, was changed, and could not be put back (${code})`);
    } finally {
      if (held !== this.#held.get(folder)) held.close();
    }
  }
}

const maxNotes = 20;

function holdFolder(path: string): FolderHandle | undefined {
  return tryOr(() => openFolder(path), undefined); // the path is missing, is not a folder, or is behind a link
}

/** Returns the target of a link, or undefined if nothing exists. Anything else returns a value that no link has. */
function pathState(path: string): string | undefined {
  return tryOr(() => (lstatSync(path).isSymbolicLink() ? readlinkSync(path) : "\0"), undefined);
}

function freeName(folder: FolderHandle, wanted: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (pathState(folder.at(name)) === undefined) return name;
  }
}
