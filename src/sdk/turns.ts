// Runs the turns of one run: starts a CLI, decodes its lines into events, and combines what happened into one result.
import { isObject } from "../json/object.ts";
import { schemaProblem } from "../json/schema-check.ts";
import { BoundedBytes } from "../process/bounded-bytes.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent, Denial, EventOf } from "../protocol/event.ts";
import type { TurnEnding } from "../protocol/run.ts";
import { derived } from "../protocol/stream-json.ts";
import { displayNameOf } from "../protocol/tool-calls.ts";
import { type Breach, BudgetWatch } from "./budget.ts";
import { type CliEnd, RunningCli } from "./child.ts";
import type { AgentDriver, DriverRequest, RunLoss } from "./drivers/driver.ts";
import { explainedFailure } from "./drivers/failures.ts";
import type { FoundCli } from "./find-cli.ts";
import { judge, type RunDenial, type RunDetails, RunError, type RunFailure, type RunResult } from "./outcome.ts";
import { type AnyOptions, defaultGraceMs, defaultIdleMs } from "./start-options.ts";
import {
  type AnswerSchema,
  type CheckedAnswer,
  checkAnswer,
  checkValue,
  repairPrompt,
  withSchema,
} from "./structured.ts";
import { unifiedToolName } from "./tool-names.ts";

/** The parts of a run that stay the same in all its turns. */
export type RunPlan = {
  /** When the run started, from `performance.now()`. */
  startedAt: number;
  driver: AgentDriver;
  cli: FoundCli;
  request: DriverRequest;
  options: AnyOptions;
  /** The JSON Schema of the answer that the model receives. */
  shape?: object;
  signal: AbortSignal;
  /** Returns the error that a callback threw, if one did. */
  failure(): RunError | undefined;
  /** Returns whether the CLI waits for a callback of this process. */
  isWaiting(): boolean;
  /** The list to which the driver's losses are added. */
  losses: RunLoss[];
  /** Returns a promise to await before publishing more, if readers have fallen behind. */
  publish(event: AgentEvent): Promise<void> | undefined;
  onStart(started: { pid: number; command: readonly string[] }): void;
  onStdout(chunk: Buffer): void;
  onStderr(chunk: Buffer): void;
};

export class Turns {
  readonly #plan: RunPlan;
  readonly #watch: BudgetWatch;
  readonly #startedAt: number;
  readonly #openCalls = new Map<string, EventOf<"tool_start">>();
  readonly #denials: RunDenial[] = [];
  #sessionId: string | undefined;
  #model: string | undefined;
  #segments: string[] = [];
  /** The index of the first text segment after the last tool call. */
  #lastSegment = 0;
  #ending: TurnEnding | undefined;
  #isTold = false;
  #ignored = 0;
  /** Why the CLI last retried its request to the model. */
  #retried: string | undefined;
  #stderr = new BoundedBytes(stderrBytes);
  /** The calls that were refused since the last turn ended. */
  #refused: Denial[] = [];

  constructor(plan: RunPlan) {
    this.#plan = plan;
    this.#startedAt = plan.startedAt;
    const { resume, fork } = plan.request;
    if (typeof resume === "string" && !fork) this.#sessionId = resume;
    this.#watch = new BudgetWatch(plan.request.budget, plan.driver);
  }

  async run(): Promise<RunResult<unknown>> {
    const { request, options } = this.#plan;
    const { schema } = options;
    let { end, error } = await this.#turn(this.#asking(request, request.prompt));
    let data: unknown;
    if (schema && !error) {
      let checked = await this.#check(schema);
      if (checked.fault !== undefined) ({ end, error, checked } = await this.#repair(checked.fault, schema, end));
      if (checked.fault === undefined) data = checked.data;
      else error ??= new RunError("error", "OUTPUT_SCHEMA", `The answer does not fit the schema: ${checked.fault}.`);
    }
    await this.#finish(error);
    const details = this.#details(end);
    return error ? { ...details, outcome: error.outcome, error } : { ...details, outcome: "success", data };
  }

  /** Uses the CLI's native structured output if it accepts this schema; else describes the schema in the prompt. */
  #asking(request: DriverRequest, prompt: string): DriverRequest {
    const { driver, cli, options, shape } = this.#plan;
    if (!options.schema) return request;
    const isNative = shape && driver.capabilities(cli).schema && driver.takesSchema?.(shape) !== false;
    if (isNative && schemaProblem(shape) === undefined) return { ...request, prompt, answerSchema: shape };
    return { ...request, prompt: withSchema(prompt, shape) };
  }

