// A run of a fleet as a Run: events, messages, text and one result, followed through reconnects.
import { setTimeout as sleep } from "node:timers/promises";
import { tryParse } from "../../json/object.ts";
import { UserError } from "../../protocol/error-codes.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import { failedTurn } from "../../protocol/prompts.ts";
import type { Answer, Prompt, Question, TurnEnding } from "../../protocol/run.ts";
import { BudgetWatch } from "../../sdk/budget.ts";
import type { RunLoss } from "../../sdk/drivers/driver.ts";
import { EventLog } from "../../sdk/event-log.ts";
import { liveMessages } from "../../sdk/live-messages.ts";
import { RunError, type RunFacts, type RunOutcome, type RunResult } from "../../sdk/outcome.ts";
import { type Run, textOf } from "../../sdk/run.ts";
import { createNamer, type RunEvent } from "../../sdk/run-event.ts";
import { unifiedToolName } from "../../sdk/tool-names.ts";
import type { CliName, Fleet, LogEntry, RunEnd, RunRecord } from "../fleet.ts";
import { toolOf } from "../live-options.ts";
import { patchOf } from "../patch.ts";

export type FollowOptions = {
  /** Cancels the run, for everybody. */
  signal?: AbortSignal | undefined;
  /** Answers what no rule does. Without: somebody else must, or the run waits. */
  onQuestion?: ((question: Question, signal: AbortSignal) => Promise<Answer> | Answer) | undefined;
  /** The position to follow from; what happened before is not told again. */
  from?: number | undefined;
};

/** As `start` gives it, and what only a run of a fleet has. `result`: `exitCode` and `stderr` are the worker's, and not told. */
export interface FleetRun extends Omit<Run<unknown>, "session"> {
  /** Of the run. Rejects where it could not be queued. */
  readonly id: Promise<string>;
  /** How far it was followed: where to go on after a restart. */
  readonly position: number;
  readonly session: {
    /** Undefined until the CLI said it. */
    readonly id: string | undefined;
    /** The next run of the same agent: begins when this one is over. */
    send(prompt: string | Prompt): FleetRun;
  };
  /** What was changed, as `git diff --binary` tells it, once the run is over. Undefined: it had no files of its own. */
  patch(): Promise<string | undefined>;
}

export type RunHandle = {
  cli: CliName;
  open(): Promise<Fleet>;
  /** Queued, or found. */
  record(fleet: Fleet): Promise<RunRecord>;
  closed: AbortSignal;
  /** `before`: the run that it follows, when that is over. */
  next(before: () => Promise<RunRecord>, prompt: Prompt): FleetRun;
};

const longestOutageMs = 120_000;

export function followRun(handle: RunHandle, options: FollowOptions): FleetRun {
  const follower = new Follower(handle, options);
  const { log } = follower;
  const tool = toolOf(handle.cli);
  const startedAt = Date.now();
  const result = follower.work().finally(() => log.end());
  return {
    tool,
    id: follower.id,
    get position() {
      return follower.position;
    },
    events: log,
    messages: { [Symbol.asyncIterator]: () => liveMessages(log, { tool, startedAt }) },
    text: textOf(log, result),
    result,
    losses: follower.losses,
    session: {
      get id() {
        return follower.sessionId;
      },
      send: (prompt) =>
        handle.next(() => result.then(() => follower.over()), typeof prompt === "string" ? { text: prompt } : prompt),
    },
    cancel() {
      follower.cancel();
      return result;
    },
    async patch() {
      await result;
      return follower.patch();
    },
  };
}

