// AgentStream: what every decoder of an agent CLI's lines needs: its open calls, its text, what was used, and the ending.
import type { AgentEvent, Ending, Usage } from "../../protocol/event.ts";
import { derived } from "../../protocol/stream-json.ts";
import { addUsage } from "../../protocol/usage.ts";
import type { UnifiedTool } from "../unified.ts";
import type { DriverRequest } from "./driver.ts";
import { ForeignCalls, ForeignText } from "./foreign-calls.ts";

type Init = Extract<AgentEvent, { type: "init" }>;

/** The state of one stream, given to the readers of its lines. */
export class AgentStream {
  /** Converts tool calls and their results to events. */
  readonly calls: ForeignCalls;
  /** Converts streamed pieces and complete texts to events. */
  readonly text = new ForeignText();
  readonly #request: DriverRequest;
  readonly #startedAt = Date.now();
  #usage: Usage | undefined;
  #costUsd: number | undefined;
  #refusals = 0;

  constructor(tool: UnifiedTool, request: DriverRequest) {
    this.#request = request;
    this.calls = new ForeignCalls(tool, request.connection?.changedInputs);
  }

  /** The event that begins a run. What the CLI does not report is taken from the request. */
  begin(sessionId: string, more: Partial<Init> = {}): Init {
    const { cwd, permissionMode, model } = this.#request;
    const details = { cwd, permissionMode, apiKeySource: "", ...(model !== undefined && { model }) };
    return { type: "init", sessionId, ...details, ...more };
  }

  /** Adds the usage and the cost of one reply, if it has them, and returns the event that reports it. */
  used(usage: Usage | undefined, costUsd?: number): AgentEvent[] {
    if (costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
    if (!usage) return [];
    this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage;
    return [{ type: "notice", kind: "usage", message: "", fields: usage }];
  }

  /** Returns the events that end a successful turn. */
  done(details: Partial<Ending> = {}): AgentEvent[] {
    return [...this.text.flush(), { type: "done", text: this.text.whole, ...this.#endingWithUsage(), ...details }];
  }

  /** The events that end a turn that failed. The code is found in the message, if it is not given. */
  fail(message: string, details: Partial<Ending> & { code?: string } = {}): AgentEvent[] {
    return [...this.text.flush(), { type: "fail", message, ...this.#endingWithUsage(), ...details }];
  }

  /** Calls that a callback denied since the last time, for CLIs that do not report them. */
  denied(): AgentEvent[] {
    const denied = this.#request.connection?.refusedCalls?.slice(this.#refusals) ?? [];
    this.#refusals += denied.length;
    return denied.flatMap(({ id, name, input, reason }) =>
      [
        ...this.text.flush(),
        this.calls.start({ id, name, input }),
        this.calls.end(id, { text: reason, isError: true, refused: true }),
      ].map((event) => ({ ...event, carried: { ...(event.carried as object), ...derived } })),
    );
  }

  /** Returns the ending with the usage of this turn. The next turn in the same stream counts from here. */
  #endingWithUsage(): Ending {
    const durationMs = Date.now() - this.#startedAt;
    const [usage, costUsd] = [this.#usage, this.#costUsd];
    this.#usage = undefined;
    this.#costUsd = undefined;
    return {
      durationMs,
      apiDurationMs: durationMs,
      ...(usage && { usage }),
      ...(costUsd !== undefined && { costUsd }),
    };
  }
}
