// The contract of a run: what starts one, what can be done to it while it works, what it asks. run/ implements it in this
// process, sdk/ over the pipes of another.
import type { AgentEvent, Ending, Spending } from "./event.ts";
import type { ProfileName } from "./profiles.ts";
import type { Question as ChoiceItem, QuestionAnswer } from "./tool-shapes.ts";

export type { ChoiceItem, QuestionAnswer };

export type PermissionMode = "default" | "force" | "plan" | "ask";

export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

/** The wires that a server may speak. `openai`: chat completions. */
export const endpointTypes = ["openai", "responses", "anthropic", "google"] as const;
export type EndpointType = (typeof endpointTypes)[number];

/**
 * What a run shall be: plain data, so that it can be queued, kept and sent. Paths are absolute. It holds no secret: keys and
 * headers come from the process that carries it out.
 */
export type RunRequest = {
  /** Directory to work in. */
  workspace: string;
  /** Work in a copy of the workspace's repository instead: a worktree, new or known by its name. */
  worktree?: { name?: string; base?: string; skipSetup?: boolean };
  /** Additional workspace directories. */
  roots?: readonly string[];
  chat?: ChatChoice;
  /** Keep nothing on disk. */
  unkept?: boolean;
  /** `agent` leaves the plan or ask mode that a resumed chat was left in. */
  mode?: "plan" | "ask" | "agent";
  /** Everything but deny rules and protected paths. Also passes the trust gate, for this run. */
  force?: boolean;
  /** Trust the workspace from now on. */
  trust?: boolean;
  model?: string;
  effort?: ReasoningEffort;
  fallbackModels?: readonly string[];
  /** URL of a model server to use instead of a vendor. */
  endpoint?: string;
  /** What it speaks; default: OpenAI's chat completions. */
  endpointType?: EndpointType;
  systemPrompt?: string;
  appendSystemPrompt?: string;
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
  /** Rules for this run, as strong as the user's own: `Shell(git)`, `Write(src/**)`. */
  permissions?: { allow?: readonly string[]; deny?: readonly string[] };
  /** Give the agent a browser. */
  browser?: boolean;
  /** Further MCP servers: files, or the JSON itself. */
  mcpConfigs?: readonly string[];
  /** Servers that are approved for this run: those of the project are started. */
  approvedServers?: "all" | readonly string[];
  /** What becomes of calls of their tools that no rule speaks of. `allow`: in a trusted workspace, the approval covers them. */
  approvedServerCalls?: "allow" | "ask";
  /** Folders of plugins, for this run. */
  pluginDirs?: readonly string[];
  /** Further hooks: files, or the JSON itself. */
  hooks?: readonly string[];
  /** Sent to a fleet, the run goes without the hooks of the machine that sends it. */
  withoutLocalHooks?: boolean;
  sandbox?: "enabled" | "disabled";
  /** What becomes of commands that no rule speaks of: confined where a sandbox works, else asked about. */
  unlistedCommands?: "sandbox" | "ask";
  /** A model reviews what a person would be asked. */
  autoReview?: boolean;
  /** A command that answers what a person would be asked about permissions. */
  askCommand?: string;
  /** One prompt, and then the run is over: what it left running is part of its ending. */
  single?: boolean;
  /** What makes a run that ended well a failure. */
  failOn?: readonly FailReason[];
  /** MCP servers that must be there before the model is asked. */
  requiredServers?: readonly string[];
  /** Of the model, in US dollars for a million tokens, where it is not known or another one. */
  price?: { input: number; output: number };
  limits?: { maxTurns?: number; maxTimeMs?: number; maxCost?: number };
  /** JSON Schema of the answer. */
  answerSchema?: unknown;
  /** The shapes of the older CLI. */
  compat?: ProfileName;
};

export type FailReason = (typeof failReasons)[number];

/**
 * `denied`: calls were refused. `background`: commands in the background failed or were cut off. `empty`: no call of a tool
 * succeeded. `mcp`: servers were missing. `replay`: a recording differs.
 */
export const failReasons = ["denied", "background", "empty", "mcp", "replay"] as const;

/** Which conversation: a new one, or one to resume by its id, the beginning of it, or `-1` for the latest. */
export type ChatChoice =
  | { type: "new"; id?: string }
  /** `orNew`: where no chat has this id, a new one begins under it. */
  | { type: "resume"; id: string; orNew?: boolean; fork?: boolean; newId?: string };

export type Prompt = {
  text: string;
  /** Told to the model after the text, as it is: nothing in it is a command or a mention. */
  data?: string;
  /** Absolute paths, or the image itself. */
  images?: readonly (string | { mime: string; base64: string })[];
};

/** The last event of a turn. */
export type TurnEnding = Extract<AgentEvent, { type: "done" | "fail" }> & Ending;

/** A prompt that was handed in. `dropped`: withdrawn, or the run was over before its turn came; its ending is in no log. */
export type Sent = {
  id: string;
  readonly state: "waiting" | "told" | "dropped";
  /** Of the turn that answers it. Never rejects. */
  ending: Promise<TurnEnding>;
  /** False when it was told already, or is over. */
  withdraw(): Promise<boolean>;
};

