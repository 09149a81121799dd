// AgentDriver: everything needed to drive one agent CLI: where it is, its command line, its stream.
import { UserError } from "../../protocol/error-codes.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import type { FrameType } from "../../protocol/frame-shapes.ts";
import { type ReasoningEffort, reasoningEfforts } from "../../protocol/run.ts";
import type { UnifiedTool } from "../unified.ts";
import type { FailureRow } from "./failures.ts";

export const permissionModes = ["default", "acceptEdits", "force", "bypassPermissions", "plan"] as const;
/**
 * How much the agent may do without asking. `default`: the CLI's own configuration. `acceptEdits`: may change files of the
 * workspace. `force`, `bypassPermissions`: everything except what is denied. `plan`: changes nothing.
 */
export type PermissionMode = (typeof permissionModes)[number];

export const workModes = ["agent", "plan", "ask"] as const;
/** The agent's work mode: `agent` carries out the task; `plan` proposes and `ask` answers, without changing anything. */
export type WorkMode = (typeof workModes)[number];

/** Rules of the kinds Shell, Read, Write, WebFetch and Mcp. Denied calls stay denied in every permission mode. */
export type PermissionRules = { allow?: readonly string[] | undefined; deny?: readonly string[] | undefined };

/** An MCP server: a program on stdio, or a URL. */
export type McpServer =
  | {
      command: string;
      args?: readonly string[] | undefined;
      env?: Readonly<Record<string, string>> | undefined;
      cwd?: string | undefined;
    }
  | { url: string; headers?: Readonly<Record<string, string>> | undefined };

/** A subagent that the agent may delegate work to. */
export type Subagent = {
  /** What it is for; the model chooses by this. */
  description: string;
  /** Its instructions. */
  prompt: string;
  /** The only tools it may use, by the CLI's names. Default: those of the agent. */
  tools?: readonly string[] | undefined;
  /** The CLI's name for its model. Default: the agent's. */
  model?: string | undefined;
};

/** Limits for a run, including requests to repair its answer. */
export type Budget = {
  /** The number of model replies. */
  turns?: number | undefined;
  /** Input and output tokens together. */
  tokens?: number | undefined;
  costUsd?: number | undefined;
  timeMs?: number | undefined;
};

/** What a driver translates into its CLI's command line. */
export type DriverRequest = {
  prompt: string;
  cwd: string;
  model?: string;
  effort?: ReasoningEffort;
  /** Subagents for this run, by name. */
  agents?: Readonly<Record<string, Subagent>>;
  permissionMode: PermissionMode;
  mode?: WorkMode;
  permissions?: PermissionRules;
  sandbox?: boolean;
  mcpServers?: Readonly<Record<string, McpServer>>;
  /** The JSON Schema of the answer, for CLIs that accept one. */
  answerSchema?: object;
  /** Resume a session: its id, or `true` for the latest. */
  resume?: string | true;
  /** With `resume`: continue in a copy, so that the session stays unchanged. */
  fork?: boolean;
  /** Paths of images for the model. */
  images?: readonly string[];
  systemPrompt?: string;
  appendSystemPrompt?: string;
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
  addDirs?: readonly string[];
  /** Trust the directory from now on, if the CLI asks for trust. */
  trust?: boolean;
  /** Stream text as it is written, not only whole. */
  partial: boolean;
  budget?: Budget;
  /** How the CLI calls back: see connection.ts. */
  connection?: Connection;
};

/** How a CLI reaches this process while it works. Commands are lists of words, not shell lines. */
export type Connection = {
  /** A folder of this run, for files that the CLI needs. */
  folder: string;
  /** The command to run as a hook, and the events by their names in the table of hook events; undefined without hooks. */
  hook?: { command: readonly string[]; events: readonly string[] };
  /** The command that answers permission requests in place of the user. */
  ask?: { command: readonly string[] };
  /** The command that serves MCP on stdio. */
  mcp?: { name: string; command: readonly string[] };
  /** Inputs that a callback substituted for the model's, by call id. */
  changedInputs?: ReadonlyMap<string, unknown>;
  /** Calls that a callback denied, in order: some CLIs do not report them. */
  refusedCalls?: readonly { id: string; name: string; input: unknown; reason: string }[];
};

/** An option that a CLI does not support, and why. */
export type RunLoss = { option: string; reason: string };

export type DriverCommand = {
  /** The arguments, without the prompt. */
  args: string[];
  /** Replaces the prompt of the request. */
  prompt?: string;
  promptVia?: "auto" | "stdin";
  env?: Record<string, string>;
  losses: RunLoss[];
};

/** What an agent CLI supports. */
export type Capabilities = {
  /** Text is streamed piece by piece. */
  partialText: boolean;
  thinking: boolean;
  resume: boolean;
  fork: boolean;
  images: boolean;
  systemPrompt: boolean;
  /** Supports `canUseTool` and `hooks`. */
  permissionCallback: boolean;
  /** Supports in-process tools, through an MCP server. */
  tools: boolean;
  usage: boolean;
  cost: boolean;
  modelList: boolean;
  /** The CLI itself enforces `schema`; otherwise the prompt describes it, and the SDK checks the answer. */
  schema: boolean;
  sessions: boolean;
  /** One process serves many turns and can be steered and answered while it works, over `hello` and control lines. */
  live: boolean;
  permissionModes: readonly PermissionMode[];
};

