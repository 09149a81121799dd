// start: runs an agent CLI. What happens can be read as events, messages or text, by anybody and as often as wanted; how it
// ended is one result.
import { misuse } from "../protocol/check-options.ts";
import { UserError } from "../protocol/error-codes.ts";
import { derived } from "../protocol/stream-json.ts";
import type { OpenConnection } from "./callbacks/connection.ts";
import type { AgentDriver, RunLoss } from "./drivers/driver.ts";
import { EventLog } from "./event-log.ts";
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
  defaultGraceMs,
  defaultIdleMs,
  type FollowUp,
  followUp,
  guarded,
  requestOf,
  type StartOptions,
  shapeOf,
} from "./start-options.ts";
import type { AnswerSchema, DataOf } from "./structured.ts";
import { type RunPlan, Turns, unstarted } from "./turns.ts";
import type { UnifiedMessage, UnifiedTool } from "./unified.ts";

export type { FollowUp, StartOptions } from "./start-options.ts";

export interface Run<Data = undefined> {
  readonly tool: UnifiedTool;
  /** Everything, from the beginning, for any number of readers. Ends with exactly one `done` or `fail`. */
  readonly events: AsyncIterable<RunEvent>;
  readonly messages: AsyncIterable<UnifiedMessage>;
  /** Read piece by piece, or awaited whole; awaiting throws a RunError where there is no answer. */
  readonly text: AsyncIterable<string> & PromiseLike<string>;
  /** Never rejects. Resolves when the process and all that it started are gone. */
  readonly result: Promise<RunResult<Data>>;
  /** What could not be carried over to this CLI, as far as is known by now. */
  readonly losses: readonly RunLoss[];
  readonly session: RunSession;
  /** Ends it: outcome `cancelled`, unless it is over already. */
  cancel(): Promise<RunResult<Data>>;
}

export interface RunSession {
  /** Undefined until the CLI said it. */
  readonly id: string | undefined;
  /** The next turn of this session: begins when the one before is over. */
  send<Schema extends AnswerSchema | undefined = undefined>(
    prompt: string,
    options?: FollowUp<Schema>,
  ): Run<DataOf<Schema>>;
  /** The same in a copy of the session, which itself stays as it is. */
  fork<Schema extends AnswerSchema | undefined = undefined>(
    prompt: string,
    options?: FollowUp<Schema>,
  ): Run<DataOf<Schema>>;
}

export function start<const Schema extends AnswerSchema | undefined = undefined>(
  options: StartOptions<Schema>,
): Run<DataOf<Schema>> {
  const driver = checkedStart("start", options);
  return begin(driver, options, undefined) as Run<DataOf<Schema>>;
}

/** The turns of one session, whoever asked for them: they never run side by side. */
type RunLine = { last?: Promise<RunResult<unknown>> };

/** The turn that a follow-up waits for, and the session that it belongs to. */
type PreviousTurn = { result: Promise<RunResult<unknown>>; line: RunLine; fork: boolean };

