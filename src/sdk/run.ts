// start: runs an agent CLI. Any number of readers can follow it as events, messages or text; it ends with one result.
import { UserError, usageError } from "../protocol/error-codes.ts";
import { onAbort, untilAborted } from "../protocol/on-abort.ts";
import { derived } from "../protocol/stream-json.ts";
import { Broadcast } from "./broadcast.ts";
import type { OpenConnection } from "./callbacks/connection.ts";
import type { AgentDriver, RunLoss } from "./drivers/driver.ts";
import type { FoundCli } from "./find-cli.ts";
import { liveMessages } from "./live-messages.ts";
import { checkOptions, followUpChecks } from "./option-checks.ts";
import { RunError, type RunResult } from "./outcome.ts";
import { createNamer, type RunEvent } from "./run-event.ts";
import {
  type AnyOptions,
  checkedDriver,
  checkedStart,
  cliOf,
  connectionOf,
  driverRequest,
  type FollowUp,
  followUp,
  guardCallback,
  type StartOptions,
  shapeOf,
} from "./start-options.ts";
import type { AnswerSchema, DataOf } from "./structured.ts";
import { type RunPlan, Turns, unstartedFailure } from "./turns.ts";
import type { UnifiedMessage, UnifiedTool } from "./unified.ts";

export type { FollowUp, StartOptions } from "./start-options.ts";

/** A running agent CLI: its events, messages, text and result. */
export interface Run<Data = undefined> {
  readonly tool: UnifiedTool;
  /** Every event from the beginning, for any number of readers. Ends with exactly one `done` or `fail`. */
  readonly events: AsyncIterable<RunEvent>;
  /** The same as unified messages, for any number of readers. */
  readonly messages: AsyncIterable<UnifiedMessage>;
  /** The answer, to iterate piece by piece or to await whole; awaiting throws a RunError if the run fails. */
  readonly text: AsyncIterable<string> & PromiseLike<string>;
  /** Never rejects. Resolves when the process and all its child processes are gone. */
  readonly result: Promise<RunResult<Data>>;
  /** Options that this CLI does not support, as far as known by now. */
  readonly losses: readonly RunLoss[];
  readonly session: RunSession;
  /** Stops the run; the outcome is `cancelled` unless the run is already over. */
  cancel(): Promise<RunResult<Data>>;
}

/** The session of a run, to continue it. */
export interface RunSession {
  /** The session's id; undefined until the CLI has reported it. */
  readonly id: string | undefined;
  /** Runs the next turn of this session once the previous one has ended. */
  send<Schema extends AnswerSchema | undefined = undefined>(
    prompt: string,
    options?: FollowUp<Schema>,
  ): Run<DataOf<Schema>>;
  /** Same as `send`, in a copy of the session; the session itself stays unchanged. */
  fork<Schema extends AnswerSchema | undefined = undefined>(
    prompt: string,
    options?: FollowUp<Schema>,
  ): Run<DataOf<Schema>>;
}

/** Starts an agent CLI and returns at once. Throws a UserError for invalid options; all other failures are in `result`. */
export function start<const Schema extends AnswerSchema | undefined = undefined>(
  options: StartOptions<Schema>,
): Run<DataOf<Schema>> {
  const driver = checkedStart("start", options);
  return beginRun(driver, options, undefined) as Run<DataOf<Schema>>;
}

/** Keeps the turns of one session in sequence, so that they never run in parallel. */
type RunLine = { last?: Promise<RunResult<unknown>> };

/** The turn that a follow-up waits for, and the session it belongs to. */
type PreviousTurn = { result: Promise<RunResult<unknown>>; line: RunLine; fork: boolean };

