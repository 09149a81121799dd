// The options of start: their types, their checks, and the request that a driver gets from them.
import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import { schemaProblem } from "../json/schema-check.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import { hookEvents, isHookEvent } from "../protocol/hook-events.ts";
import type { ReasoningEffort } from "../protocol/run.ts";
import type { OpenConnection } from "./callbacks/connection.ts";
import type { CanUseTool, HookCallbacks } from "./callbacks/hook-callbacks.ts";
import type { InProcessTool } from "./callbacks/tool.ts";
import type {
  AgentDriver,
  Budget,
  DriverRequest,
  McpServer,
  PermissionMode,
  PermissionRules,
  Subagent,
  WorkMode,
} from "./drivers/driver.ts";
import { driverOf } from "./drivers/index.ts";
import { type FoundCli, findCli } from "./find-cli.ts";
import { checkOptions, startChecks } from "./option-checks.ts";
import { type AnswerSchema, isStandard, type JsonSchema, jsonSchemaOf } from "./structured.ts";
import type { UnifiedTool } from "./unified.ts";

/** The options of `start`. */
export type StartOptions<Schema extends AnswerSchema | undefined = undefined> = {
  /** The prompt for the agent. */
  prompt: string;
  /** The CLI to run. Default: `cursor`, which is `cursor-agent` in PATH, else the CLI of this package. */
  tool?: UnifiedTool | undefined;
  /** Working directory. Default: the current directory. */
  cwd?: string | undefined;
  /** The CLI's name for the model. Default: the CLI's own default. */
  model?: string | undefined;
  /** How much the model thinks before it answers. Default: the CLI's own configuration. */
  effort?: ReasoningEffort | undefined;
  /** Subagents that the agent may delegate work to, by name. */
  agents?: Readonly<Record<string, Subagent>> | undefined;
  /** How much the agent may do without asking. */
  permissionMode?: PermissionMode | undefined;
  /** Work mode: `plan` and `ask` are read-only. Default: `agent`. */
  mode?: WorkMode | undefined;
  /** Rules for this run, in `cursor-agent`'s syntax: `Shell(git)`, `Write(src/**)`, `Mcp(server:tool)`. */
  permissions?: PermissionRules | undefined;
  /** Whether commands run in the CLI's sandbox. Default: the CLI's own configuration. */
  sandbox?: boolean | undefined;
  /** Trust the directory from now on, if the CLI asks for trust. */
  trust?: boolean | undefined;
  /** The only tools the agent may use, by the CLI's names. */
  allowedTools?: readonly string[] | undefined;
  /** Tools the agent may not use, by the CLI's names. */
  disallowedTools?: readonly string[] | undefined;
  /** Additional workspace directories. */
  addDirs?: readonly string[] | undefined;
  /** MCP servers for this run, by name. Their tools need no permission. */
  mcpServers?: Readonly<Record<string, McpServer>> | undefined;
  /** Resume a session: its id, or `true` for the latest. */
  resume?: string | true | undefined;
  /** With `resume`: continue in a copy of the session. */
  fork?: boolean | undefined;
  /** Paths of images for the model. */
  images?: readonly string[] | undefined;
  /** Replaces the CLI's own system prompt. */
  systemPrompt?: string | undefined;
  /** Text appended to the CLI's own system prompt. */
  appendSystemPrompt?: string | undefined;
  /** The answer is JSON that matches this schema: Zod, Valibot, ArkType, … or JSON Schema. */
  schema?: Schema | undefined;
  /** `schema` as JSON Schema, for libraries that cannot convert it themselves. */
  jsonSchema?: JsonSchema | undefined;
  /** Limits on turns, tokens, cost and time. */
  budget?: Budget | undefined;
  /** Time limit from start to result. Default: none. */
  timeoutMs?: number | undefined;
  /** Maximum silence. Default: one hour; `Infinity` for no limit. */
  idleMs?: number | undefined;
  /** Cancels the run when it aborts. */
  signal?: AbortSignal | undefined;
  /** Stream text as it is written. Default: true. */
  partial?: boolean | undefined;
  /** The program to run instead of the detected one; a list for a program with its first arguments. */
  executable?: string | readonly string[] | undefined;
  /** Additional arguments, before the prompt. */
  extraArgs?: readonly string[] | undefined;
  /** Added to the environment of this process; `undefined` removes a variable. */
  env?: Record<string, string | undefined> | undefined;
  /** Lines that are not JSON: fail (default), or skip and count them. */
  onNoise?: "fail" | "skip" | undefined;
  /** `false`: events are not kept; current readers get them live, at the pace of the slowest. */
  keepEvents?: boolean | undefined;
  /** Time for each stage of stopping: cancel, SIGTERM, SIGKILL. Default: 2000. */
  graceMs?: number | undefined;
  /** How long the process may stay after its result. Default: 2000. */
  resultGraceMs?: number | undefined;
  /** Called before every tool call. For CLIs with hooks: cursor, claude, codex and gemini. */
  canUseTool?: CanUseTool | undefined;
  /** Functions of this program as hooks of the CLI, by event name. */
  hooks?: HookCallbacks | undefined;
  /** Functions of this program that the agent may call. */
  tools?: readonly InProcessTool[] | undefined;
  /** Called when the process has started. */
  onStart?: ((started: { pid: number; command: readonly string[] }) => void) | undefined;
  /** Called with the CLI's output on stdout, as it arrives. */
  onStdout?: ((chunk: Buffer) => void) | undefined;
  /** Called with the CLI's output on stderr, as it arrives. */
  onStderr?: ((chunk: Buffer) => void) | undefined;
};

