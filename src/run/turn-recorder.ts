// TurnRecorder: records the events of a turn. Every call that started gets an end event, even if events cannot
// be stored, and then the turn gets its own.
import type { AgentEvent, Ending, EventOf } from "../protocol/event.ts";
import type { EventLog } from "../protocol/event-log.ts";
import type { TurnEnding } from "../protocol/run.ts";
import { isEnding } from "../protocol/run.ts";

const endedBefore = "The run ended before this call did. It may or may not have taken effect.";

export class TurnRecorder {
  ending: TurnEnding | undefined;
  readonly #log: EventLog;
  readonly #open = new Map<string, EventOf<"tool_start">>();
  /** The end of the turn, if an event could not be stored. */
  #failure: TurnEnding | undefined;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Stores an event, then shows it. Throws a UserError when it cannot be stored. */
  add(event: AgentEvent): void {
    if (this.#failure) {
      this.#addLast(event);
      return;
    }
    if (isEnding(event)) this.#endCalls();
    this.#log.append(event);
    this.#count(event);
  }

  /** Called when `event` could not be stored: from then on, only calls that started are ended. */
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

  /** Adds an end to each tool call that a failure has left without one. */
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
      this.#log.show({ event }); // show the event although it cannot be stored
    }
    this.#count(event);
  }

  #count(event: AgentEvent): void {
    if (event.type === "tool_start") this.#open.set(event.callId, event);
    if (event.type === "tool_end") this.#open.delete(event.callId);
    if (isEnding(event)) this.ending = event;
  }
}

/** Returns the duration and usage of the turn, however it ended. */
function numbersOf({ durationMs, apiDurationMs, usage }: TurnEnding): Ending {
  return { durationMs, apiDurationMs, ...(usage && { usage }) };
}
