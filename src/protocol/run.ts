// The contract of a run: its request, the operations on a running one, and the questions it asks. run/ implements it in this
// process, sdk/ over pipes to another process.
import type { AgentEvent, Ending, Spending } from "./event.ts";
import type { ProfileName } from "./profiles.ts";
import type { ChoiceItem, QuestionAnswer } from "./tool-shapes.ts";

export type { ChoiceItem, QuestionAnswer };

/** How much a running agent may do without asking: see `setMode`. */
export type PermissionMode = "default" | "force" | "plan" | "ask";

export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
/** How much the model thinks before it answers. */
export type ReasoningEffort = (typeof reasoningEfforts)[number];

/** The wire protocols a model server may speak. `openai` is chat completions. */
export const endpointTypes = ["openai", "responses", "anthropic", "google"] as const;
export type EndpointType = (typeof endpointTypes)[number];

/**
 * Describes a run as plain data, so that it can be queued, stored and sent. Paths are absolute. It holds no secrets: keys and
 * headers come from the process that executes it.
 */
export type RunRequest = {
  /** The directory in which the agent works. */
  workspace: string;
  /** Works in a worktree of the workspace's repository instead: a new one, or an existing one by name. */
  worktree?: { name?: string; base?: string; skipSetup?: boolean };
  /** Additional workspace directories. */
  roots?: readonly string[];
  chat?: ChatChoice;
  /** If set, the run stores nothing on disk. */
  ephemeral?: boolean;
  /** `agent` leaves the plan or ask mode that a resumed chat was in. */
  mode?: "plan" | "ask" | "agent";
  /** Allows everything except deny rules and protected paths. Also passes the trust gate, for this run. */
  force?: boolean;
  /** Whether to trust the workspace from now on. */
  trust?: boolean;
  model?: string;
  effort?: ReasoningEffort;
  fallbackModels?: readonly string[];
  /** The URL of a model server that is used in place of a vendor. */
  endpoint?: string;
  /** The protocol of `endpoint`; OpenAI's chat completions by default. */
  endpointType?: EndpointType;
  systemPrompt?: string;
  appendSystemPrompt?: string;
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
  /** Rules for this run, with the same weight as the user's own: `Shell(git)`, `Write(src/**)`. */
  permissions?: { allow?: readonly string[]; deny?: readonly string[] };
  /** Whether the agent can use a browser. */
  browser?: boolean;
  /** Additional MCP servers: file paths or inline JSON. */
  mcpConfigs?: readonly string[];
  /** MCP servers approved for this run; those of the project are started. */
  approvedServers?: "all" | readonly string[];
  /** Decides calls to approved servers' tools without a rule. `allow`: the approval covers them if trusted. */
  approvedServerCalls?: "allow" | "ask";
  /** Plugin folders for this run. */
  pluginDirs?: readonly string[];
  /** Additional hooks: file paths or inline JSON. */
  hooks?: readonly string[];
  /** Lets the run be sent to a fleet without the hooks of the sending machine. */
  withoutLocalHooks?: boolean;
  sandbox?: "enabled" | "disabled";
  /** Decides commands that match no rule: `sandbox` confines them where a sandbox works, and asks otherwise. */
  unlistedCommands?: "sandbox" | "ask";
  /** Whether a model reviews calls before a user is asked. */
  autoReview?: boolean;
  /** A command that answers permission questions in place of the user. */
  askCommand?: string;
  /** The run ends after one prompt; what it left running in the background is part of its ending. */
  single?: boolean;
  /** Conditions that turn a successful run into a failed one. */
  failOn?: readonly FailReason[];
  /** MCP servers that must be available before the model is called. */
  requiredServers?: readonly string[];
  /** The model's price in US dollars per million tokens, if it is unknown or differs from the known one. */
  price?: { input: number; output: number };
  limits?: { maxTurns?: number; maxTimeMs?: number; maxCost?: number };
  /** The JSON Schema that the final answer must match. */
  answerSchema?: unknown;
  /** Writes the output shapes of this version of the older CLI. */
  compat?: ProfileName;
};

export type FailReason = (typeof failReasons)[number];

/**
 * `denied`: calls were refused. `background`: background commands failed or were cut off. `empty`: no tool call succeeded. `mcp`:
 * servers were missing. `replay`: a recording differs.
 */
export const failReasons = ["denied", "background", "empty", "mcp", "replay"] as const;

/** Selects the conversation: a new one, or one to resume by its id, a prefix of the id, or `-1` for the latest. */
export type ChatChoice =
  | { type: "new"; id?: string; name?: string }
  /** Resumes a chat. With `orNew`, a new chat with this id is started if there is none. */
  | { type: "resume"; id: string; orNew?: boolean; fork?: boolean; newId?: string; name?: string };

/** A prompt with its attachments. */
export type Prompt = {
  text: string;
  /** Sent to the model verbatim after the text; commands and mentions in it are not expanded. */
  data?: string;
  /** The images, as absolute paths or as data. */
  images?: readonly (string | { mime: string; base64: string })[];
};

/** The last event of a turn, with its totals. */
export type TurnEnding = Extract<AgentEvent, { type: "done" | "fail" }> & Ending;

export function isEnding<Event extends { type: string }>(
  event: Event,
): event is Extract<Event, { type: "done" | "fail" }> {
  return event.type === "done" || event.type === "fail";
}

