// start: runs an agent CLI. What happens can be read as events, messages or text, by anybody and as often as wanted; how it
// ended is one result.
import { resolve } from "node:path";
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { hookEvents, isHookEvent } from "../protocol/hook-events.ts";
import { schemaProblem } from "../protocol/schema-check.ts";
import { derived } from "../protocol/stream-json.ts";
import type { OpenConnection } from "./callbacks/connection.ts";
import type { CanUseTool, HookCallbacks } from "./callbacks/hook-callbacks.ts";
import type { InProcessTool } from "./callbacks/tool.ts";
import {
  type AgentDriver,
  type Budget,
  type PermissionMode,
  permissionModes,
  type RunLoss,
  type RunRequest,
} from "./drivers/driver.ts";
import { drivers } from "./drivers/index.ts";
import { EventLog } from "./event-log.ts";
import { findCli } from "./find-cli.ts";
import { liveMessages } from "./live-messages.ts";
import { RunError, type RunResult } from "./outcome.ts";
import { type AnswerSchema, type DataOf, isStandard, type JsonSchema, jsonSchemaOf } from "./structured.ts";
import { type RunPlan, runTurns, unstarted } from "./turns.ts";
import type { UnifiedMessage, UnifiedTool } from "./unified.ts";

/** An option that is undefined counts as left out. */
export type StartOptions<Schema extends AnswerSchema | undefined = undefined> = {
  prompt: string;
  /** Which CLI. `cursor` unless told: `cursor-agent` in PATH, else the one of this package. */
  tool?: UnifiedTool | undefined;
  /** Where it works. The current directory unless told. */
  cwd?: string | undefined;
  model?: string | undefined;
  permissionMode?: PermissionMode | undefined;
  /** The folder is trusted from now on, where the CLI asks for that. */
  trust?: boolean | undefined;
  /** Go on with a session: its id, or `true` for the latest. */
  resume?: string | true | undefined;
  /** With `resume`: in a copy. */
  fork?: boolean | undefined;
  /** Paths of pictures to show to the model. */
  images?: readonly string[] | undefined;
  systemPrompt?: string | undefined;
  appendSystemPrompt?: string | undefined;
  allowedTools?: readonly string[] | undefined;
  disallowedTools?: readonly string[] | undefined;
  addDirs?: readonly string[] | undefined;
  /** The answer is JSON of this shape: a schema of Zod, Valibot, ArkType, … or JSON Schema. */
  schema?: Schema | undefined;
  /** What the model is told of `schema`, for libraries that cannot say it as JSON Schema themselves. */
  jsonSchema?: JsonSchema | undefined;
  budget?: Budget | undefined;
  /** Most time from the start to the result. No limit unless told. */
  timeoutMs?: number | undefined;
  /** Longest silence; an hour unless told. Infinity: none. */
  idleMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Text as it comes. True unless told. */
  partial?: boolean | undefined;
  /** The program, instead of the one that is found; a list for a program with its first arguments. */
  executable?: string | readonly string[] | undefined;
  /** Put before the prompt, after all that is derived from these options. */
  extraArgs?: readonly string[] | undefined;
  /** Added to the environment of this process; undefined takes a variable away. */
  env?: Record<string, string | undefined>;
  /** Lines that are no JSON: fail (the default), or pass over and count. */
  onNoise?: "fail" | "skip" | undefined;
  /** False: events are for those who read while it runs, at the pace of the slowest, and are not kept. */
  keepEvents?: boolean | undefined;
  /** Shared by the stages of a stop: cancel, SIGTERM, SIGKILL. */
  graceMs?: number | undefined;
  /** How long the process may stay after its result. */
  resultGraceMs?: number | undefined;
  /** Asked before every call of a tool. For CLIs with hooks: cursor and claude. */
  canUseTool?: CanUseTool | undefined;
  /** Functions of this program as hooks of the CLI, by the names of its events. */
  hooks?: HookCallbacks | undefined;
  /** Functions of this program that the agent may call. */
  tools?: readonly InProcessTool[] | undefined;
  /** Told when the process is there. */
  onStart?(facts: { pid: number; command: readonly string[] }): void;
  onStdout?(chunk: Buffer): void;
  onStderr?(chunk: Buffer): void;
};

