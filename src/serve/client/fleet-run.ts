// Presents a run of a fleet as a Run: events, messages, text and one result, followed through reconnects.
import { tryParse } from "../../json/object.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { onAbort } from "../../protocol/on-abort.ts";
import { failedTurn } from "../../protocol/prompts.ts";
import type { Answer, Human, Prompt, Question, TurnEnding } from "../../protocol/run.ts";
import { Broadcast } from "../../sdk/broadcast.ts";
import { BudgetWatch } from "../../sdk/budget.ts";
import { liveMessages } from "../../sdk/live-messages.ts";
import { type RunDetails, RunError, type RunOutcome, type RunResult } from "../../sdk/outcome.ts";
import { answerText, type Run } from "../../sdk/run.ts";
import { createNamer, type RunEvent } from "../../sdk/run-event.ts";
import { unifiedToolName } from "../../sdk/tool-names.ts";
import type { UnifiedTool } from "../../sdk/unified.ts";
import { AttachedRun } from "../attached-run.ts";
import type { CliName, Fleet, RunEnd, RunRecord } from "../fleet.ts";
import { toolForCli } from "../live-options.ts";
import { patchOf } from "../patch.ts";

/** Options for following a run of a fleet. */
export type FollowOptions = {
  /** Cancels the run for every client when this signal is aborted. */
  signal?: AbortSignal | undefined;
  /** Answers questions that no rule decides. Without it the run waits until another client answers. */
  onQuestion?: ((question: Question, signal: AbortSignal) => Promise<Answer> | Answer) | undefined;
  /** The log position to follow from; earlier events are not repeated. */
  from?: number | undefined;
};

/** A run as `start` returns it, plus what only a fleet has. In `result`, `exitCode` and `stderr` stay empty: only the worker knows them. */
export interface FleetRun extends Omit<Run<unknown>, "session"> {
  /** The id of the run. Rejects if it could not be queued. */
  readonly id: Promise<string>;
  /** The log position that was reached: pass it as `from` to resume after a restart. */
  readonly position: number;
  readonly session: {
    /** The session's id; undefined until the agent CLI reports it. */
    readonly id: string | undefined;
    /** Queues another run of the same agent, which starts when this one has ended. */
    send(prompt: string | Prompt): FleetRun;
  };
  /** The run's changes in the format of `git diff --binary`, after its end. Undefined without files of its own. */
  patch(): Promise<string | undefined>;
}

export type RunHandle = {
  cli: CliName;
  open(): Promise<Fleet>;
  /** Queues the run, or looks up an existing one. */
  record(fleet: Fleet): Promise<RunRecord>;
  closed: AbortSignal;
  /** Creates the agent's next run; `before` resolves with the preceding run when it has ended. */
  next(before: () => Promise<RunRecord>, prompt: Prompt): FleetRun;
};

export class FollowedRun implements FleetRun {
  readonly tool: UnifiedTool;
  readonly id: Promise<string>;
  readonly events = new Broadcast<RunEvent>();
  readonly messages: FleetRun["messages"];
  readonly text: FleetRun["text"];
  readonly result: FleetRun["result"];
  readonly session: FleetRun["session"];
  readonly #handle: RunHandle;
  readonly #options: FollowOptions;
  /** Counts the model's replies, because a run of a fleet counts prompts. */
  readonly #counted = new BudgetWatch();
  readonly #queued: Promise<{ fleet: Fleet; record: RunRecord }>;
  #run: AttachedRun | undefined;
  #model: string | undefined;
  #ending: TurnEnding | undefined;
  #said = "";
  #isCancelled = false;

  constructor(handle: RunHandle, options: FollowOptions) {
    this.#handle = handle;
    this.#options = options;
    this.tool = toolForCli(handle.cli);
    this.#queued = this.#queue();
    this.id = this.#queued.then(({ record }) => record.id);
    this.id.catch(() => {}); // a rejection is also reported in the result
    this.result = this.#runToEnd().finally(() => this.events.end());
    this.text = answerText(this.events, this.result);
    const about = { tool: this.tool, startedAt: Date.now() };
    this.messages = { [Symbol.asyncIterator]: () => liveMessages(this.events, about) };
    const sessionId = () => this.#run?.chatId || undefined;
    this.session = {
      get id() {
        return sessionId();
      },
      send: (prompt) =>
        handle.next(() => this.#waitForRecord(), typeof prompt === "string" ? { text: prompt } : prompt),
    };
  }

  get position(): number {
    return this.#run?.position ?? this.#options.from ?? 0;
  }

  get losses(): FleetRun["losses"] {
    return this.#run?.losses ?? [];
  }

  async #queue(): Promise<{ fleet: Fleet; record: RunRecord }> {
    await Promise.resolve(); // let the caller subscribe before the first event
    this.#options.signal?.throwIfAborted();
    const fleet = await this.#handle.open();
    return { fleet, record: await this.#handle.record(fleet) };
  }

  /** Follows the run to its end. Never rejects: a failure becomes a result. */
  async #runToEnd(): Promise<RunResult<unknown>> {
    const { signal, from } = this.#options;
    const { closed } = this.#handle;
    let forget: (() => void)[] = [];
    try {
      const { fleet, record } = await this.#queued;
      const human = this.#humanFromCallback(fleet, record.id);
      const run = new AttachedRun(fleet, record, {
        start: async () => {},
        ...(from !== undefined && { from }),
        ...(human && { human }),
      });
      this.#run = run;
      forget = [onAbort(signal, () => void this.cancel()), onAbort(closed, () => void run.close())];
      const showing = this.#show(run);
      await run.settled;
      await run.close();
      await showing;
      if (run.failure) return this.#failed("error", run.failure.code, run.failure.message);
      const { end } = (closed.aborted ? undefined : await fleet.run(record.id)) ?? {};
      if (!end) return this.#failed("cancelled", "INTERRUPTED", "Detached; the run continues.");
      this.#conclude(end, record);
      return this.#result(end, record);
    } catch (error) {
      if (signal?.aborted)
        return this.#failed("cancelled", "INTERRUPTED", "The run was cancelled before it was queued.");
      const code = error instanceof UserError ? error.code : "INTERNAL";
      return this.#failed("error", code, (error as Error).message);
    } finally {
      for (const each of forget) each();
    }
  }

