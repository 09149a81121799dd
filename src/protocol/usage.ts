// Sums of what models used.
import type { Ending, Spending, Usage } from "./event.ts";

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** What a run used that never asked a model. */
export const noSpending: Spending = { ...noUsage, totalCost: 0 };

/** Dollars: as the CLI said, or as our own run counted it. Undefined: nobody knows. */
export function costOfEnding({ costUsd, usage }: Pick<Ending, "costUsd" | "usage">): number | undefined {
  return costUsd ?? usage?.totalCost ?? undefined;
}

/** What the conversation takes after an answer: all that the model was sent, and the answer. */
export function contextOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
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
