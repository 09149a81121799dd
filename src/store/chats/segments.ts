// What is being said piece by piece: kept as it comes, and put together once it is said to the end.
import type { AgentEvent } from "../../protocol/event.ts";

export type Delta = Extract<AgentEvent, { type: "text" | "thinking" }>;

/** Pieces of one kind since its last end. `first`: the number of the first. */
export type Segment = { type: Delta["type"]; first: number; turn: number; at: number; text: string };

export class Segments {
  readonly #open = new Map<Delta["type"], Segment>();

  add({ type, text }: Delta, place: { sequence: number; turn: number; at: number }): void {
    const segment = this.#open.get(type);
    if (segment) segment.text += text;
    else this.#open.set(type, { type, first: place.sequence, turn: place.turn, at: place.at, text });
  }

  /** The segments that an event ends: each goes, and unless the event says the same again, one event takes its place. */
  endedBy(event: AgentEvent): { segment: Segment; merged?: Delta }[] {
    return [...this.#open.values()]
      .filter((segment) => ends(event, segment.type))
      .map((segment) => {
        this.#open.delete(segment.type);
        const isSaidAgain = event.type === "text_end" && event.text === segment.text;
        return isSaidAgain
          ? { segment }
          : { segment, merged: { type: segment.type, text: segment.text, at: segment.at } };
      });
  }

  forget(): void {
    this.#open.clear();
  }
}

function ends(event: AgentEvent, type: Delta["type"]): boolean {
  if (event.type === "text_end") return type === "text";
  if (event.type === "thinking_end") return type === "thinking";
  return ["user", "done", "fail"].includes(event.type) || (event.type === "retry" && event.discards);
}
