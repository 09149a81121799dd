// BudgetWatch: counts the turns, tokens and cost of a run and reports when a limit is exceeded.

import type { ErrorCode } from "../protocol/error-codes.ts";
import type { AgentEvent, Usage } from "../protocol/event.ts";
import { addUsage, costOfEnding } from "../protocol/usage.ts";
import type { Budget } from "./drivers/driver.ts";

export type Breach = { code: ErrorCode; message: string };

export class BudgetWatch {
  readonly #budget: Budget;
  readonly #limitsTurns: boolean;
  readonly #openCalls = new Set<string>();
  #isReplying = false;
  /** The usage of the turns that have ended. */
  #usage: Usage | undefined;
  /** The usage of the current turn, as far as its stream has reported it. */
  #spent: Usage | undefined;
  costUsd: number | undefined;
  turns = 0;

  /** `limitsTurns` is true for a CLI that enforces the turn limit itself. */
  constructor(budget: Budget = {}, { limitsTurns = false }: { limitsTurns?: boolean } = {}) {
    this.#budget = budget;
    this.#limitsTurns = limitsTurns;
  }

  get usage(): Usage | undefined {
    return sumUsage(this.#usage, this.#spent);
  }

  /** Must be called with every event. Returns undefined while the run is within its limits. */
  take(event: AgentEvent): Breach | undefined {
    switch (event.type) {
      case "tool_start":
        this.#openCalls.add(event.callId);
        this.#reply();
        break;
      case "text":
      case "text_end":
      case "thinking":
        this.#reply();
        break;
      case "tool_end":
        this.#openCalls.delete(event.callId);
        // Once all results are in, whatever the model says next counts as a new reply.
        if (this.#openCalls.size === 0) this.#isReplying = false;
        break;
      case "notice":
        if (event.kind === "usage") this.#spent = sumUsage(this.#spent, event.fields as Usage | undefined);
        break;
      case "done":
      case "fail":
        this.#usage = sumUsage(this.#usage, event.usage ?? this.#spent);
        this.#spent = undefined;
        this.#isReplying = false;
        this.costUsd = addCounts(this.costUsd, costOfEnding(event));
        break;
    }
    return this.breach();
  }

  breach(): Breach | undefined {
    const { turns, tokens, costUsd } = this.#budget;
    // A reply that calls a tool requires at least one more reply.
    const needed = this.turns + (!this.#limitsTurns && this.#openCalls.size > 0 ? 1 : 0);
    if (turns !== undefined && needed > turns) {
      return { code: "MAX_TURNS", message: `The run reached its limit of ${turns} replies of the model.` };
    }
    const used = this.usage;
    if (tokens !== undefined && used && used.inputTokens + used.outputTokens > tokens) {
      return { code: "MAX_TOKENS", message: `The run reached its limit of ${tokens} tokens.` };
    }
    if (costUsd !== undefined && (this.costUsd ?? 0) > costUsd) {
      return { code: "MAX_COST", message: `The run reached its limit of ${costUsd} dollars.` };
    }
    return undefined;
  }

  #reply(): void {
    if (this.#isReplying) return;
    this.#isReplying = true;
    this.turns++;
  }
}

function sumUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  return one && other ? addUsage(one, other) : (one ?? other);
}

function addCounts(sum: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? sum : (sum ?? 0) + more;
}