class Follower {
  readonly log = new EventLog<RunEvent>();
  readonly losses: RunLoss[] = [];
  readonly id: Promise<string>;
  position: number;
  sessionId: string | undefined;
  readonly #handle: RunHandle;
  readonly #options: FollowOptions;
  readonly #named: (event: AgentEvent) => RunEvent;
  /** Replies of the model: a run of a fleet counts prompts. */
  readonly #counted = new BudgetWatch();
  readonly #asked = new Map<string, AbortController>();
  readonly #queued: Promise<{ fleet: Fleet; record: RunRecord }>;
  /** The run could not be queued, or is not looked at any more. */
  readonly #stop = new AbortController();
  #model: string | undefined;
  #ending: TurnEnding | undefined;
  #said = "";
  #isCancelled = false;

  constructor(handle: RunHandle, options: FollowOptions) {
    this.#handle = handle;
    this.#options = options;
    this.position = options.from ?? 0;
    this.#named = createNamer({ tool: toolOf(handle.cli), isOurs: handle.cli === "courser" });
    this.#queued = this.#queue();
    this.id = this.#queued.then(({ record }) => record.id);
    this.id.catch(() => {}); // told by the result as well
  }

  async #queue(): Promise<{ fleet: Fleet; record: RunRecord }> {
    await Promise.resolve(); // the caller gets to read from the very beginning
    this.#options.signal?.throwIfAborted();
    const fleet = await this.#handle.open();
    return { fleet, record: await this.#handle.record(fleet) };
  }

  /** Never rejects. */
  async work(): Promise<RunResult<unknown>> {
    const { signal } = this.#options;
    const { closed } = this.#handle;
    const cancel = () => this.cancel();
    const leave = () => this.#stop.abort();
    signal?.addEventListener("abort", cancel, { once: true });
    closed.addEventListener("abort", leave, { once: true });
    try {
      const { fleet, record } = await this.#queued;
      this.sessionId ??= record.sessionId;
      if (signal?.aborted) cancel();
      if (closed.aborted) leave();
      const end = await this.#follow(fleet, record.id);
      if (!end) return this.#failed("cancelled", "INTERRUPTED", "Detached; the run continues.");
      this.#conclude(end, record);
      return this.#result(end, record);
    } catch (error) {
      if (signal?.aborted)
        return this.#failed("cancelled", "INTERRUPTED", "The run was cancelled before it was queued.");
      const code = error instanceof UserError ? error.code : "INTERNAL";
      return this.#failed("error", code, (error as Error).message);
    } finally {
      signal?.removeEventListener("abort", cancel);
      closed.removeEventListener("abort", leave);
      for (const abort of this.#asked.values()) abort.abort();
    }
  }

  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    // One that could not be queued has its result by that.
    void this.#queued.then(({ fleet, record }) => fleet.cancel(record.id, "The run was cancelled.")).catch(() => {});
  }

  /** As it was at its end. */
  async over(): Promise<RunRecord> {
    const { fleet, record } = await this.#queued;
    return (await fleet.run(record.id)) ?? record;
  }

  async patch(): Promise<string | undefined> {
    try {
      const { fleet } = await this.#queued;
      return (await patchOf(fleet, await this.over()))?.toString("utf8");
    } catch (error) {
      if (error instanceof UserError) return undefined; // never queued, or its log was dropped
      throw error;
    }
  }