/** A prompt that was handed in. `dropped`: withdrawn, or the run ended before its turn; its ending is in no log. */
export type Sent = {
  id: string;
  readonly state: "waiting" | "told" | "dropped";
  /** The ending of the turn that answers this prompt. Never rejects. */
  ending: Promise<TurnEnding>;
  /** Resolves to false if the model already has the prompt, or it is over. */
  withdraw(): Promise<boolean>;
};

/**
 * An event as the run recorded it. `number` grows from one recorded event to the next; deltas and live output have none.
 * `agent` is the id of the subagent it belongs to, which has a chat and numbers of its own.
 */
export type Recorded = { number?: number; agent?: string; event: AgentEvent };

/** Estimates what fills the model's context window, in tokens. `costUsd` is the cost of the run so far, if the price is known. */
export type ContextUse = {
  window: number;
  used: number;
  system: number;
  tools: number;
  messages: number;
  costUsd?: number;
};

/** A name that `/name` can call: a command or skill of the project or the user, a subagent, or a prompt of an MCP server. */
export type CallableName = {
  name: string;
  kind: "command" | "skill" | "subagent" | "prompt";
  description?: string;
};

/** A run that can be controlled while it works. */
export interface LiveRun {
  readonly chatId: string;
  /** Starts one turn, or queues it while another runs. */
  send(prompt: Prompt): Sent;
  /** Hands text to the model at the next safe point of the running turn, or as a new turn if none runs. */
  steer(text: string): Sent;
  /** Ends the turn, not the run. Queued prompts stay queued and are still sent. */
  interrupt(why?: string): void;
  /** Moves a running command to the background. Resolves to false if there is no such command. */
  background(callId: string): Promise<boolean>;
  /** Lists background commands, including ended ones; absent if the run cannot know them. */
  backgroundCommands?(): Promise<readonly BackgroundCommand[]>;
  /** Changes prompt, tools, policy and subagents from the next reply on. */
  setMode(mode: PermissionMode): void;
  /** Resolves the model by the same rules as at the start. Rejects with a UserError, and then nothing has changed. */
  setModel(model: string, effort?: ReasoningEffort): Promise<void>;
  /** Compacts the conversation now, so that it takes less of the context window. */
  compact(): Promise<void>;
  /** Restores conversation and files to their state before turn `turn`. Only allowed while no turn runs. */
  rewind(turn: number): Promise<void>;
  context(): Promise<ContextUse>;
  /** Asks the model a question outside the conversation, which does not record it. No tools. */
  aside(question: string): Promise<string>;
  /** Lists the names that `/name` can call now; prompts of MCP servers appear as the servers connect. */
  names(): Promise<readonly CallableName[]>;
  /**
   * Yields events from the start of the run, or from the event with this number, to any number of readers. The first reader can
   * hold up the run by not reading; the run never waits for others: a reader that falls behind misses only deltas.
   */
  events(from?: number): AsyncIterable<Recorded>;
  /** Returns what the run has used so far; undefined if unknown. */
  spent?(): Spending;
  /** Ends the running turn and all processes that the run started. */
  close(): Promise<void>;
}

/** `hash` identifies the question's content; an answer from another process must contain it. */
export type Question = { id: string; hash: string } & QuestionBody;

export type QuestionBody =
  | PermissionQuestion
  | ChoicesQuestion
  | PlanQuestion
  | TrustQuestion
  | ServerQuestion
  | HooksQuestion;

/**
 * `reasons` say why the call is not simply allowed. `rules` are the narrowest allow rules that would answer it from now on;
 * `widerRules` would also answer similar calls. `offersSandbox`: commands of this project can run in the sandbox from now on,
 * this one first, without a question (the answer's grant `sandbox`). `diff` shows what an edit would change. `personOnly`: no
 * program may answer in place of a person.
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

/** Asks whether the agent may work here and follow the project's instructions. */
export type TrustQuestion = { type: "trust"; workspace: string };

/** Asks about a new or changed MCP server of the project. `start` says what starting it does. */
export type ServerQuestion = { type: "server"; name: string; file: string; start: string };

/** Asks about new or changed hooks of the project, each with its `command`, or the `prompt` for a model. */
export type HooksQuestion = {
  type: "hooks";
  files: readonly { file: string; hooks: readonly { event: string; command?: string; prompt?: string }[] }[];
};

/**
 * `always` covers the same thing until the run ends. `grant` applies the proposed rules from now on: for this run, or saved to
 * the project's or the user's; `wider` selects the wider rules; for `sandbox` see `offersSandbox`; `run` for trust, servers and
 * hooks does not remember the yes. `choices` without answers skips the question.
 */
export type Answer =
  | { type: "yes"; always?: boolean; grant?: "run" | "project" | "user" | "sandbox"; wider?: boolean }
  | { type: "no"; reason?: string }
  | { type: "choices"; answers: readonly QuestionAnswer[] };

/** `exitCode` is null while the command runs, and if a signal ended it. */
export type BackgroundCommand = {
  taskId: string;
  command: string;
  outputFile: string;
  status: "running" | "exited" | "killed";
  exitCode: number | null;
};

/** Answers questions that no rule decides. Without one, every question is refused. */
export interface Human {
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  /** The types of questions that this human can answer; all if absent. */
  readonly answers?: readonly QuestionBody["type"][];
}
