// Runs attempts, several at a time, and summarises the results.
import { type Attempt, type AttemptResult, runAttempt, type Status, unfinishedResult } from "./attempt.ts";
import { meanPassAtK } from "./pass-at-k.ts";
import type { ScriptOptions } from "./scripts.ts";

export type Evaluation = {
  results: AttemptResult[];
  summary: Summary;
  /** Whether the evaluation was cancelled. Unfinished attempts then count as skipped. */
  interrupted?: true;
};

export type Summary = Record<Status, number> & {
  tasks: number;
  attempts: number;
  /** pass@k by k, for the k that tasks had enough attempts for. */
  passAt: Record<string, number>;
  inputTokens: number;
  outputTokens: number;
  costUsd?: number;
  denials: number;
  steps: number;
  durationMs: number;
};

export type Progress = { started(attempt: Attempt): void; ended(attempt: Attempt, result: AttemptResult): void };

export type EvaluateOptions = Pick<ScriptOptions, "env" | "redact"> & {
  signal: AbortSignal;
  concurrency: number;
  progress?: Progress;
};

/** Runs all attempts. If cancelled, ends those that are running and returns what was finished. */
export async function evaluate(attempts: readonly Attempt[], options: EvaluateOptions): Promise<Evaluation> {
  const { env, signal, redact, concurrency, progress } = options;
  const startedAt = performance.now();
  const results: AttemptResult[] = [];
  const waiting = [...attempts.entries()];
  const work = async () => {
    while (!signal.aborted) {
      const next = waiting.shift();
      if (!next) return;
      const [index, attempt] = next;
      progress?.started(attempt);
      results[index] = await runAttempt(attempt, { env, signal, ...(redact && { redact }) });
      progress?.ended(attempt, results[index]);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(concurrency, attempts.length) }, work));
  if (!signal.aborted) for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  const complete = attempts.map((attempt, index) => results[index] ?? unfinishedResult(attempt));
  const summary = summarizeResults(complete, Math.round(performance.now() - startedAt));
  return { results: complete, summary, ...(signal.aborted && { interrupted: true }) };
}

export function summarizeResults(results: readonly AttemptResult[], durationMs: number): Summary {
  const count = (status: Status) => results.filter((each) => each.status === status).length;
  const sum = (of: (result: AttemptResult) => number) => results.reduce((total, each) => total + of(each), 0);
  const attempted = results.filter(({ status }) => status !== "skipped");
  const tasks = [...new Set(attempted.map(({ task }) => task))].map((name) => {
    const taskResults = attempted.filter(({ task }) => task === name);
    return { attempts: taskResults.length, passed: taskResults.filter(({ status }) => status === "passed").length };
  });
  const most = Math.max(0, ...tasks.map(({ attempts }) => attempts));
  const ks = Array.from({ length: most }, (_, index) => index + 1);
  const costs = results.flatMap(({ agent }) => agent.costUsd ?? []);
  return {
    tasks: new Set(results.map(({ task }) => task)).size,
    attempts: results.length,
    passed: count("passed"),
    failed: count("failed"),
    error: count("error"),
    skipped: count("skipped"),
    passAt: Object.fromEntries(ks.map((k) => [k, meanPassAtK(tasks, k)!])),
    inputTokens: sum(({ agent }) => agent.inputTokens),
    outputTokens: sum(({ agent }) => agent.outputTokens),
    ...(costs.length > 0 && { costUsd: costs.reduce((total, each) => total + each, 0) }),
    denials: sum(({ agent }) => agent.denials.length),
    steps: sum(({ agent }) => agent.steps),
    durationMs,
  };
}