  cancel(): Promise<RunResult<unknown>> {
    // If the run could not be queued, its result is already set.
    if (!this.#isCancelled)
      void this.#queued.then(({ fleet, record }) => fleet.cancel(record.id, "The run was cancelled.")).catch(() => {});
    this.#isCancelled = true;
    return this.result;
  }

  async patch(): Promise<string | undefined> {
    try {
      const record = await this.#waitForRecord();
      return (await patchOf((await this.#queued).fleet, record))?.toString("utf8");
    } catch (error) {
      if (error instanceof UserError) return undefined; // the run was never queued, or its log was deleted
      throw error;
    }
  }

  async #waitForRecord(): Promise<RunRecord> {
    await this.result;
    const { fleet, record } = await this.#queued;
    return (await fleet.run(record.id)) ?? record;
  }

  /** Forwards the events. A turn's `done` or `fail` is held back until it is known to be the last of the run. */
  async #show(run: AttachedRun): Promise<void> {
    const named = createNamer({ tool: this.tool, isOurs: this.#handle.cli === "courser" });
    for await (const { event, agent } of run.events()) {
      if (agent !== undefined) continue;
      this.#counted.take(event);
      if (event.type === "init") this.#model = event.model;
      if (event.type === "text_end") this.#said += event.text;
      if (event.type === "done" || event.type === "fail") this.#ending = event;
      else this.events.push(named(event));
    }
  }

  /** Cancels the run when the callback throws, because its question would stay unanswered. */
  #humanFromCallback(fleet: Fleet, run: string): Human | undefined {
    const { onQuestion } = this.#options;
    if (!onQuestion) return undefined;
    const ask = async (question: Question, signal: AbortSignal) => {
      try {
        return await onQuestion(question, signal);
      } catch (error) {
        await fleet.cancel(run, `onQuestion failed: ${(error as Error).message}`);
        throw error;
      }
    };
    return { ask };
  }

  /** Emits exactly one `done` or `fail` at the end, even if no turn did because the run was cancelled or its worker was lost. */
  #conclude({ outcome, text, code }: RunEnd, { startedAt, createdAt }: RunRecord): void {
    const isTold = this.#ending && (this.#ending.type === "done") === (outcome === "finished");
    const why = { message: text, ...(code !== undefined && { code }) };
    this.events.push(isTold ? this.#ending! : failedTurn(why, startedAt ?? createdAt));
  }

  #result(end: RunEnd, { spec }: RunRecord): RunResult<unknown> {
    const details = this.#details(end);
    if (end.outcome !== "finished") {
      const outcome = failedOutcome(end);
      return { ...details, outcome, error: new RunError(outcome, end.code ?? "CLI_FAILED", end.text) };
    }
    const data = spec.request.answerSchema === undefined ? undefined : tryParse(end.text);
    return { ...details, outcome: "success", data };
  }

  #details(end: RunEnd | undefined): RunDetails {
    return {
      text: end?.outcome === "finished" ? end.text : this.#said,
      sessionId: this.session.id,
      model: this.#model,
      usage: end?.usage,
      costUsd: end?.costUsd,
      durationMs: end?.durationMs ?? 0,
      turns: this.#counted.turns,
      denials: (end?.denials ?? []).map((denial) => ({ ...denial, name: unifiedToolName(this.tool, denial.tool) })),
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
    this.events.push(failedTurn({ message: error.message, code }, Date.now()));
    return { ...this.#details(undefined), outcome, error };
  }
}

/** Maps the end of a run to an outcome as `start` names it. */
function failedOutcome({ outcome, code }: RunEnd): Exclude<RunOutcome, "success"> {
  if (outcome === "cancelled") return "cancelled";
  if (code === "TERMINATED") return "crashed"; // the worker was lost during the run
  return code === "CLI_TIMEOUT" || code === "MAX_TIME" ? "timeout" : "error";
}
