// Spending: replies, tokens and money of a turn. What a subagent spends counts for whoever started it as well.
import { costOf, type Price } from "../model/prices.ts";
import type { Spending, Usage } from "../protocol/event.ts";
import { addUsage, noUsage } from "../protocol/usage.ts";

export class UsageBudget {
  usage: Usage = noUsage;
  /** Dollars, as far as prices are known. */
  cost = 0;
  /** Undefined: nothing was spent so far. */
  #isPriced: boolean | undefined;
  /** Answers of models. */
  replies = 0;
  /** Aborted when the run may spend nothing more. */
  readonly overspent = new AbortController();
  readonly #parent: UsageBudget | undefined;

  constructor(parent?: UsageBudget) {
    this.#parent = parent;
  }

  /** Of the whole run: limits are about that. */
  get whole(): UsageBudget {
    return this.#parent?.whole ?? this;
  }

  add(usage: Usage, price: Price | undefined): void {
    this.usage = addUsage(this.usage, usage);
    this.#isPriced = price !== undefined && this.#isPriced !== false;
    if (price) this.cost += costOf(usage, price);
    this.#parent?.add(usage, price);
  }

  /** What the end of a run tells. `price`: of the model that is asked, for replies that came without a count. */
  total(price: Price | undefined): Spending {
    const isPriced = this.#isPriced ?? (price !== undefined || this.replies === 0);
    return { ...this.usage, totalCost: isPriced ? Math.round(this.cost * 1e6) / 1e6 : null };
  }

  countReply(): void {
    this.replies++;
    this.#parent?.countReply();
  }
}
