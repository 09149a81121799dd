// AgentEvent: everything an agent can say while it works. One vocabulary inside; wires are codecs at the edge.

/** How a tool call ended. `kind` is the outcome key of the wire: success, error, failure, rejected, timeout, … */
export type Outcome = {
  kind: string;
  value: unknown;
  /** Fields beside the outcome in the stream: `isBackground`, `pid`, … */
  siblings?: Record<string, unknown>;
};

export type Usage = {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
};

/** A call that was refused, and why: listed at the end of a run. `rule`, and the `file` that holds it, where one denies it. */
export type Denial = { tool: string; callId: string; reason: string; rule?: string; file?: string };

/**
 * A command that was left to itself, and how it ended. `running`: it goes on, the run does too. `stopped`: by the agent.
 * `cut_off`: it still ran when the run was over, and was ended with it.
 */
export type BackgroundWork = {
  id: string;
  command: string;
  status: "exited" | "stopped" | "cut_off" | "running";
  exit_code?: number;
};

/** An MCP server that was configured, and was not there. */
export type MissingServer = { name: string; status: string; problem?: string };

/** What was used of what a run may use. */
export type BudgetUse = { turns: number; max_turns?: number; cost_usd?: number; max_cost_usd?: number };

/** Tokens and what they cost in US dollars; null: their price is not known. */
export type Spending = Usage & { totalCost: number | null };

/** How full the model's window was after the last answer, in tokens, as the model counted them. Kept with the chat; not in the stream. */
export type ContextFill = { used: number; window?: number };

/** Numbers that both endings of a run carry. */
export type Ending = {
  /** Of the run. */
  durationMs: number;
  /** The part of it spent in model requests. */
  apiDurationMs: number;
  /** Id of this run, for bug reports. */
  requestId?: string;
  /** Tokens, summed over the run. `totalCost`: US dollars; null if tokens were used whose price is not known. */
  usage?: Usage & { totalCost?: number | null };
  /** How full the window of the model was after the last answer. */
  context?: ContextFill;
  /** Denied calls. */
  denials?: Denial[];
  /** Commands left running in the background. */
  background?: BackgroundWork[];
  /** MCP servers that were not available. */
  missingServers?: MissingServer[];
  /** If a limit was given. */
  budget?: BudgetUse;
  /** Notices of the run, for readers of the last line only. */
  notices?: { kind: string; message: string }[];
  /** If the CLI reports it. */
  costUsd?: number;
};

export type AgentEventBody =
  /** The run starts. */
  | {
      type: "init";
      sessionId: string;
      cwd: string;
      model?: string;
      permissionMode: string;
      apiKeySource: string;
      tools?: string[];
      mcpServers?: { name: string; status: string }[];
      /** Hash of the permissions: rules, mode, sandbox, trust. The same policy has the same hash. */
      policyHash?: string;
    }
  /** The user's prompt. */
  | { type: "user"; text: string }
  | { type: "thinking"; text: string } // a delta of thinking
  /** `text`: the whole text, if known. `cut`, here and below: the turn ended before it was complete; not in the stream. */
  | { type: "thinking_end"; text?: string; cut?: true }
  | { type: "text"; text: string } // a piece of the answer
  | { type: "text_end"; text: string; modelCallId?: string; cut?: true } // the whole segment
  /** `description`, here and below: what the call does, in the model's words. */
  | {
      type: "tool_start";
      callId: string;
      tool: string;
      args: unknown;
      description?: string;
      modelCallId?: string;
      startedAt?: number;
    }
  | { type: "tool_output"; callId: string; chunk: string } // live only, never stored
  /** The call has ended, with its `outcome`. */
  | {
      type: "tool_end";
      callId: string;
      tool: string;
      args: unknown;
      description?: string;
      outcome?: Outcome;
      modelCallId?: string;
      startedAt?: number;
      completedAt?: number;
    }
  /** A question to a person. */
  | { type: "ask"; id: string | number; kind: string; query: unknown }
  /** The answer. */
  | { type: "answer"; id: string | number; kind: string; response: unknown }
  /** The model request is retried. `discards`: text since the last text_end is discarded and will be sent again. */
  | { type: "retry"; attempt: number; discards: boolean; reason?: string; delayMs?: number }
  /** Something a reader should know that is not a step of the work: the model changed, the context was compacted. */
  | { type: "notice"; kind: string; message: string; fields?: Record<string, unknown> }
  /** `structured`: the answer that matches the requested schema. */
  | ({ type: "done"; text: string; structured?: unknown } & Ending)
  /** The run failed. `answer`, `structured`: the agent's answer, if the run failed in spite of it. */
  | ({ type: "fail"; message: string; code?: string; answer?: string; structured?: unknown } & Ending)
  | { type: "other"; raw: unknown }; // not recognised, passed on unchanged

/** `at`: when it happened (ms). `carried`: what a foreign line said beyond this vocabulary; only its codec reads it. */
export type AgentEvent = AgentEventBody & { at?: number; carried?: unknown };