  /** Asks for the answer again, in one more turn of the same session. */
  async #repair(fault: string, schema: AnswerSchema, before: CliEnd) {
    const unrepaired = { end: before, error: undefined, checked: { fault } };
    const { driver, request, cli } = this.#plan;
    if (this.#sessionId === undefined || !driver.capabilities(cli).resume || this.#watch.breach()) return unrepaired;
    const message = `The answer does not match the schema (${fault}). It is requested once more.`;
    await this.#plan.publish({ type: "notice", kind: "repair", message, at: Date.now(), carried: derived });
    const { images: _sent, fork: _done, budget, ...again } = request;
    const left = budget?.turns === undefined ? budget : { ...budget, turns: budget.turns - this.#watch.turns };
    if (left?.turns !== undefined && left.turns <= 0) return unrepaired;
    this.#segments = [];
    this.#lastSegment = 0;
    this.#ending = undefined;
    const asked = this.#asking(
      { ...again, ...(left && { budget: left }), resume: this.#sessionId },
      repairPrompt(fault),
    );
    const { end, error } = await this.#turn(asked);
    return { end, error, checked: error ? { fault } : await this.#check(schema) };
  }

  /** Looks for the answer after the last tool call first, then in the whole text. */
  async #check(schema: AnswerSchema): Promise<CheckedAnswer> {
    const structuredValue = this.#ending?.type === "done" ? this.#ending.structured : undefined;
    if (structuredValue !== undefined) return checkValue(structuredValue, schema);
    const last = this.#segments.slice(this.#lastSegment).join("");
    const checked = await checkAnswer(last, schema);
    if (checked.fault === undefined || last === this.#text()) return checked;
    const whole = await checkAnswer(this.#text(), schema);
    return whole.fault === undefined || last === "" ? whole : checked;
  }

  async #turn(request: DriverRequest): Promise<{ end: CliEnd; error: RunError | undefined }> {
    const { driver, cli, losses, options, signal } = this.#plan;
    const { extraArgs = [], env, idleMs = defaultIdleMs, graceMs = defaultGraceMs, resultGraceMs } = options;
    const launch = driver.command(request, cli);
    for (const loss of launch.losses) if (!losses.some((known) => known.option === loss.option)) losses.push(loss);
    const [command, ...first] = cli.words;
    const args = [...first, ...launch.args, ...extraArgs];
    const limit = this.#limit();
    const child = new RunningCli({
      command: command!,
      program: driver.programs[0]!,
      args,
      cwd: request.cwd,
      env: { ...env, ...launch.env },
      prompt: launch.prompt ?? request.prompt,
      promptVia: launch.promptVia ?? "auto",
      ...(limit.timeoutMs !== undefined && { timeoutMs: limit.timeoutMs }),
      ...(Number.isFinite(idleMs) && { idleMs }),
      graceMs,
      resultGraceMs,
      signal,
      isWaiting: this.#plan.isWaiting,
      parser: { onNoise: options.onNoise ?? "fail", types: driver.frames },
      onStdout: this.#plan.onStdout,
      onStderr: (chunk) => {
        this.#stderr.push(chunk);
        this.#plan.onStderr(chunk);
      },
    });
    if (child.pid !== 0) this.#plan.onStart({ pid: child.pid, command: [command!, ...args] });
    let breach: Breach | undefined;
    const decode = driver.decoder(request);
    const place = { env: { ...process.env, ...env, ...launch.env }, since: Date.now(), resume: request.resume };
    const addDetails = driver.addDetails?.(place);
    for await (const batch of child.batches) {
      for (const { kind, value } of batch) {
        for (const decoded of decode(value)) {
          const detailed = addDetails?.(decoded) ?? decoded;
          const event = detailed instanceof Promise ? await detailed : detailed;
          this.#note(event);
          // Unknown frames were already counted by the parser.
          if (event.type === "other" && kind === "frame") this.#ignored++;
          const passed = this.#watch.take(event);
          if (passed && !breach) {
            breach = passed;
            child.halt();
          }
          // Hold back the end of the turn, since another turn may follow in this run.
          if (event.type === "done" || event.type === "fail") continue;
          const full = this.#plan.publish(event);
          if (full) await full;
        }
      }
    }
    // If the answer is final already, publish the end without waiting for the process to exit.
    if (!breach && !this.#plan.failure() && !options.schema && child.stopReason() === undefined)
      await this.#emitEnding();
    const end = await child.ended;
    if (!breach && end.stop === "timedOut" && limit.isBudget) {
      const message = `The run reached its limit of ${this.#plan.request.budget!.timeMs} ms.`;
      breach = { code: "MAX_TIME", message };
    }
    this.#ignored += end.ignored;
    const failure = this.#plan.failure();
    if (failure) return { end, error: failure };
    if (breach) return { end, error: new RunError("error", breach.code, breach.message) };
    return { end, error: judge(end, this.#ending, driver, this.#retried) };
  }

  /** Returns the shorter of the run's time limit and the time in its budget. */
  #limit(): { timeoutMs?: number; isBudget: boolean } {
    const { timeoutMs, budget: { timeMs: budget } = {} } = this.#plan.options;
    const limitMs = Math.min(timeoutMs ?? Number.POSITIVE_INFINITY, budget ?? Number.POSITIVE_INFINITY);
    if (!Number.isFinite(limitMs)) return { isBudget: false };
    const left = Math.max(1, limitMs - (performance.now() - this.#startedAt));
    return { timeoutMs: Math.round(left), isBudget: limitMs !== timeoutMs };
  }

  #note(event: AgentEvent): void {
    switch (event.type) {
      case "init":
        if (event.sessionId !== "") this.#sessionId = event.sessionId;
        this.#model = event.model ?? this.#model;
        break;
      case "text_end":
        this.#segments.push(event.text);
        break;
      case "tool_start":
        this.#openCalls.set(event.callId, event);
        this.#lastSegment = this.#segments.length;
        break;
      case "tool_end":
        this.#openCalls.delete(event.callId);
        if (event.outcome?.kind === "rejected") this.#refused.push(denialOf(event));
        break;
      case "retry":
        this.#retried = event.reason;
        break;
      case "done":
      case "fail":
        this.#noteEnding(event);
        break;
    }
  }

  #noteEnding(event: TurnEnding): void {
    const { driver } = this.#plan;
    const listedDenials = event.denials ?? [];
    const missing = this.#refused
      .splice(0)
      .filter(({ callId }) => !listedDenials.some((denial) => denial.callId === callId));
    if (missing.length > 0) event.denials = [...listedDenials, ...missing];
    for (const denial of event.denials ?? [])
      this.#denials.push({ ...denial, name: unifiedToolName(driver.tool, denial.tool) });
    if (event.type === "fail") Object.assign(event, explainedFailure(event, this.#stderr.text(), driver.failures));
    this.#ending = event;
  }

  #text(): string {
    return this.#ending?.type === "done" ? this.#ending.text : this.#segments.join("");
  }

  /** Completes the events: every call gets an end, and the run exactly one ending, whatever happened. */
  async #finish(error: RunError | undefined): Promise<void> {
    const statedEnding = this.#ending;
    if (statedEnding && (statedEnding.type === "done") === !error) return this.#emitEnding();
    await this.#closeCalls();
    const at = Date.now();
    const durationMs = Math.round(performance.now() - this.#startedAt);
    const ending = { durationMs, apiDurationMs: durationMs, ...(this.#watch.usage && { usage: this.#watch.usage }) };
    const { message, code } = error!;
    await this.#plan.publish({ type: "fail", message, code, ...ending, at, carried: derived });
  }

  async #emitEnding(): Promise<void> {
    if (!this.#ending || this.#isTold) return;
    this.#isTold = true;
    await this.#closeCalls();
    await this.#plan.publish(this.#ending);
  }

  async #closeCalls(): Promise<void> {
    for (const { callId, tool, args } of this.#openCalls.values()) {
      await this.#plan.publish({ type: "tool_end", callId, tool, args, at: Date.now(), carried: derived });
    }
    this.#openCalls.clear();
  }

  #details(end: CliEnd): RunDetails {
    return {
      text: this.#text(),
      sessionId: this.#sessionId,
      model: this.#model,
      usage: this.#watch.usage,
      costUsd: this.#watch.costUsd,
      durationMs: Math.round(performance.now() - this.#startedAt),
      turns: this.#watch.turns,
      denials: this.#denials,
      exitCode: end.exitCode,
      signal: end.signal,
      stderr: end.stderr,
      stages: end.stages,
      ignored: this.#ignored,
      // If the CLI's stream has no result line and ends with the process, do not warn that it is missing.
      warnings: this.#plan.driver.endsByExit ? [] : end.warnings,
      losses: this.#plan.losses,
    };
  }
}

/** How many bytes of stderr are kept, to find the reason of a failure in them. */
const stderrBytes = 16 * 1024;

function denialOf({ callId, tool, outcome, carried }: EventOf<"tool_end">): Denial {
  const reason = isObject(outcome?.value) ? outcome.value.reason : undefined;
  const name = isObject(carried) && typeof carried.name === "string" ? carried.name : displayNameOf(tool);
  return { tool: name, callId, reason: typeof reason === "string" ? reason : "" };
}

/** Returns the result of a run that could not be started. */
export function unstartedFailure(error: unknown, losses: readonly RunLoss[]): RunFailure {
  const code = error instanceof UserError ? error.code : "INTERNAL";
  const message = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error ? { cause: error } : {};
  const runError = error instanceof RunError ? error : Object.assign(new RunError("error", code, message), cause);
  return {
    outcome: runError.outcome,
    error: runError,
    text: "",
    sessionId: undefined,
    model: undefined,
    usage: undefined,
    costUsd: undefined,
    durationMs: 0,
    turns: 0,
    denials: [],
    exitCode: null,
    signal: "",
    stderr: "",
    stages: [],
    ignored: 0,
    warnings: [],
    losses,
  };
}
