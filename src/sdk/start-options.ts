// What start is given: the options, what is wrong with them, and what a driver is asked for by them.
import { resolve } from "node:path";
import { schemaProblem } from "../json/schema-check.ts";
import { UserError } from "../protocol/error-codes.ts";
import { hookEvents, isHookEvent } from "../protocol/hook-events.ts";
import type { OpenConnection } from "./callbacks/connection.ts";
import type { CanUseTool, HookCallbacks } from "./callbacks/hook-callbacks.ts";
import type { InProcessTool } from "./callbacks/tool.ts";
import {
  type AgentDriver,
  type Budget,
  type DriverRequest,
  permissionModes,
  type SdkPermissionMode,
} from "./drivers/driver.ts";
import { drivers } from "./drivers/index.ts";
import { type FoundCli, findCli } from "./find-cli.ts";
import { type AnswerSchema, isStandard, type JsonSchema, jsonSchemaOf } from "./structured.ts";
import type { UnifiedTool } from "./unified.ts";

export type StartOptions<Schema extends AnswerSchema | undefined = undefined> = {
  prompt: string;
  /** Which CLI. `cursor` unless told: `cursor-agent` in PATH, else the one of this package. */
  tool?: UnifiedTool | undefined;
  /** Where it works. The current directory unless told. */
  cwd?: string | undefined;
  model?: string | undefined;
  permissionMode?: SdkPermissionMode | undefined;
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
  /** Lines that are not JSON: fail (the default), or pass over and count. */
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

/** What may differ in a follow-up. */
export type FollowUp<Schema extends AnswerSchema | undefined = undefined> = Partial<
  Omit<StartOptions<Schema>, "prompt" | "tool" | "cwd" | "resume" | "fork" | "executable">
>;

/** An hour: while a long reply is made or a command runs, CLIs say nothing for many minutes. */
export const defaultIdleMs = 3_600_000;
export const defaultGraceMs = 2000;

export type AnyOptions = StartOptions<AnswerSchema | undefined>;

/** Throws for what a program must not ask: found at once, not when the run is over. */
export function checkedDriver(options: AnyOptions): AgentDriver {
  const { tool = "cursor" } = options;
  const driver = Object.hasOwn(drivers, tool) ? drivers[tool] : undefined;
  if (!driver) throw misuse(`No driver for '${tool}'. The drivers are ${Object.keys(drivers).join(", ")}.`);
  if (typeof options.prompt !== "string") throw misuse("start needs a prompt: start({ prompt: '…' }).");
  checkWords(options);
  checkSchema(options.schema);
  checkCallbacks(options, driver);
  return driver;
}

function misuse(message: string): UserError {
  return new UserError("USAGE", message);
}

/** What comes from outside must not turn into another flag. */
export function checkWords({
  model,
  resume,
  permissionMode = "default",
}: Pick<AnyOptions, "model" | "resume" | "permissionMode">): void {
  for (const [option, word] of Object.entries({ model, resume })) {
    if (typeof word !== "string" || /^[^-\s]/.test(word)) continue;
    throw misuse(`${option} cannot be ${JSON.stringify(word)}: it must not be empty or begin with a dash.`);
  }
  if (!permissionModes.includes(permissionMode))
    throw misuse(`permissionMode cannot be '${permissionMode}': it must be one of ${permissionModes.join(", ")}.`);
}

function checkSchema(schema: AnswerSchema | undefined): void {
  if (!schema || isStandard(schema)) return;
  const problem = schemaProblem(schema);
  if (problem !== undefined) throw misuse(`The schema cannot be used: ${problem}.`);
}

/** A CLI without a way for callbacks is an error: who counts on being asked must be. */
function checkCallbacks({ canUseTool, hooks, tools = [] }: AnyOptions, driver: AgentDriver): void {
  const [program] = driver.programs;
  const { permissionCallback } = driver.capabilities();
  if ((canUseTool || hooks) && !permissionCallback) {
    const option = canUseTool ? "canUseTool" : "hooks";
    throw misuse(`${option} cannot be used: ${program} has no hooks that can be passed for one run.`);
  }
  const unknown = Object.keys(hooks ?? {}).find(
    (event) => !isHookEvent(event) || (driver.tool === "claude" && !hookEvents[event].claude),
  );
  if (unknown !== undefined) throw misuse(`${program} has no hook for the event ${unknown}.`);
  const wrong = tools.find(
    ({ name }, index) => !/^[\w-]{1,64}$/.test(name) || tools.findIndex((each) => each.name === name) !== index,
  );
  if (wrong)
    throw misuse(`The tool name '${wrong.name}' is used twice, or has characters other than letters, digits, _ and -.`);
}

type CliOptions = Pick<AnyOptions, "executable" | "env">;

/** Throws where it is not installed. */
export function cliOf(driver: AgentDriver, { executable, env }: CliOptions): FoundCli {
  const cli = findCli(driver, { env: { ...process.env, ...env }, ...(executable && { executable }) });
  if (cli) return cli;
  const program = driver.programs[0]!;
  const name = typeof executable === "string" ? executable : (executable?.[0] ?? program);
  throw new UserError(
    "CLI_NOT_FOUND",
    `${name} was not found. Install it, put it in PATH, or name it: start({ executable: '/path/to/${program}' }).`,
  );
}

type Callbacks = Pick<AnyOptions, "canUseTool" | "hooks" | "tools">;

/** Undefined: nothing of this program is to be called back. */
export async function connectionOf(
  { canUseTool, hooks, tools }: Callbacks,
  tool: UnifiedTool,
  signal: AbortSignal,
): Promise<OpenConnection | undefined> {
  if (!canUseTool && !hooks && !tools?.length) return undefined;
  const { openConnection } = await import("./callbacks/connection.ts");
  const callbacks = { ...(canUseTool && { canUseTool }), ...(hooks && { hooks }), ...(tools && { tools }) };
  return openConnection({ tool, signal, ...callbacks });
}

/** What a callback throws is told to `fail`, and goes no further. */
export function guarded<Words extends unknown[]>(
  name: string,
  call: ((...words: Words) => void) | undefined,
  fail: (message: string, cause: unknown) => void,
): (...words: Words) => void {
  return (...words) => {
    try {
      call?.(...words);
    } catch (error) {
      fail(`${name} failed: ${error instanceof Error ? error.message : error}`, error);
    }
  };
}

export function shapeOf(schema: AnswerSchema, given: JsonSchema | undefined): { shape?: object } {
  const shape = given ?? jsonSchemaOf(schema);
  return shape ? { shape } : {};
}

export function followUp(options: AnyOptions, prompt: string, more: FollowUp<any> | undefined): AnyOptions {
  const { images, schema, jsonSchema, signal, resume, fork, ...same } = options;
  return { ...same, ...more, prompt };
}

export function requestOf(options: AnyOptions, session: string | undefined, forks: boolean): DriverRequest {
  const resume = session ?? options.resume;
  const fork = session === undefined ? options.fork === true : forks;
  if (fork && resume === undefined) throw misuse("fork needs a session to copy: give resume as well.");
  const { prompt, permissionMode = "default", partial = true } = options;
  const request: DriverRequest = { prompt, cwd: resolve(options.cwd ?? "."), permissionMode, partial };
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
