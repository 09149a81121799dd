// Saves the text that the model is streaming every second, so that a resumed chat shows it if the run is cut off.
import { isObject } from "../../json/object.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import type { StoreConnection } from "./connection.ts";
import { ownState, setOwnState } from "./history.ts";

const everyMs = 1000;
const key = ".segment";

/** The text since the last end of a segment. Short answers end before anything is saved. */
export class OpenSegment {
  readonly #keep: (text: string) => void;
  #text = "";
  #isKept = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(keep: (text: string) => void) {
    this.#keep = keep;
  }

  add(text: string): void {
    this.#text += text;
    this.#timer ??= setTimeout(() => this.#save(), everyMs).unref();
  }

  #save(): void {
    this.#timer = undefined;
    this.#isKept = true;
    try {
      this.#keep(this.#text);
    } catch {
      // Ignore the error here: the next event to be stored fails too, and reports it.
    }
  }

  /** Ends the segment if the event contains or discards its text. Returns whether saved text must be dropped. */
  ends(event: AgentEvent): boolean {
    if (event.type === "notice" || (event.type === "retry" && !event.discards)) return false;
    const wasKept = this.#isKept;
    this.close();
    return wasKept;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#text = "";
    this.#isKept = false;
  }
}

export function keepSegment(store: StoreConnection, text: string, turn: number): void {
  setOwnState(store, key, { text, at: Date.now() }, turn);
}

export function dropSegment(store: StoreConnection): void {
  store.statement("DELETE FROM courser_state WHERE key = ?").run(key);
}

export function keptSegment(store: StoreConnection): { text: string; at: number } | undefined {
  const kept = ownState(store, key);
  return isObject(kept) && typeof kept.text === "string" && typeof kept.at === "number"
    ? { text: kept.text, at: kept.at }
    : undefined;
}
