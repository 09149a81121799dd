// Counts replies, tokens and cost of a turn. What a subagent spends also counts for the agent that started it.
import { costOf, type Price } from "../model/prices.ts";
import type { Spending, Usage } from "../protocol/event.ts";
import { addUsage, noUsage } from "../protocol/usage.ts";

export class UsageBudget {
  usage: Usage = noUsage;
  /** The cost so far in US dollars, for models with known prices. */
  cost = 0;
  /** Whether the price is known for everything that was spent; undefined while nothing was. */
  #isPriced: boolean | undefined;
  replies = 0;
  /** Aborted when the run reaches its cost limit. */
  readonly overspent = new AbortController();
  readonly #parent: UsageBudget | undefined;

  constructor(parent?: UsageBudget) {
    this.#parent = parent;
  }

  /** The budget of the whole run, to which the limits apply. */
  get whole(): UsageBudget {
    return this.#parent?.whole ?? this;
  }

  add(usage: Usage, price: Price | undefined): void {
    this.usage = addUsage(this.usage, usage);
    this.#isPriced = price !== undefined && this.#isPriced !== false;
    if (price) this.cost += costOf(usage, price);
    this.#parent?.add(usage, price);
  }

  /** Returns the total for the end of a run. `price` is that of the current model, for replies without token counts. */
  total(price: Price | undefined): Spending {
    const isPriced = this.#isPriced ?? (price !== undefined || this.replies === 0);
    return { ...this.usage, totalCost: isPriced ? Math.round(this.cost * 1e6) / 1e6 : null };
  }

  countReply(): void {
    this.replies++;
    this.#parent?.countReply();
  }
}
