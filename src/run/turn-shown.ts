// TurnShown: the events of a turn as they are shown. Every call that began has its end in them, whatever could be kept, and
// then the turn has its own.
import type { AgentEvent, Ending } from "../protocol/event.ts";
import type { EventLog } from "../protocol/event-log.ts";
import type { TurnEnding } from "../protocol/run.ts";

const endedBefore = "The run ended before this call did. It may or may not have taken effect.";

export class TurnShown {
  ending: TurnEnding | undefined;
  readonly #log: EventLog;
  readonly #open = new Map<string, Extract<AgentEvent, { type: "tool_start" }>>();
  /** How the turn ends, because something could not be kept. */
  #failure: TurnEnding | undefined;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Kept, then shown. Throws UserError when it cannot be kept. */
  add(event: AgentEvent): void {
    if (this.#failure) {
      this.#addLast(event);
      return;
    }
    if (isEnding(event)) this.#endCalls();
    this.#log.append(event);
    this.#count(event);
  }

  /** `event` could not be kept: only what began is still brought to its end. */
  breakOff(event: AgentEvent, failure: TurnEnding): void {
    this.#failure = event.type === "fail" ? event : failure;
    this.#addLast(event);
  }

  #addLast(event: AgentEvent): void {
    if (event.type === "tool_end" && this.#open.has(event.callId)) this.#keepOrShow(event);
    if (!isEnding(event)) return;
    this.#endCalls();
    this.#keepOrShow({ ...this.#failure!, ...numbersOf(event) });
  }

  /** Those that a failure left without an end of their own. */
  #endCalls(): void {
    for (const { type: _start, ...call } of [...this.#open.values()]) {
      const value = { errorMessage: endedBefore, error: endedBefore, message: endedBefore };
      this.#keepOrShow({ ...call, type: "tool_end", outcome: { kind: "error", value } });
    }
  }

  #keepOrShow(event: AgentEvent): void {
    try {
      this.#log.append(event);
    } catch {
      this.#log.show({ event }); // there is nowhere to keep it
    }
    this.#count(event);
  }

  #count(event: AgentEvent): void {
    if (event.type === "tool_start") this.#open.set(event.callId, event);
    if (event.type === "tool_end") this.#open.delete(event.callId);
    if (isEnding(event)) this.ending = event;
  }
}

/** What the turn took and used, however it is told to have ended. */
function numbersOf({ durationMs, apiDurationMs, usage }: TurnEnding): Ending {
  return { durationMs, apiDurationMs, ...(usage && { usage }) };
}

function isEnding(event: AgentEvent): event is TurnEnding {
  return event.type === "done" || event.type === "fail";
}
