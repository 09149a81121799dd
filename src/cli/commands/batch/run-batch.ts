// Executes the lines of a batch, several at once, until all are done, the budget is spent or the user stops it.
import { createHash } from "node:crypto";
import { UserError } from "../../../protocol/error-codes.ts";
import type { Fleet, NewRun, RunRecord } from "../../../serve/fleet.ts";
import type { Launch } from "../../../serve/launcher.ts";
import { ManyRuns } from "../../../serve/many-runs.ts";
import { patchOf } from "../../../serve/patch.ts";
import type { BatchItem } from "./lines.ts";
import type { BatchCounts, BatchProgress } from "./progress.ts";
import type { BatchResult, BatchResults } from "./results.ts";

export type BatchPlan = {
  fleet: Fleet;
  launch: Launch;
  items: readonly BatchItem[];
  results: BatchResults;
  concurrency: number;
  maxCost?: number;
  retryFailed: boolean;
  /** Turns a line into a run, sending its files and creating its worktree. */
  prepare(item: BatchItem, names: { id: string; agent: string }): Promise<NewRun>;
  /** When aborted, no further runs are started. */
  stop: AbortSignal;
  /** When aborted, the batch also stops waiting for runs that have started. */
  leave: AbortSignal;
};

export type Failure = Pick<BatchResult, "id" | "line" | "run" | "outcome" | "code" | "text">;

export type BatchEnd = {
  total: number;
  passed: number;
  failed: number;
  notStarted: number;
  /** Runs that were still going when the batch left them. */
  left: readonly string[];
  costUsd: number;
  /** The number of finished runs whose cost is unknown. */
  unpriced: number;
  durationMs: number;
  isOverBudget: boolean;
  /** The failures since the batch was started, limited to the number that is shown. */
  failures: readonly Failure[];
};

const maxPatchBytes = 1024 * 1024;
const maxFailures = 100;

export class Batch {
  readonly counts: BatchCounts;
  readonly #plan: BatchPlan;
  readonly #progress: BatchProgress;
  readonly #failures: Failure[] = [];
  readonly #running = new Set<string>();
  #unpriced = 0;
  #many: ManyRuns | undefined;