/** The options that a follow-up prompt may change. */
export type FollowUp<Schema extends AnswerSchema | undefined = undefined> = Partial<
  Omit<StartOptions<Schema>, "prompt" | "tool" | "cwd" | "resume" | "fork" | "executable">
>;

/** The default idle limit, one hour: CLIs may print nothing for many minutes. */
export const defaultIdleMs = 3_600_000;
export const defaultGraceMs = 2000;

export type AnyOptions = StartOptions<AnswerSchema | undefined>;

/** Throws a UserError at once, before anything is started, if the options cannot work together or with this CLI. */
export function checkedDriver(caller: string, options: AnyOptions): AgentDriver {
  const { tool = "cursor" } = options;
  const driver = driverOf(tool);
  checkWords(options);
  checkSchema(options.schema);
  checkCallbacks(options, driver);
  if (options.fork && options.resume === undefined)
    throw usageError(`${caller}: fork needs a session to copy: give resume as well.`);
  // Fails for what no version of this CLI supports. What only the installed version lacks shows in the result of the run.
  driver.command(driverRequest(options, undefined, false), { path: "", isOurs: true });
  checkImages(options);
  return driver;
}

/** Like `checkedDriver`, but first checks the name and type of every option. */
export function checkedStart(caller: string, options: AnyOptions): AgentDriver {
  checkOptions(caller, options, startChecks, { example: "{ prompt: '…' }", required: "prompt" });
  return checkedDriver(caller, options);
}

/** Throws if a model name or session id would be parsed as a flag. */
export function checkWords({ model, resume }: Pick<AnyOptions, "model" | "resume">): void {
  for (const [option, word] of Object.entries({ model, resume })) {
    if (typeof word !== "string" || /^[^-\s]/.test(word)) continue;
    throw usageError(`${option} cannot be ${JSON.stringify(word)}: it must not be empty or start with a dash.`);
  }
}

/** Throws if an image cannot be read, since some CLIs would continue without it. */
function checkImages({ images = [] }: AnyOptions): void {
  for (const path of images) {
    try {
      accessSync(path, constants.R_OK);
    } catch (error) {
      throw new UserError("FILE_UNREADABLE", `The image ${path} cannot be read: ${(error as Error).message}`);
    }
  }
}

function checkSchema(schema: AnswerSchema | undefined): void {
  if (!schema || isStandard(schema)) return;
  const problem = schemaProblem(schema);
  if (problem !== undefined) throw usageError(`The schema cannot be used: ${problem}.`);
}

/** Refuses callbacks for a CLI that cannot call back: a caller that relies on being asked must be asked. */
function checkCallbacks({ canUseTool, hooks, tools = [] }: AnyOptions, driver: AgentDriver): void {
  const [program] = driver.programs;
  const { permissionCallback } = driver.capabilities();
  if ((canUseTool || hooks) && !permissionCallback) {
    const option = canUseTool ? "canUseTool" : "hooks";
    throw usageError(`${option} cannot be used: ${program} has no hooks that can be passed for one run.`);
  }
  const unknown = Object.keys(hooks ?? {}).find(
    (event) => !isHookEvent(event) || (driver.tool !== "cursor" && !hookEvents[event][hookDialect(driver)]),
  );
  if (unknown !== undefined) throw usageError(`${program} has no hook for the event ${unknown}.`);
  const wrong = tools.find(
    ({ name }, index) => !/^[\w-]{1,64}$/.test(name) || tools.findIndex((each) => each.name === name) !== index,
  );
  if (wrong)
    throw usageError(
      `The tool name '${wrong.name}' is used twice, or has characters other than letters, digits, _ and -.`,
    );
}