function begin(driver: AgentDriver, options: AnyOptions, before: PreviousTurn | undefined): Run<unknown> {
  const { tool = "cursor", signal, keepEvents = true } = options;
  const log = new EventLog<RunEvent>({ keep: keepEvents });
  const startedAt = Date.now();
  const begunAt = performance.now();
  const abort = new AbortController();
  const stop = () => abort.abort(signal?.reason);
  if (signal?.aborted) stop();
  else signal?.addEventListener("abort", stop, { once: true });
  const losses: RunLoss[] = [];
  const known: { sessionId: string | undefined } = {
    sessionId: typeof options.resume === "string" && !options.fork ? options.resume : undefined,
  };

  let opened: OpenConnection | undefined;
  const result = run().finally(() => {
    signal?.removeEventListener("abort", stop);
    log.end();
  });

  /** What a callback throws ends the run, and is told as its outcome. */
  let failure: RunError | undefined;
  const fail = (message: string, cause: unknown) => {
    failure ??= Object.assign(new RunError("error", "CALLBACK_FAILED", message), { cause });
    stop();
  };

  async function run(): Promise<RunResult<unknown>> {
    // The caller gets to read from the very beginning.
    await Promise.resolve();
    try {
      const resume = before ? await sessionOf(before, abort.signal) : undefined;
      known.sessionId ??= before?.fork ? undefined : resume;
      const plan = planOf(await cliOf(driver, options, abort.signal), resume);
      opened = await connectionOf(options, driver, abort.signal);
      if (opened) plan.request.connection = opened.connection;
      const ended = await new Turns(plan).run();
      return opened?.warnings.length ? { ...ended, warnings: [...ended.warnings, ...opened.warnings] } : ended;
    } catch (error) {
      const ended = { ...unstarted(error, losses), sessionId: known.sessionId };
      const { message, code } = ended.error;
      log.push({ type: "fail", message, code, durationMs: 0, apiDurationMs: 0, at: Date.now(), carried: derived });
      return ended;
    } finally {
      opened?.close();
    }
  }

  function planOf(cli: FoundCli, resume: string | undefined): RunPlan {
    const named = createNamer({ tool, isOurs: cli.isOurs });
    return {
      // A follow-up begins when the turn before it is over.
      startedAt: before ? performance.now() : begunAt,
      driver,
      cli,
      request: requestOf(options, resume, before?.fork ?? false),
      ...(options.schema && { schema: options.schema, ...shapeOf(options.schema, options.jsonSchema) }),
      extraArgs: options.extraArgs ?? [],
      env: options.env ?? {},
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      idleMs: options.idleMs ?? defaultIdleMs,
      graceMs: options.graceMs ?? defaultGraceMs,
      resultGraceMs: options.resultGraceMs ?? 2000,
      onNoise: options.onNoise ?? "fail",
      signal: abort.signal,
      isWaiting: () => opened?.isBusy === true,
      losses,
      publish(event) {
        if (event.type === "init" && event.sessionId !== "") known.sessionId = event.sessionId;
        log.push(named(event));
        return log.room();
      },
      failure: () => failure,
      onStart: guarded("onStart", options.onStart, fail),
      onStdout: guarded("onStdout", options.onStdout, fail),
      onStderr: guarded("onStderr", options.onStderr, fail),
    };
  }

  const line: RunLine = before && !before.fork ? before.line : {};
  line.last = result;
  const goOn = (caller: string, prompt: string, more: FollowUp<any> = {}, { fork }: { fork: boolean }) => {
    checkOptions(caller, more, followUpChecks);
    if (typeof prompt !== "string") throw misuse(`${caller} needs a prompt: ${caller}('…').`);
    const given = followUp(options, prompt, more);
    return begin(checkedDriver(caller, given), given, { result: line.last!, line, fork }) as Run<any>;
  };
  const session: RunSession = {
    get id() {
      return known.sessionId;
    },
    send: (prompt, more) => goOn("session.send", prompt, more, { fork: false }),
    fork: (prompt, more) => goOn("session.fork", prompt, more, { fork: true }),
  };
  return {
    tool,
    events: log,
    messages: { [Symbol.asyncIterator]: () => liveMessages(log, { tool, startedAt }) },
    text: textOf(log, result),
    result,
    losses,
    session,
    cancel() {
      stop();
      return result;
    },
  };
}

async function sessionOf({ result }: PreviousTurn, signal: AbortSignal): Promise<string> {
  const cancelled = new Promise<undefined>((settle) => {
    if (signal.aborted) settle(undefined);
    else signal.addEventListener("abort", () => settle(undefined), { once: true });
  });
  const ended = await Promise.race([result, cancelled]);
  if (!ended) throw new RunError("cancelled", "INTERRUPTED", "The turn was cancelled before it started.");
  if (ended.sessionId === undefined && ended.outcome === "cancelled") {
    throw new RunError("cancelled", "INTERRUPTED", "The turn before this one was cancelled before it had a session.");
  }
  if (ended.sessionId === undefined) {
    throw new UserError("SESSION_NOT_FOUND", "Session not found: the turn before this one ended without a session.");
  }
  return ended.sessionId;
}

export function textOf(
  log: EventLog<RunEvent>,
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
    // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for
    then: (fulfilled, rejected) => whole().then(fulfilled, rejected),
  };
}