  constructor(plan: BatchPlan, progress: (counts: BatchCounts) => BatchProgress) {
    const { items, results, retryFailed } = plan;
    this.#plan = plan;
    const earlier = items.flatMap(({ id }) => results.earlier.get(id) ?? []);
    const passed = earlier.filter(({ outcome }) => outcome === "success").length;
    const failed = retryFailed ? 0 : earlier.length - passed;
    this.counts = {
      total: items.length,
      passed,
      failed,
      running: 0,
      costUsd: earlier.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0),
      startedAt: Date.now(),
      earlier: passed + failed,
    };
    this.#progress = progress(this.counts);
  }

  get isOverBudget(): boolean {
    return this.#plan.maxCost !== undefined && this.counts.costUsd >= this.#plan.maxCost;
  }

  get inFlight(): number {
    return this.#many?.unfinished.length ?? 0;
  }

  printLine(line: string): void {
    this.#progress.say(line);
  }

  /** Rejects if runs cannot be started or results cannot be written; the lines already written are whole. */
  async work(): Promise<BatchEnd> {
    const { fleet, launch, leave, items, concurrency } = this.#plan;
    const { counts } = this;
    const many = await ManyRuns.open(fleet, launch, {
      onStarted: (run) => {
        this.#running.add(run);
        counts.running = this.#running.size;
        this.#progress.update();
      },
    });
    this.#many = many;
    const left = new Promise<void>((resolve) => leave.addEventListener("abort", () => resolve(), { once: true }));
    const queue = this.#pending(items);
    let failure: Error | undefined;
    const lane = async () => {
      for (const { item, attempt } of queue) {
        try {
          await this.#carryOut(item, attempt);
        } catch (error) {
          failure ??= error as Error;
        }
        if (failure) return;
      }
    };
    const lanes = Array.from({ length: Math.min(concurrency, items.length) }, lane);
    await Promise.race([Promise.all(lanes), left]);
    const unfinished = many.unfinished;
    await many.close();
    this.#progress.close();
    if (failure) throw failure;
    return this.#end(unfinished);
  }

  /** Yields the remaining items, one per free slot, while more may start. */
  *#pending(items: readonly BatchItem[]): Generator<{ item: BatchItem; attempt: number }> {
    const { results, stop, retryFailed } = this.#plan;
    for (const item of items) {
      const earlier = results.earlier.get(item.id);
      if (earlier && (earlier.outcome === "success" || !retryFailed)) continue;
      if (stop.aborted || this.isOverBudget) return;
      yield { item, attempt: (earlier?.attempt ?? 0) + 1 };
    }
  }

  async #carryOut(item: BatchItem, attempt: number): Promise<void> {
    const { results, prepare, fleet, leave } = this.#plan;
    const names = namesOf(results.batch, item.id, attempt);
    // A run that already exists was started earlier: its files need not be sent again.
    const existingRun = await fleet.run(names.id);
    const run = existingRun
      ? { id: existingRun.id, agent: existingRun.agent, spec: existingRun.spec }
      : await prepare(item, names);
    const record = await this.#many!.run(run);
    if (leave.aborted) return;
    const result = await batchResult(fleet, record, item, attempt);
    results.add(result);
    this.#count(result);
    this.#running.delete(record.id);
    this.counts.running = this.#running.size;
    this.#progress.ended(result);
  }

  #count({ id, line, run, outcome, code, text, costUsd }: BatchResult): void {
    const { counts } = this;
    if (outcome === "success") counts.passed++;
    else counts.failed++;
    if (costUsd === undefined) this.#unpriced++;
    else counts.costUsd += costUsd;
    if (outcome !== "success" && this.#failures.length < maxFailures)
      this.#failures.push({ id, line, run, outcome, ...(code !== undefined && { code }), text });
  }

  #end(left: readonly string[]): BatchEnd {
    const { total, passed, failed, costUsd, startedAt } = this.counts;
    return {
      total,
      passed,
      failed,
      notStarted: total - passed - failed - left.length,
      left,
      costUsd,
      unpriced: this.#unpriced,
      durationMs: Date.now() - startedAt,
      isOverBudget: this.isOverBudget && passed + failed < total,
      failures: this.#failures,
    };
  }
}

/** Derives the same names at every start, so that a run still going is found again. */
function namesOf(batch: string, id: string, attempt: number): { id: string; agent: string } {
  const hex = createHash("sha256").update(`${batch}\n${id}\n${attempt}`).digest("hex");
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)];
  return { id: `run-${uuid.join("-")}`, agent: `bc-${uuid.join("-")}` };
}

async function batchResult(fleet: Fleet, run: RunRecord, item: BatchItem, attempt: number): Promise<BatchResult> {
  const { end } = run;
  if (!end) throw new UserError("NO_RESULT", `${run.id} is over without a result.`);
  const { outcome, text, code, durationMs, turns, usage, costUsd, denials, branch } = end;
  const patch = await patchOf(fleet, run);
  return {
    id: item.id,
    line: item.number,
    run: run.id,
    attempt,
    outcome: outcome === "finished" ? "success" : outcome,
    text,
    ...(code !== undefined && { code }),
    ...(run.sessionId !== undefined && { sessionId: run.sessionId }),
    ...(usage && { usage }),
    ...(costUsd !== undefined && { costUsd }),
    durationMs,
    turns,
    ...(denials && { denials }),
    ...(patch && { patchBytes: patch.length }),
    ...(patch && patch.length <= maxPatchBytes && { patch: patch.toString("utf8") }),
    ...(branch !== undefined && { branch }),
  };
}