/** What most CLIs support; a driver overrides the differences. */
export const usualCapabilities: Capabilities = {
  partialText: true,
  thinking: true,
  resume: true,
  fork: true,
  images: true,
  systemPrompt: true,
  permissionCallback: true,
  tools: true,
  usage: true,
  cost: false,
  modelList: false,
  schema: false,
  sessions: true,
  live: false,
  permissionModes,
};

/** Where a run happens. `since` is when it began. */
export type RunPlace = { env: NodeJS.ProcessEnv; since: number; resume: string | true | undefined };

/** The program that was found. `isOurs` is true for the CLI of this package. */
export type CliInfo = { path: string; isOurs: boolean };

export interface AgentDriver {
  tool: UnifiedTool;
  /** The names it is installed under; the first one found is used. */
  programs: readonly string[];
  /** The environment variable with its path. */
  pathVariable: string;
  capabilities(cli?: CliInfo): Capabilities;
  /** Throws a UserError for options that must not be dropped silently. */
  command(request: DriverRequest, cli: CliInfo): DriverCommand;
  /** The types of lines in its stream. Default: those of cursor-agent, with their checks. */
  frames?: ReadonlyMap<string, FrameType>;
  /** True if its stream has no final line and is over when the process exits. */
  endsByExit?: true;
  /** Same as `frames`, for a process of many turns, where only its exit is the end. */
  liveFrames?: ReadonlyMap<string, FrameType>;
  /** Creates a decoder; one for each run. */
  decoder(request: DriverRequest): (line: unknown) => AgentEvent[];
  /** Adds what the CLI's own files say beyond its stream; one for each run. */
  addDetails?(place: RunPlace): (event: AgentEvent) => AgentEvent | Promise<AgentEvent>;
  /** The CLI's own error messages, in its stream or on stderr. Messages of model vendors are known in addition. */
  failures: readonly FailureRow[];
  /** True if the CLI enforces `budget.turns` itself. Otherwise it is stopped when another reply would exceed the limit. */
  limitsTurns?: true;
  /** Options that are passed to this CLI in files. */
  fileOptions?: readonly ("mcpServers" | "schema" | "budget" | "agents")[];
  /** Whether the CLI's native structured output accepts this schema. Default: every schema. */
  takesSchema?(schema: object): boolean;
  /** The arguments that list its models, and the parser for the list. */
  models?: { args: readonly string[]; read(stdout: string): ModelEntry[] };
}

/** A model that a CLI offers. */
export type ModelEntry = { id: string; name: string; isDefault?: boolean };

/** A line type without checks: only its decoder looks inside. */
export const known: FrameType = { check: () => undefined };

/** Records the loss for CLIs that read instructions only from a file of the project. */
export function losePrompts(request: DriverRequest, { losses }: DriverCommand, reason: string): void {
  for (const option of ["systemPrompt", "appendSystemPrompt"] as const)
    if (request[option] !== undefined) losses.push({ option, reason });
}

/** Returns the nearest effort that the CLI has, and records the loss if that is another one. */
export function nearestEffort<Level extends ReasoningEffort>(
  { effort }: DriverRequest,
  { losses }: DriverCommand,
  program: string,
  levels: readonly Level[],
): Level | undefined {
  if (effort === undefined) return undefined;
  const distance = (level: Level) => Math.abs(reasoningEfforts.indexOf(level) - reasoningEfforts.indexOf(effort));
  const nearest = [...levels].sort((a, b) => distance(a) - distance(b))[0]!;
  if (nearest !== effort)
    losses.push({ option: "effort", reason: `${program} has no ${effort} effort: it is ${nearest}.` });
  return nearest;
}

/** Records the loss for CLIs that take no subagents for one run. */
export function loseAgents({ agents }: DriverRequest, { losses }: DriverCommand, reason: string): void {
  if (agents) losses.push({ option: "agents", reason });
}

/** True if the agent may change nothing, by `mode` or by `permissionMode`. */
export function isReadOnly({ mode, permissionMode }: DriverRequest): boolean {
  return mode === "plan" || mode === "ask" || permissionMode === "plan";
}

/** Records the loss for CLIs whose only read-only mode is plan. */
export function loseAskMode({ mode }: DriverRequest, { losses }: DriverCommand, program: string): void {
  if (mode === "ask")
    losses.push({ option: "mode", reason: `${program} has no ask mode: it runs in plan mode, which changes nothing.` });
}

/** For CLIs that take no rules for one run: throws for deny rules, which must not be dropped silently. */
export function refuseRules({ permissions = {} }: DriverRequest, { losses }: DriverCommand, program: string): void {
  if (permissions.deny?.length)
    throw new UserError("USAGE", `${program} takes no rules for one run, so permissions.deny cannot be enforced.`);
  if (permissions.allow?.length)
    losses.push({ option: "permissions", reason: `${program} takes no rules for one run: its own settings count.` });
}

/** Throws for tool lists, which must not be dropped silently. */
export function refuseToolLists({ allowedTools, disallowedTools }: DriverRequest, program: string): void {
  if (!allowedTools && !disallowedTools?.length) return;
  throw new UserError(
    "USAGE",
    `${program} has no flag that limits its tools, so allowedTools and disallowedTools cannot be enforced.`,
  );
}