/** Returns which event names the CLI's hooks use: Gemini CLI has its own, all others use Claude's. */
function hookDialect({ tool }: AgentDriver): "claude" | "gemini" {
  return tool === "gemini" ? "gemini" : "claude";
}

type CliOptions = Pick<AnyOptions, "executable" | "env" | "timeoutMs" | "idleMs">;

/** Finds the program of the agent CLI. Throws a UserError if it is not installed. */
export async function cliOf(
  driver: AgentDriver,
  { executable, env, timeoutMs = Number.POSITIVE_INFINITY, idleMs = defaultIdleMs }: CliOptions,
  signal?: AbortSignal,
): Promise<FoundCli> {
  const place = { env: { ...process.env, ...env }, ...(executable && { executable }) };
  const cli = await findCli(driver, place, { withinMs: Math.min(timeoutMs / 2, idleMs), signal });
  if (cli) return cli;
  const program = driver.programs[0]!;
  const name = typeof executable === "string" ? executable : (executable?.[0] ?? program);
  throw new UserError(
    "CLI_NOT_FOUND",
    `${name} was not found. Install it, put it in PATH, or name it: start({ executable: '/path/to/${program}' }).`,
  );
}

type Callbacks = Pick<
  AnyOptions,
  "canUseTool" | "hooks" | "tools" | "mcpServers" | "agents" | "schema" | "budget" | "permissions" | "cwd"
>;

/** Opens the connection through which a CLI calls the callbacks. Returns undefined if there are none and the CLI needs no file. */
export async function connectionOf(
  options: Callbacks,
  { tool, fileOptions = [], deniesByHook }: AgentDriver,
  signal: AbortSignal,
): Promise<OpenConnection | undefined> {
  const { hooks, tools } = options;
  const deny = (deniesByHook && options.permissions?.deny) || [];
  const canUseTool =
    deny.length === 0
      ? options.canUseTool
      : (await import("./callbacks/deny-rules.ts")).denying(
          { deny, tool, workspace: resolve(options.cwd ?? ".") },
          options.canUseTool,
        );
  const needsFile = fileOptions.some((option) => options[option] !== undefined);
  if (!canUseTool && !hooks && !tools?.length && !needsFile) return undefined;
  const { openConnection } = await import("./callbacks/connection.ts");
  const callbacks = { ...(canUseTool && { canUseTool }), ...(hooks && { hooks }), ...(tools && { tools }) };
  return openConnection({ tool, signal, ...callbacks });
}

/** Wraps a callback so that an error it throws is passed to `fail` and goes no further. */
export function guardCallback<Words extends unknown[]>(
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
  const shape = jsonSchemaOf(schema, given);
  return shape ? { shape } : {};
}

// biome-ignore lint/suspicious/noExplicitAny: the type of the answer is known to the caller only
export function followUp(options: AnyOptions, prompt: string, more: FollowUp<any> | undefined): AnyOptions {
  const { images, schema, jsonSchema, signal, resume, fork, ...same } = options;
  return { ...same, ...more, prompt };
}

/** The options that are passed to the driver unchanged. */
const plainOptions = [
  "model",
  "effort",
  "agents",
  "mode",
  "permissions",
  "sandbox",
  "systemPrompt",
  "appendSystemPrompt",
  "allowedTools",
  "disallowedTools",
  "mcpServers",
  "budget",
] as const satisfies (keyof AnyOptions & keyof DriverRequest)[];

export function driverRequest(options: AnyOptions, session: string | undefined, forks: boolean): DriverRequest {
  const resume = session ?? options.resume;
  checkWords({ resume }); // check the session id, since it comes from the CLI
  const { prompt, permissionMode = "default", partial = true } = options;
  const setOptions = plainOptions.filter((option) => options[option] !== undefined);
  return {
    ...Object.fromEntries(setOptions.map((option) => [option, options[option]])),
    prompt,
    cwd: resolve(options.cwd ?? "."),
    permissionMode,
    partial,
    ...(resume !== undefined && { resume }),
    ...((session === undefined ? options.fork : forks) && { fork: true }),
    ...(options.trust && { trust: true }),
    ...(options.images?.length && { images: options.images.map((path) => resolve(path)) }),
    ...(options.addDirs?.length && { addDirs: options.addDirs.map((path) => resolve(path)) }),
  };
}
