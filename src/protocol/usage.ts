// Adds up token usage and cost.
import type { Ending, Spending, Usage } from "./event.ts";

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The spending of a run that has made no request to a model. */
export const noSpending: Spending = { ...noUsage, totalCost: 0 };

/** Returns the cost in US dollars, as reported by the CLI or counted by this run; undefined if unknown. */
export function costOfEnding({ costUsd, usage }: Pick<Ending, "costUsd" | "usage">): number | undefined {
  return costUsd ?? usage?.totalCost ?? undefined;
}

/** Returns the size of the conversation after an answer: everything sent to the model, plus the answer. */
export function contextTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens;
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}
