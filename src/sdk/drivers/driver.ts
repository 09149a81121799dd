// AgentDriver: everything needed to drive one agent CLI: where it is, its command line, its stream.
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
  /** What the subagent is for; the model chooses by this. */
  description: string;
  /** The instructions that the subagent gets as its system prompt. */
  prompt: string;
  /** The only tools that the subagent may use, by the CLI's names. Default: those of the agent. */
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
  /** The session to resume: its id, or `true` for the latest one. */
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
  /** Where and with which token the CLI calls back into this process. */
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

/** The command line of a CLI for one request. */
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

/** The name of something that an agent CLI may support. */
export type Ability = Exclude<keyof Capabilities, "permissionModes">;

/** Where a run happens. `since` is when it began. */
export type RunPlace = { env: NodeJS.ProcessEnv; since: number; resume: string | true | undefined };

/** The program that was found. `isOurs` is true for the CLI of this package. */
export type CliInfo = { path: string; isOurs: boolean };

/** An agent CLI that `defineAgent` was told about. */
export interface AgentDriver {
  readonly tool: UnifiedTool;
  /** The names it is installed under; the first one found is used. */
  readonly programs: readonly string[];
  /** The environment variable with its path. */
  readonly pathVariable: string | undefined;
  capabilities(cli?: CliInfo): Capabilities;
  /** Throws a UserError for options that must not be dropped silently. */
  command(request: DriverRequest, cli: CliInfo): DriverCommand;
  /** The type of each kind of line in the CLI's stream. */
  readonly frames: ReadonlyMap<string, FrameType>;
  /** True if its stream has no final line and is over when the process exits. */
  readonly endsByExit: boolean;
  /** Creates a decoder for the stream of one turn. */
  decoder(request: DriverRequest): (line: unknown) => AgentEvent[];
  /** The CLI's own error messages, in its stream or on stderr. Messages of model vendors are known in addition. */
  readonly failures: readonly FailureRow[];
  /** Adds what the CLI's own files say beyond its stream; one for each turn. */
  readonly addDetails?: ((place: RunPlace) => (event: AgentEvent) => AgentEvent | Promise<AgentEvent>) | undefined;
  /** True if the CLI enforces `budget.turns` itself. Otherwise it is stopped when another reply would exceed the limit. */
  readonly limitsTurns?: true | undefined;
  /** True if `permissions.deny` is enforced by a hook before each call, because the CLI has no flag for it. */
  readonly deniesByHook?: true | undefined;
  /** The options that are passed to this CLI in files. */
  readonly fileOptions?: readonly FileOption[] | undefined;
  /** Whether the CLI's native structured output accepts this schema. Default: every schema. */
  readonly takesSchema?: ((schema: object) => boolean) | undefined;
  readonly models?: ModelLister | undefined;
  /** If one process can take many turns: how. Default: each turn has its own process. */
  readonly live?: LiveProtocol | undefined;
}

/** An option that a CLI takes in a file. */
export type FileOption = "mcpServers" | "schema" | "budget" | "agents";

/** How a CLI lists its models. */
export type ModelLister = {
  /** The arguments with which the CLI prints its list of models. */
  args: readonly string[];
  read(stdout: string): ModelEntry[];
};

/** How one process of a CLI takes many turns: the objects that are written to its stdin as lines of JSON. */
export type LiveProtocol = {
  /** The arguments with which the CLI reads prompts from its stdin. */
  args: readonly string[];
  prompt(prompt: { text: string; images: readonly string[] }): object;
  /** Returns the message that ends the turn but not the process. */
  interrupt(): object;
};

/** A model that a CLI offers. */
export type ModelEntry = { id: string; name: string; isDefault?: boolean };

/** The MCP servers of a run, by name, with the one that offers functions of this program. */
export function serversOf({ mcpServers, connection }: DriverRequest): Record<string, McpServer> {
  const { name, command = [] } = connection?.mcp ?? {};
  const [program = "", ...args] = command;
  return { ...mcpServers, ...(name !== undefined && { [name]: { command: program, args } }) };
}

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

/** True if the agent may change nothing, by `mode` or by `permissionMode`. */
export function isReadOnly({ mode, permissionMode }: DriverRequest): boolean {
  return mode === "plan" || mode === "ask" || permissionMode === "plan";
}

/** Records the loss for CLIs whose only read-only mode is plan. */
export function loseAskMode({ mode }: DriverRequest, { losses }: DriverCommand, program: string): void {
  if (mode === "ask")
    losses.push({ option: "mode", reason: `${program} has no ask mode: it runs in plan mode, which changes nothing.` });
}
