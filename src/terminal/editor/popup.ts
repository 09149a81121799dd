// Popup: the list under the editor, with completion choices or search results from the history.
import {
  type Choice,
  type Command,
  type CompletionSources,
  commandChoices,
  fileChoices,
  type Query,
  queryAt,
  withFolders,
} from "./completion.ts";
import type { Candidate } from "./fuzzy.ts";
import { type Draft, type History, searchHistory } from "./history.ts";

export type Popup =
  | { type: "choices"; query: Query; choices: readonly Choice[]; chosen: number }
  | { type: "search"; query: string; found: readonly Draft[]; chosen: number };

/** For how many milliseconds a list of files is reused before it is read again. */
const freshMs = 5000;

/** Computes popups. Requests the file list when an `@` is first typed, and calls `onChange` when it arrives. */
export class PopupSource {
  readonly #sources: CompletionSources | undefined;
  readonly #history: History | undefined;
  readonly #onChange: () => void;
  #files: readonly Candidate[] | undefined;
  #filesAt = Number.NEGATIVE_INFINITY;
  #isListing = false;
  /** The position at which the user closed the popup with Escape. It stays closed until another name is typed. */
  #dismissed: number | undefined;

  constructor(options: { sources?: CompletionSources; history?: History; onChange(): void }) {
    this.#sources = options.sources;
    this.#history = options.history;
    this.#onChange = options.onChange;
  }

  at(text: string, cursor: number): Popup | undefined {
    const query = this.#sources && queryAt(text, cursor);
    if (!query) {
      this.#dismissed = undefined;
      return undefined;
    }
    if (this.#dismissed === query.start) return undefined;
    const choices =
      query.kind === "command"
        ? commandChoices(query.query, this.#maxUsedFirst(this.#sources!.commands()))
        : fileChoices(query.query, this.#candidates());
    return choices.length === 0 ? undefined : { type: "choices", query, choices, chosen: 0 };
  }

  /** Sorts commands by how often the history contains them. Unused ones keep their order. */
  #maxUsedFirst(commands: readonly Command[]): readonly Command[] {
    const uses = new Map<string, number>();
    for (const { text } of this.#history?.entries() ?? []) {
      const name = /^\/\S+/.exec(text)?.[0];
      if (name !== undefined) uses.set(name, (uses.get(name) ?? 0) + 1);
    }
    if (uses.size === 0) return commands;
    return [...commands].sort((one, other) => (uses.get(other.name) ?? 0) - (uses.get(one.name) ?? 0));
  }

  search(query: string): Popup {
    return { type: "search", query, found: searchHistory(this.#history?.entries() ?? [], query), chosen: 0 };
  }

  dismiss({ start }: Query): void {
    this.#dismissed = start;
  }

  #candidates(): readonly Candidate[] {
    if (!this.#isListing && performance.now() - this.#filesAt > freshMs) {
      this.#isListing = true;
      this.#sources!.files().then(
        (files) => this.#filesArrived(withFolders(files)),
        () => this.#filesArrived([]), // a folder that cannot be listed offers no files
      );
    }
    return this.#files ?? [];
  }

  #filesArrived(files: readonly Candidate[]): void {
    this.#files = files;
    this.#filesAt = performance.now();
    this.#isListing = false;
    this.#onChange();
  }
}

export function popupSize(popup: Popup): number {
  return popup.type === "choices" ? popup.choices.length : popup.found.length;
}

export function choose(popup: Popup, by: 1 | -1): Popup {
  const size = popupSize(popup);
  return size === 0 ? popup : { ...popup, chosen: (popup.chosen + by + size) % size };
}