/**
 * An event as the run recorded it. `number` grows from one recorded event to the next; deltas and live output have none.
 * `agent` is the id of the subagent it belongs to, which has a chat and numbers of its own.
 */
export type Recorded = { number?: number; agent?: string; event: AgentEvent };

/** What fills the model's window, in tokens. Estimates. `costUsd`: of the run so far, where the model's price is known. */
export type ContextUse = {
  window: number;
  used: number;
  system: number;
  tools: number;
  messages: number;
  costUsd?: number;
};

/** Something that `/name` calls: a command or a skill of the project's or the user's, a subagent, a prompt of an MCP server. */
export type CallableName = {
  name: string;
  kind: "command" | "skill" | "subagent" | "prompt";
  description?: string;
};

export interface LiveRun {
  readonly chatId: string;
  /** One turn; queued while another runs. */
  send(prompt: Prompt): Sent;
  /** Told at the next safe point of the running turn; without one, a turn of its own. */
  steer(text: string): Sent;
  /** Ends the turn, not the run. What is queued stays, and is said. */
  interrupt(why?: string): void;
  /** A running command goes on by itself. False when there is no such command. */
  background(callId: string): Promise<boolean>;
  /** Commands that go on by themselves, and those of them that have ended; where it can be known. */
  backgroundCommands?(): Promise<readonly BackgroundCommand[]>;
  /** From the next reply on: prompt, tools, policy, subagents. */
  setMode(mode: PermissionMode): void;
  /** By the same rules as at the start. Rejects with UserError, and then nothing has changed. */
  setModel(model: string, effort?: ReasoningEffort): Promise<void>;
  /** Makes the conversation for the model shorter now. */
  compact(): Promise<void>;
  /** Takes conversation and files back to before turn `turn`. Only while no turn runs. */
  rewind(turn: number): Promise<void>;
  context(): Promise<ContextUse>;
  /** A question beside the conversation, which keeps nothing of it. No tools. */
  aside(question: string): Promise<string>;
  /** What a `/name` at the beginning of a prompt may be now; prompts of servers come as these connect. */
  names(): Promise<readonly CallableName[]>;
  /**
   * From the beginning of the run, or from the event with this number. Any number of readers. The first one may hold up the
   * run by not reading; others are never waited for: who falls behind misses deltas, and nothing else.
   */
  events(from?: number): AsyncIterable<Recorded>;
  /** What the run used so far, where that is known. */
  spent?(): Spending;
  /** Ends what runs and everything that was started. */
  close(): Promise<void>;
}

/** `hash`: of what is asked. An answer from another process must name it, so that it cannot answer something else. */
export type Question = { id: string; hash: string } & QuestionBody;

export type QuestionBody =
  | PermissionQuestion
  | ChoicesQuestion
  | PlanQuestion
  | TrustQuestion
  | ServerQuestion
  | HooksQuestion;

/**
 * `reasons`: why it is not simply allowed. `rules`: the narrowest allow rules that would answer it from now on; `widerRules`:
 * those that would answer its like as well. `offersSandbox`: commands of this project can run in the sandbox from now on, this
 * one first, without a question (the answer's grant `sandbox`). `diff`: what an edit would change.
 * `personOnly`: no program may answer in the place of a person.
 */
export type PermissionQuestion = {
  type: "permission";
  callId: string;
  tool: string;
  args: unknown;
  needs: readonly { kind: string; target: string; cwd?: string }[];
  reasons: readonly string[];
  rules?: readonly string[];
  widerRules?: readonly string[];
  offersSandbox?: boolean;
  diff?: string;
  personOnly?: boolean;
};

export type ChoicesQuestion = { type: "choices"; title: string; questions: readonly ChoiceItem[] };

export type PlanQuestion = { type: "plan"; name: string; text: string; file: string };

/** May the agent work here, and follow the instructions of the project? */
export type TrustQuestion = { type: "trust"; workspace: string };

/** An MCP server of the project that is new or has changed. `start`: what starting it does. */
export type ServerQuestion = { type: "server"; name: string; file: string; start: string };

/** Hooks of the project that are new or have changed. `command`, or the `prompt` that a model is asked. */
export type HooksQuestion = {
  type: "hooks";
  files: readonly { file: string; hooks: readonly { event: string; command?: string; prompt?: string }[] }[];
};

/**
 * `always`: for the same thing until the run ends. `grant`: the proposed rules hold from now on, for this run, or saved with
 * those of the project or the user; `wider`: the wider ones; `sandbox`: see `offersSandbox`; `run` for trust, servers and hooks: the yes is not remembered. `choices` without answers:
 * passed over.
 */
export type Answer =
  | { type: "yes"; always?: boolean; grant?: "run" | "project" | "user" | "sandbox"; wider?: boolean }
  | { type: "no"; reason?: string }
  | { type: "choices"; answers: readonly QuestionAnswer[] };

/** `exitCode`: null while it runs, and where a signal ended it. */
export type BackgroundCommand = {
  taskId: string;
  command: string;
  outputFile: string;
  status: "running" | "exited" | "killed";
  exitCode: number | null;
};

/** Who answers what no rule does. Absent: nobody can, and then asking means refusing. */
export interface Human {
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  /** The kinds that it can answer, where it cannot answer all. */
  readonly answers?: readonly QuestionBody["type"][];
}
