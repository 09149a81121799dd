// Measures how a turn's time divides between the model, tools, and waiting for the user.
import type { AgentEvent } from "../protocol/event.ts";

export type TurnTimes = { toolMs: number; waitMs: number };

export class TurnClock {
  readonly #calls = new Set<string>();
  readonly #asked = new Set<string | number>();
  readonly #times: TurnTimes = { toolMs: 0, waitMs: 0 };
  #since: number | undefined;

  /** Records an event. Call this with every event of the turn, in order. */
  take(event: AgentEvent): void {
    this.#pass(event.at);
    if (event.type === "tool_start") this.#calls.add(event.callId);
    if (event.type === "tool_end" && !this.#calls.delete(event.callId))
      this.#times.toolMs += Math.max(0, (event.completedAt ?? 0) - (event.startedAt ?? event.completedAt ?? 0));
    if (event.type === "ask") this.#asked.add(event.id);
    if (event.type === "answer") this.#asked.delete(event.id);
    if ((event.type === "done" || event.type === "fail") && event.waitedMs !== undefined) this.#correct(event.waitedMs);
  }

  /** Corrects the times for a stored turn, in which waiting for the user was counted as time of tools. */
  #correct(waitedMs: number): void {
    const unseen = Math.max(0, waitedMs - this.#times.waitMs);
    this.#times.waitMs += unseen;
    this.#times.toolMs = Math.max(0, this.#times.toolMs - unseen);
  }

  /** Returns the times up to `now`, if the turn is still running. */
  times(now?: number): TurnTimes {
    this.#pass(now);
    return { ...this.#times };
  }

  /** Adds the time since the last event. While the user is asked, it counts as waiting, even if tools are running. */
  #pass(at: number | undefined): void {
    if (at === undefined) return;
    const passed = Math.max(0, at - (this.#since ?? at));
    this.#since = Math.max(this.#since ?? at, at);
    if (this.#asked.size > 0) this.#times.waitMs += passed;
    else if (this.#calls.size > 0) this.#times.toolMs += passed;
  }
}
