// AgentDriver: all that must be known of one agent CLI to drive it: where it is, its command line, its stream.
import { UserError } from "../../protocol/error-codes.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import type { FrameType } from "../../protocol/frame-shapes.ts";
import type { UnifiedTool } from "../unified.ts";
import type { FailureRow } from "./failures.ts";

/**
 * `default`: as the CLI is set up. `acceptEdits`: files of the workspace may be changed. `force`, `bypassPermissions`:
 * everything but what is denied. `plan`: nothing is changed.
 */
export const permissionModes = ["default", "acceptEdits", "force", "bypassPermissions", "plan"] as const;
export type SdkPermissionMode = (typeof permissionModes)[number];

/** `agent` does what it is told; `plan` proposes, `ask` answers: neither changes anything. */
export const workModes = ["agent", "plan", "ask"] as const;
export type WorkMode = (typeof workModes)[number];

/** Rules of the kinds Shell, Read, Write, WebFetch and Mcp. What is denied stays denied, whatever the permission mode. */
export type PermissionRules = { allow?: readonly string[] | undefined; deny?: readonly string[] | undefined };

/** A program on stdio, or a server on HTTP. */
export type McpServer =
  | {
      command: string;
      args?: readonly string[] | undefined;
      env?: Readonly<Record<string, string>> | undefined;
      cwd?: string | undefined;
    }
  | { url: string; headers?: Readonly<Record<string, string>> | undefined };

/** Most that a run, with its repairs, may use up. */
export type Budget = {
  /** Number of model replies. */
  turns?: number | undefined;
  /** Input and output together. */
  tokens?: number | undefined;
  costUsd?: number | undefined;
  timeMs?: number | undefined;
};

/** What a driver says in the words of its CLI. */
export type DriverRequest = {
  prompt: string;
  cwd: string;
  model?: string;
  permissionMode: SdkPermissionMode;
  mode?: WorkMode;
  permissions?: PermissionRules;
  sandbox?: boolean;
  mcpServers?: Readonly<Record<string, McpServer>>;
  /** JSON Schema of the answer, for CLIs that can be given one. */
  answerSchema?: object;
  /** Resume a session: its id, or `true` for the latest. */
  resume?: string | true;
  /** With `resume`: in a copy, so that the session stays as it is. */
  fork?: boolean;
  /** Paths of pictures. */
  images?: readonly string[];
  systemPrompt?: string;
  appendSystemPrompt?: string;
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
  addDirs?: readonly string[];
  /** The folder is trusted from now on, where the CLI asks for that. */
  trust?: boolean;
  /** Text as it comes, not only whole. */
  partial: boolean;
  budget?: Budget;
  /** What the CLI calls back to: see connection.ts. */
  connection?: Connection;
};

/** How a CLI reaches this program while it works. Commands are lists of words, for no shell. */
export type Connection = {
  /** A folder of this run alone, for files that the CLI must be given. */
  folder: string;
  /** Run as a hook of an event, by its name in the table of hook events; undefined: no hooks were asked for. */
  hook?: { command: readonly string[]; events: readonly string[] };
  /** Answers what a person would be asked. */
  ask?: { command: readonly string[] };
  /** An MCP server on stdio. */
  mcp?: { name: string; command: readonly string[] };
  /** Inputs that a callback has put in the place of the model's, by the id of the call. */
  changedInputs?: ReadonlyMap<string, unknown>;
  /** Calls that a callback has denied, in order: some CLIs do not tell of them. */
  refusedCalls?: readonly { id: string; name: string; input: unknown; reason: string }[];
};

/** What could not be carried over to a CLI, and why. */
export type RunLoss = { option: string; reason: string };

export type DriverCommand = {
  /** Without the prompt. */
  args: string[];
  /** Instead of the prompt of the request. */
  prompt?: string;
  promptVia?: "auto" | "stdin";
  env?: Record<string, string>;
  losses: RunLoss[];
};

export type Capabilities = {
  /** Text comes piece by piece. */
  partialText: boolean;
  thinking: boolean;
  resume: boolean;
  fork: boolean;
  images: boolean;
  systemPrompt: boolean;
  /** `canUseTool` and `hooks`. */
  permissionCallback: boolean;
  /** In-process tools, as an MCP server. */
  tools: boolean;
  usage: boolean;
  cost: boolean;
  modelList: boolean;
  /** Answers by `schema` are a matter of the CLI; else the model is told, and this side checks. */
  schema: boolean;
  sessions: boolean;
  /** One process for many turns that can be steered, asked and answered while it works: `hello` and control lines. */
  live: boolean;
  permissionModes: readonly SdkPermissionMode[];
};

