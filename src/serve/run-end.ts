// Computes the end of a run from the ends of its turns.
import type { UserError } from "../protocol/error-codes.ts";
import type { TurnEnding } from "../protocol/run.ts";
import { addUsage, costOfEnding, noUsage } from "../protocol/usage.ts";
import type { RunEnd, RunRecord } from "./fleet.ts";

/** Builds the end of a run, for which the last turn decides. `error` is set if the CLI's process failed. */
export function runEnd(
  endings: readonly TurnEnding[],
  run: RunRecord,
  error: { message: string; code: string } | undefined,
): RunEnd {
  const last = endings.at(-1);
  const why = error ?? (last?.type === "fail" ? last : undefined) ?? (last ? undefined : noTurn);
  const base = { durationMs: Date.now() - (run.startedAt ?? run.createdAt), turns: 0 };
  if (last?.type === "done" && !error) return addEndings({ outcome: "finished", text: last.text, ...base }, endings);
  const code = why?.code === undefined ? {} : { code: why.code };
  const isStopped = why?.code === "INTERRUPTED" || why?.code === "TERMINATED";
  const outcome = isStopped ? "cancelled" : "error";
  return addEndings({ outcome, text: why?.message ?? "", ...code, ...base }, endings);
}

const noTurn = { message: "The run ended before its first turn was finished.", code: "NO_RESULT" };

export function failedEnd(error: UserError, run: RunRecord, outcome: "error" | "cancelled"): RunEnd {
  const durationMs = Date.now() - (run.startedAt ?? run.createdAt);
  return { outcome, text: error.message, code: error.code, durationMs, turns: 0 };
}

/** Adds the totals of all turns: usage, cost and denials. */
export function addEndings(end: RunEnd, endings: readonly TurnEnding[]): RunEnd {
  const usages = endings.flatMap(({ usage }) => usage ?? []);
  const costs = endings.flatMap((ending) => costOfEnding(ending) ?? []);
  const denials = endings.flatMap((ending) => ending.denials ?? []);
  return {
    ...end,
    turns: endings.length,
    ...(usages.length > 0 && { usage: usages.reduce(addUsage, noUsage) }),
    ...(costs.length > 0 && { costUsd: costs.reduce((sum, cost) => sum + cost, 0) }),
    ...(denials.length > 0 && { denials }),
  };
}