function beginRun(driver: AgentDriver, options: AnyOptions, before: PreviousTurn | undefined): Run<unknown> {
  const { tool = "cursor", signal, keepEvents = true } = options;
  const log = new Broadcast<RunEvent>({ keep: keepEvents });
  const startedAt = Date.now();
  const begunAt = performance.now();
  const abort = new AbortController();
  const stop = () => abort.abort(signal?.reason);
  const forget = onAbort(signal, stop);
  const losses: RunLoss[] = [];
  const sessionState: { sessionId: string | undefined } = {
    sessionId: typeof options.resume === "string" && !options.fork ? options.resume : undefined,
  };

  let opened: OpenConnection | undefined;
  const result = run().finally(() => {
    forget();
    log.end();
  });

  /** An error thrown by a callback ends the run and becomes its outcome. */
  let failure: RunError | undefined;
  const fail = (message: string, cause: unknown) => {
    failure ??= Object.assign(new RunError("error", "CALLBACK_FAILED", message), { cause });
    stop();
  };

  async function run(): Promise<RunResult<unknown>> {
    // Let the caller attach readers before the first event.
    await Promise.resolve();
    try {
      const resume = before ? await previousSessionId(before, abort.signal) : undefined;
      sessionState.sessionId ??= before?.fork ? undefined : resume;
      const plan = runPlan(await cliOf(driver, options, abort.signal), resume);
      opened = await connectionOf(options, driver, abort.signal);
      if (opened) plan.request.connection = opened.connection;
      const ended = await new Turns(plan).run();
      return opened?.warnings.length ? { ...ended, warnings: [...ended.warnings, ...opened.warnings] } : ended;
    } catch (error) {
      const ended = { ...unstartedFailure(error, losses), sessionId: sessionState.sessionId };
      const { message, code } = ended.error;
      log.push({ type: "fail", message, code, durationMs: 0, apiDurationMs: 0, at: Date.now(), carried: derived });
      return ended;
    } finally {
      opened?.close();
    }
  }

  function runPlan(cli: FoundCli, resume: string | undefined): RunPlan {
    const named = createNamer({ tool, isOurs: cli.isOurs });
    return {
      // The time of a follow-up counts from the end of the previous turn.
      startedAt: before ? performance.now() : begunAt,
      driver,
      cli,
      request: driverRequest(options, resume, before?.fork ?? false),
      options,
      ...(options.schema && shapeOf(options.schema, options.jsonSchema)),
      signal: abort.signal,
      isWaiting: () => opened?.isBusy === true,
      losses,
      publish(event) {
        if (event.type === "init" && event.sessionId !== "") sessionState.sessionId = event.sessionId;
        log.push(named(event));
        return log.room();
      },
      failure: () => failure,
      onStart: guardCallback("onStart", options.onStart, fail),
      onStdout: guardCallback("onStdout", options.onStdout, fail),
      onStderr: guardCallback("onStderr", options.onStderr, fail),
    };
  }

  const line: RunLine = before && !before.fork ? before.line : {};
  line.last = result;
  // biome-ignore lint/suspicious/noExplicitAny: the type of the answer is known to the caller only
  const continueWith = (caller: string, prompt: string, more: FollowUp<any> = {}, { fork }: { fork: boolean }) => {
    checkOptions(caller, more, followUpChecks);
    if (typeof prompt !== "string") throw usageError(`${caller} needs a prompt: ${caller}('…').`);
    const runOptions = followUp(options, prompt, more);
    // biome-ignore lint/suspicious/noExplicitAny: the type of the answer is known to the caller only
    return beginRun(checkedDriver(caller, runOptions), runOptions, { result: line.last!, line, fork }) as Run<any>;
  };
  const session: RunSession = {
    get id() {
      return sessionState.sessionId;
    },
    send: (prompt, more) => continueWith("session.send", prompt, more, { fork: false }),
    fork: (prompt, more) => continueWith("session.fork", prompt, more, { fork: true }),
  };
  return {
    tool,
    events: log,
    messages: { [Symbol.asyncIterator]: () => liveMessages(log, { tool, startedAt }) },
    text: answerText(log, result),
    result,
    losses,
    session,
    cancel() {
      stop();
      return result;
    },
  };
}

async function previousSessionId({ result }: PreviousTurn, signal: AbortSignal): Promise<string> {
  const ended = await Promise.race([result, untilAborted(signal)]);
  if (!ended) throw new RunError("cancelled", "INTERRUPTED", "The turn was cancelled before it started.");
  if (ended.sessionId === undefined && ended.outcome === "cancelled") {
    throw new RunError("cancelled", "INTERRUPTED", "The turn before this one was cancelled before it had a session.");
  }
  if (ended.sessionId === undefined) {
    throw new UserError("SESSION_NOT_FOUND", "Session not found: the turn before this one ended without a session.");
  }
  return ended.sessionId;
}

export function answerText(
  log: Broadcast<RunEvent>,
  result: Promise<RunResult<unknown>>,
): AsyncIterable<string> & PromiseLike<string> {
  const whole = async () => {
    const ended = await result;
    if (ended.outcome !== "success") throw ended.error;
    return ended.text;
  };
  return {
    async *[Symbol.asyncIterator]() {
      for await (const event of log) if (event.type === "text") yield event.text;
    },
    // biome-ignore lint/suspicious/noThenProperty: the object is meant to be awaited
    then: (fulfilled, rejected) => whole().then(fulfilled, rejected),
  };
}