export interface Run<Data = undefined> {
  readonly tool: UnifiedTool;
  /** Everything, from the beginning, for any number of readers. Ends with exactly one `done` or `fail`. */
  readonly events: AsyncIterable<AgentEvent>;
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

/** What may differ in a follow-up. */
export type FollowUp<Schema extends AnswerSchema | undefined = undefined> = Partial<
  Omit<StartOptions<Schema>, "prompt" | "tool" | "cwd" | "resume" | "fork" | "executable">
>;

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

/** An hour: while a long reply is made or a command runs, CLIs say nothing for many minutes. */
const defaultIdleMs = 3_600_000;

export function start<const Schema extends AnswerSchema | undefined = undefined>(
  options: StartOptions<Schema>,
): Run<DataOf<Schema>> {
  return begin(options, undefined) as Run<DataOf<Schema>>;
}

type AnyOptions = StartOptions<AnswerSchema | undefined>;

/** `before`: the turn that this one follows, with its session. */
type Before = { result: Promise<RunResult<unknown>>; fork: boolean };

function begin(options: AnyOptions, before: Before | undefined): Run<unknown> {
  const { tool = "cursor", signal, keepEvents = true } = options;
  const driver = Object.hasOwn(drivers, tool) ? drivers[tool] : undefined;
  if (!driver) {
    throw new UserError(
      "USAGE",
      `There is no driver for '${tool}'. The drivers are ${Object.keys(drivers).join(", ")}.`,
    );
  }
  if (typeof options.prompt !== "string") throw new UserError("USAGE", "start needs a prompt: start({ prompt: '…' }).");
  checkWords(options);
  checkSchema(options.schema);
  checkCallbacks(options, driver);
  const log = new EventLog<AgentEvent>({ keep: keepEvents });
  const startedAt = Date.now();
  const abort = new AbortController();
  const stop = () => abort.abort();
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
  function guarded<Words extends unknown[]>(name: string, call: ((...words: Words) => void) | undefined) {
    if (!call) return {};
    const guard = (...words: Words) => {
      try {
        call(...words);
      } catch (error) {
        failure ??= new RunError(
          "error",
          "CALLBACK_FAILED",
          `${name} failed: ${error instanceof Error ? error.message : error}`,
        );
        failure.cause = error;
        stop();
      }
    };
    return { [name]: guard };
  }

  async function run(): Promise<RunResult<unknown>> {
    // The caller gets to read from the very beginning.
    await Promise.resolve();
    try {
      const resume = before ? await sessionOf(before, abort.signal) : undefined;
      const plan = planOf(resume);
      opened = await connectionOf();
      if (opened) plan.request.connection = opened.connection;
      const ended = await runTurns(plan);
      return opened?.warnings.length ? { ...ended, warnings: [...ended.warnings, ...opened.warnings] } : ended;
    } catch (error) {
      const ended = unstarted(error, losses);
      if (ended.outcome === "success") throw error;
      const { message, code } = ended.error;
      log.push({ type: "fail", message, code, durationMs: 0, apiDurationMs: 0, at: Date.now(), carried: derived });
      return ended;
    } finally {
      opened?.close();
    }
  }

  async function connectionOf(): Promise<OpenConnection | undefined> {
    const { canUseTool, hooks, tools } = options;
    if (!canUseTool && !hooks && !tools?.length) return undefined;
    const { openConnection } = await import("./callbacks/connection.ts");
    return openConnection({
      tool,
      signal: abort.signal,
      ...(canUseTool && { canUseTool }),
      ...(hooks && { hooks }),
      ...(tools && { tools }),
    });
  }

  function planOf(resume: string | undefined): RunPlan {
    const env = { ...process.env, ...options.env };
    const cli = findCli(driver!, { env, ...(options.executable && { executable: options.executable }) });
    if (!cli) throw notFound(options, driver!.programs[0]!);
    return {
      driver: driver!,
      cli,
      request: requestOf(options, resume, before?.fork ?? false),
      ...(options.schema && { schema: options.schema, ...shapeOf(options.schema, options.jsonSchema) }),
      extraArgs: options.extraArgs ?? [],
      env: options.env ?? {},
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      idleMs: options.idleMs ?? defaultIdleMs,
      graceMs: options.graceMs ?? 2000,
      resultGraceMs: options.resultGraceMs ?? 2000,
      onNoise: options.onNoise ?? "fail",
      signal: abort.signal,
      isWaiting: () => opened?.isBusy === true,
      losses,
      publish(event) {
        if (event.type === "init" && event.sessionId !== "") known.sessionId = event.sessionId;
        log.push(event);
        return log.room();
      },
      failure: () => failure,
      ...guarded("onStart", options.onStart),
      ...guarded("onStdout", options.onStdout),
      ...guarded("onStderr", options.onStderr),
    };
  }

  /** The last turn of the session, so that turns never run side by side. */
  let last = result;
  const session: RunSession = {
    get id() {
      return known.sessionId;
    },
    send(prompt, more) {
      const next = begin(followUp(options, prompt, more), { result: last, fork: false });
      last = next.result;
      return next as Run<any>;
    },
    fork: (prompt, more) => begin(followUp(options, prompt, more), { result: last, fork: true }) as Run<any>,
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

/** What comes from outside must not turn into another flag. */
function checkWords({ model, resume, permissionMode = "default" }: AnyOptions): void {
  for (const [option, word] of Object.entries({ model, resume })) {
    if (typeof word !== "string" || /^[^-\s]/.test(word)) continue;
    throw new UserError(
      "USAGE",
      `${option} cannot be ${JSON.stringify(word)}: it must not be empty or begin with a dash.`,
    );
  }
  if (!permissionModes.includes(permissionMode)) {
    throw new UserError(
      "USAGE",
      `permissionMode cannot be '${permissionMode}': it is one of ${permissionModes.join(", ")}.`,
    );
  }
}

function checkSchema(schema: AnswerSchema | undefined): void {
  if (!schema || isStandard(schema)) return;
  const problem = schemaProblem(schema);
  if (problem !== undefined) throw new UserError("USAGE", `The schema cannot be used: ${problem}.`);
}

/** A CLI without a way for callbacks is an error: who counts on being asked must be. */
function checkCallbacks({ canUseTool, hooks, tools = [] }: AnyOptions, driver: AgentDriver): void {
  const [program] = driver.programs;
  const { permissionCallback } = driver.capabilities();
  if ((canUseTool || hooks) && !permissionCallback) {
    const option = canUseTool ? "canUseTool" : "hooks";
    throw new UserError(
      "USAGE",
      `${option} cannot be kept: ${program} has no hooks that can be handed over for one run.`,
    );
  }
  const unknown = Object.keys(hooks ?? {}).find(
    (event) => !isHookEvent(event) || (driver.tool === "claude" && !hookEvents[event].claude),
  );
  if (unknown !== undefined) throw new UserError("USAGE", `${program} has no hook for the event ${unknown}.`);
  const wrong = tools.find(
    ({ name }, index) => !/^[\w-]{1,64}$/.test(name) || tools.findIndex((each) => each.name === name) !== index,
  );
  if (wrong)
    throw new UserError(
      "USAGE",
      `The tool name '${wrong.name}' is taken twice, or is not made of letters, digits, _ and -.`,
    );
}

function shapeOf(schema: AnswerSchema, given: JsonSchema | undefined): { shape?: object } {
  const shape = given ?? jsonSchemaOf(schema);
  return shape ? { shape } : {};
}

function followUp(options: AnyOptions, prompt: string, more: FollowUp<any> | undefined): AnyOptions {
  const {
    images: _images,
    schema: _schema,
    jsonSchema: _shape,
    signal: _signal,
    resume: _resume,
    fork: _fork,
    ...same
  } = options;
  return { ...same, ...more, prompt };
}

async function sessionOf({ result }: Before, signal: AbortSignal): Promise<string> {
  const cancelled = new Promise<undefined>((settle) => {
    if (signal.aborted) settle(undefined);
    else signal.addEventListener("abort", () => settle(undefined), { once: true });
  });
  const ended = await Promise.race([result, cancelled]);
  if (!ended) throw new RunError("cancelled", "INTERRUPTED", "The turn was cancelled before it began.");
  if (ended.sessionId === undefined && ended.outcome === "cancelled") {
    throw new RunError("cancelled", "INTERRUPTED", "The turn before this one was cancelled before it had a session.");
  }
  if (ended.sessionId === undefined) {
    throw new UserError("SESSION_NOT_FOUND", "Session not found: the turn before this one ended without a session.");
  }
  return ended.sessionId;
}

function requestOf(options: AnyOptions, session: string | undefined, forks: boolean): RunRequest {
  const resume = session ?? options.resume;
  const fork = session === undefined ? options.fork === true : forks;
  if (fork && resume === undefined) throw new UserError("USAGE", "fork needs a session to copy: give resume as well.");
  const { prompt, permissionMode = "default", partial = true } = options;
  const request: RunRequest = { prompt, cwd: resolve(options.cwd ?? "."), permissionMode, partial };
  if (resume !== undefined) request.resume = resume;
  if (fork) request.fork = true;
  if (options.trust) request.trust = true;
  if (options.images?.length) request.images = options.images.map((path) => resolve(path));
  if (options.addDirs?.length) request.addDirs = options.addDirs.map((path) => resolve(path));
  if (options.model !== undefined) request.model = options.model;
  if (options.systemPrompt !== undefined) request.systemPrompt = options.systemPrompt;
  if (options.appendSystemPrompt !== undefined) request.appendSystemPrompt = options.appendSystemPrompt;
  if (options.allowedTools) request.allowedTools = options.allowedTools;
  if (options.disallowedTools) request.disallowedTools = options.disallowedTools;
  if (options.budget) request.budget = options.budget;
  return request;
}

function notFound({ executable }: AnyOptions, program: string): UserError {
  const name = typeof executable === "string" ? executable : (executable?.[0] ?? program);
  return new UserError(
    "CLI_NOT_FOUND",
    `${name} was not found. Install it, put it in PATH, or name it: start({ executable: '/path/to/${program}' }).`,
  );
}

function textOf(
  log: EventLog<AgentEvent>,
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