  async #follow(fleet: Fleet, id: string): Promise<RunEnd | undefined> {
    const { signal } = this.#stop;
    let failedAt: number | undefined;
    while (!signal.aborted) {
      try {
        for await (const entry of fleet.follow(id, this.position, signal)) {
          this.position = entry.position;
          failedAt = undefined;
          this.#take(fleet, entry);
          if (entry.entry.type === "result") return entry.entry.end;
        }
        const now = await fleet.run(id);
        if (now?.end) return now.end; // followed from behind its end
      } catch (error) {
        failedAt ??= Date.now();
        const isGone = error instanceof UserError && error.code === "FLEET_UNREACHABLE";
        if (signal.aborted || isGone || Date.now() - failedAt > longestOutageMs) throw error;
        await sleep(1000, undefined, { signal }).catch(() => {});
      }
    }
    return undefined;
  }

  #take(fleet: Fleet, { run, entry }: LogEntry): void {
    if (entry.type === "losses") this.losses.push(...entry.losses);
    else if (entry.type === "question") void this.#answer(fleet, run, entry.question);
    else if (entry.type === "question_closed") this.#asked.get(entry.question)?.abort();
    else if (entry.type === "event" && entry.agent === undefined) this.#show(entry.event);
  }

  /** The last word of a turn is told when it is known to be the last of the run. */
  #show(event: AgentEvent): void {
    this.#counted.take(event);
    if (event.type === "init") {
      this.sessionId = event.sessionId;
      this.#model = event.model;
    }
    if (event.type === "text_end") this.#said += event.text;
    if (event.type === "done" || event.type === "fail") this.#ending = event;
    else this.log.push(this.#named(event));
  }

  async #answer(fleet: Fleet, run: string, question: Question): Promise<void> {
    const { onQuestion } = this.#options;
    if (!onQuestion) return;
    const abort = new AbortController();
    this.#asked.set(question.id, abort);
    try {
      // The log may be read long after it was written: what was answered is not asked again.
      const open = await fleet.questions();
      if (!open.some((each) => each.run === run && each.question.id === question.id)) return;
      const answer = await onQuestion(question, abort.signal);
      // Somebody else may have been quicker.
      if (!abort.signal.aborted) await fleet.answer(run, { question: question.id, hash: question.hash, answer });
    } catch (error) {
      if (!(error instanceof UserError)) await fleet.cancel(run, `onQuestion failed: ${(error as Error).message}`);
    } finally {
      this.#asked.delete(question.id);
    }
  }

  /** Exactly one `done` or `fail` at the end, also where no turn told it: the run was cancelled, or its worker lost. */
  #conclude({ outcome, text, code }: RunEnd, { startedAt, createdAt }: RunRecord): void {
    const isTold = this.#ending && (this.#ending.type === "done") === (outcome === "finished");
    const why = { message: text, ...(code !== undefined && { code }) };
    this.log.push(isTold ? this.#ending! : failedTurn(why, startedAt ?? createdAt));
  }

  #result(end: RunEnd, { spec }: RunRecord): RunResult<unknown> {
    const facts = this.#facts(end);
    if (end.outcome !== "finished") {
      const outcome = outcomeOf(end);
      return { ...facts, outcome, error: new RunError(outcome, end.code ?? "CLI_FAILED", end.text) };
    }
    const data = spec.request.answerSchema === undefined ? undefined : tryParse(end.text);
    return { ...facts, outcome: "success", data };
  }

  #facts(end: RunEnd | undefined): RunFacts {
    const tool = toolOf(this.#handle.cli);
    return {
      text: end?.outcome === "finished" ? end.text : this.#said,
      sessionId: this.sessionId,
      model: this.#model,
      usage: end?.usage,
      costUsd: end?.costUsd,
      durationMs: end?.durationMs ?? 0,
      turns: this.#counted.turns,
      denials: (end?.denials ?? []).map((denial) => ({ ...denial, name: unifiedToolName(tool, denial.tool) })),
      exitCode: null,
      signal: "",
      stderr: "",
      stages: [],
      ignored: 0,
      warnings: [],
      losses: this.losses,
    };
  }

  #failed(outcome: Exclude<RunOutcome, "success">, code: string, message: string): RunResult<unknown> {
    const error = new RunError(outcome, code, message);
    this.log.push(failedTurn({ message: error.message, code }, Date.now()));
    return { ...this.#facts(undefined), outcome, error };
  }
}

/** In the words of `start`. */
function outcomeOf({ outcome, code }: RunEnd): Exclude<RunOutcome, "success"> {
  if (outcome === "cancelled") return "cancelled";
  if (code === "TERMINATED") return "crashed"; // its worker was lost
  return code === "CLI_TIMEOUT" || code === "MAX_TIME" ? "timeout" : "error";
}