/** What most of them can; a driver names what is otherwise. */
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

/** Where a run happens. `since`: when it began. */
export type RunPlace = { env: NodeJS.ProcessEnv; since: number; resume: string | true | undefined };

/** What is known of the program that was found. `isOurs`: it is this package's own CLI. */
export type CliInfo = { path: string; isOurs: boolean };

export interface AgentDriver {
  tool: UnifiedTool;
  /** Names that it is installed under, the first that is found counts. */
  programs: readonly string[];
  /** Variable that names its path. */
  pathVariable: string;
  capabilities(cli?: CliInfo): Capabilities;
  /** Throws UserError for what must not be left out in silence. */
  command(request: DriverRequest, cli: CliInfo): DriverCommand;
  /** The lines of its stream. Not here: the lines of cursor-agent, which are checked closely. */
  frames?: ReadonlyMap<string, FrameType>;
  /** Its stream has no last line: it is over when the process is. */
  endsByExit?: true;
  /** The same for a process of many turns, where nothing but its end is the end. */
  liveFrames?: ReadonlyMap<string, FrameType>;
  /** One for each run. */
  decoder(request: DriverRequest): (line: unknown) => AgentEvent[];
  /** What the CLI's own files tell of a run beyond its stream, one for each run. */
  addDetails?(place: RunPlace): (event: AgentEvent) => AgentEvent | Promise<AgentEvent>;
  /** What it says of itself when it fails, in its stream or on stderr. The words of vendors are known beside them. */
  failures: readonly FailureRow[];
  /** It keeps to `budget.turns` by itself. Otherwise it is stopped when a reply asks for more than there may be. */
  limitsTurns?: true;
  /** Options that this CLI is given as files. */
  fileOptions?: readonly ("mcpServers" | "schema" | "budget")[];
  /** Whether the CLI's own way to answer by a schema takes this one. All, unless told. */
  takesSchema?(schema: object): boolean;
  /** Words that make it list its models, and how the list reads. */
  models?: { args: readonly string[]; read(stdout: string): ModelEntry[] };
}

export type ModelEntry = { id: string; name: string; isDefault?: boolean };

/** A line that is taken as it comes: only its decoder looks into it. */
export const known: FrameType = { check: () => undefined };

/** For CLIs that take instructions from a file of the project only. */
export function losePrompts(request: DriverRequest, { losses }: DriverCommand, reason: string): void {
  for (const option of ["systemPrompt", "appendSystemPrompt"] as const)
    if (request[option] !== undefined) losses.push({ option, reason });
}

/** Nothing is changed in it: by `mode`, or by `permissionMode`. */
export function isReadOnly({ mode, permissionMode }: DriverRequest): boolean {
  return mode === "plan" || mode === "ask" || permissionMode === "plan";
}

/** For CLIs that know no mode beside plan and their usual one. */
export function loseAskMode({ mode }: DriverRequest, { losses }: DriverCommand, program: string): void {
  if (mode === "ask")
    losses.push({ option: "mode", reason: `${program} has no ask mode: it runs in plan mode, which changes nothing.` });
}

/** For CLIs that take no rules for one run. A deny rule that cannot be kept is not left out in silence. */
export function refuseRules({ permissions = {} }: DriverRequest, { losses }: DriverCommand, program: string): void {
  if (permissions.deny?.length)
    throw new UserError("USAGE", `${program} takes no rules for one run, so permissions.deny cannot be enforced.`);
  if (permissions.allow?.length)
    losses.push({ option: "permissions", reason: `${program} takes no rules for one run: its own settings count.` });
}

/** A limit that cannot be kept is not left out in silence. */
export function refuseToolLists({ allowedTools, disallowedTools }: DriverRequest, program: string): void {
  if (!allowedTools && !disallowedTools?.length) return;
  throw new UserError(
    "USAGE",
    `${program} has no flag that limits its tools, so allowedTools and disallowedTools cannot be enforced.`,
  );
}
