// Guarded names: what must not come to be, or must stay a certain link, while a command runs. Nothing is put in the workspace
// to hold such a name: what appears under it is moved aside at once, and named in the result.
import { type FSWatcher, lstatSync, readdirSync, readlinkSync, renameSync, symlinkSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type HeldFolder, holdFolder } from "./held-folder.ts";

export type GuardRequest = {
  /** Paths as they are: where a link leads, or undefined where nothing is. */
  watched: ReadonlyMap<string, string | undefined>;
  /** Folders in which any name may turn out to be guarded. */
  folders: readonly string[];
  /** Of a path in one of those that was not there before. */
  isGuarded(path: string): boolean;
  /** The command cannot be kept from making them over and over. */
  onFlood(): void;
};

/** A program that makes one of these over and over would fill the folder with what is moved aside. */
const mostMoved = 10;

export class GuardedNames {
  readonly #request: GuardRequest;
  readonly #watched: Map<string, string | undefined>;
  readonly #folders: Set<string>;
  /** Made by the agent itself, with permission. */
  readonly #expected = new Set<string>();
  /** Names by folder. */
  readonly #names = new Map<string, Set<string>>();
  readonly #held = new Map<string, HeldFolder>();
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

  /** The agent itself is about to write this file. What else comes to be in the folders on its way is guarded like before. */
  expect(path: string): void {
    const way: string[] = [];
    for (let at = path; at !== dirname(at); at = dirname(at)) {
      way.push(at);
      if (!this.#folders.has(dirname(at)) && !this.#names.has(dirname(at))) continue;
      if (this.#isGuarded(at)) for (const each of way) this.#expected.add(each);
      return;
    }
  }

  /** Looks a last time. `more`: what was found to have come to be elsewhere. Sentences about what was undone. */
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
    const rest = this.#notes.length - mostNotes;
    return rest <= 0 ? this.#notes : [...this.#notes.slice(0, mostNotes), `and so were ${rest} more`];
  }

  #addName(path: string): void {
    const names = this.#names.get(dirname(path)) ?? new Set();
    this.#names.set(dirname(path), names.add(basename(path)));
  }

  #follow(folder: string): void {
    const held = holdFolder(folder);
    if (!held) return; // not there, so that nothing can be in it: looked at when the command has ended
    this.#held.set(folder, held);
    try {
      const watcher = watch(held.at, { persistent: false }, (_, name) => this.#see(folder, name));
      watcher.on("error", () => {});
      this.#watchers.push(watcher);
    } catch {
      // The system watches no more folders: what is made here stays until the command has ended.
    }
  }

  #see(folder: string, name: string | null): void {
    if (this.#aside.size > mostMoved) return;
    for (const each of name === null ? [...(this.#names.get(folder) ?? [])] : [name]) this.#look(folder, each);
    if (this.#aside.size > mostMoved) this.#request.onFlood();
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

  /** A folder that the agent has just made: what the command puts in it is looked at from now on. */
  #enter(folder: string): void {
    this.#follow(folder);
    const held = this.#held.get(folder);
    if (!held) return; // a file
    this.#folders.add(folder);
    for (const name of readdirSync(held.at)) this.#look(folder, name);
  }

  /** Puts back what was there; what stands there instead is moved aside. */
  #restore(folder: string, name: string): void {
    const path = join(folder, name);
    const before = this.#watched.get(path);
    const held = this.#held.get(folder) ?? holdFolder(folder);
    if (!held) return; // never came to be
    try {
      const entry = join(held.at, name);
      const now = stateOf(entry);
      if (now === before) return;
      if (now === undefined) this.#notes.push(`${path} is protected and was put back`);
      else {
        const aside = freeName(held.at, `${name}.blocked`);
        renameSync(entry, join(held.at, aside));
        this.#aside.add(join(folder, aside));
        this.#notes.push(
          `${path} is protected: what appeared there while the command ran is now ${join(folder, aside)}`,
        );
      }
      if (before !== undefined) symlinkSync(before, entry);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another run that guards the same name was quicker.
      if (code !== "ENOENT" && code !== "EEXIST")
        this.#notes.push(`${path} is protected, was changed, and could not be put back (${code})`);
    } finally {
      if (held !== this.#held.get(folder)) held.close();
    }
  }
}

const mostNotes = 20;

/** Where a link leads; undefined: nothing there. Anything else is not a link that was there before. */
function stateOf(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : "\0";
  } catch {
    return undefined;
  }
}

function freeName(folder: string, wanted: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (stateOf(join(folder, name)) === undefined) return name;
  }
}
