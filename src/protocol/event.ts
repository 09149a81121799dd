// AgentEvent: everything an agent reports while it works. The program uses this one vocabulary; codecs translate it at the edges.

/** How a tool call ended. `kind` is the outcome key on the wire: success, error, failure, rejected, timeout, … */
export type Outcome = {
  kind: string;
  value: unknown;
  /** Fields next to the outcome in the stream: `isBackground`, `pid`, … */
  siblings?: Record<string, unknown>;
};

/** The tokens that were used. Tokens of the vendor's cache are not included in the input. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
};

/** A refused call and the reason. `rule` is the rule that denies it, if any; `file` contains that rule. */
export type Denial = { tool: string; callId: string; reason: string; rule?: string; file?: string };

/**
 * A background command and how it ended. `running`: it goes on, as does the run. `stopped`: by the agent. `cut_off`: it was still
 * running when the run ended, and was ended with it.
 */
export type BackgroundWork = {
  id: string;
  command: string;
  status: "exited" | "stopped" | "cut_off" | "running";
  exit_code?: number;
};

/** An MCP server that was configured but not available. */
export type MissingServer = { name: string; status: string; problem?: string };

/** How much of its limits the run has used. */
export type BudgetUse = { turns: number; max_turns?: number; cost_usd?: number; max_cost_usd?: number };

/** Tokens and their cost in US dollars; null if the price is unknown. */
export type Spending = Usage & { totalCost: number | null };

/** How full the context window was after the last answer, in the model's tokens. Stored, but not in the stream. */
export type ContextFill = { used: number; window?: number };

/** Totals that the last event of a run contains. */
export type Ending = {
  /** The duration of the whole run in milliseconds. */
  durationMs: number;
  /** For how many of these milliseconds the run waited for the model. */
  apiDurationMs: number;
  /** The part of the duration spent waiting for a person's answers. Stored with the chat; not in the stream. */
  waitedMs?: number;
  /** The id of this run, to include in bug reports. */
  requestId?: string;
  /** Tokens, summed over the run. `totalCost` is in US dollars; null if tokens were used whose price is unknown. */
  usage?: Usage & { totalCost?: number | null };
  /** How full the model's context window was after the last answer. */
  context?: ContextFill;
  /** The calls that were refused. */
  denials?: Denial[];
  /** The background commands of the run, and how they ended. */
  background?: BackgroundWork[];
  /** Configured MCP servers that were not available. */
  missingServers?: MissingServer[];
  /** What the run used of its limits; present if it had any. */
  budget?: BudgetUse;
  /** The run's notices again, for programs that read only the last line. */
  notices?: { kind: string; message: string }[];
  /** The cost in US dollars, if the CLI reports it. */
  costUsd?: number;
};

/** What an event says, without its time. */
export type AgentEventBody =
  /** The first event: the run starts. */
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
  /** A prompt that the user has sent. */
  | { type: "user"; text: string }
  | { type: "thinking"; text: string } // a piece (delta) of thinking
  /** `text` is the whole text, if known. `cut`, here and below: the turn ended before it was complete; not in the stream. */
  | { type: "thinking_end"; text?: string; cut?: true }
  | { type: "text"; text: string } // a piece (delta) of the answer
  | { type: "text_end"; text: string; modelCallId?: string; cut?: true } // the whole text between two calls
  /** `description`, here and below, says what the call does, in the model's words. */
  | {
      type: "tool_start";
      callId: string;
      tool: string;
      args: unknown;
      description?: string;
      modelCallId?: string;
      startedAt?: number;
    }
  | { type: "tool_output"; callId: string; chunk: string } // for display only, never stored
  /** The tool call has ended with this `outcome`. */
  | {
      type: "tool_end";
      callId: string;
      tool: string;
      args: unknown;
      description?: string;
      outcome?: Outcome;
      modelCallId?: string;
      startedAt?: number;
      /** When the tool began to run, after hooks and questions. Stored with the chat but not in the stream. */
      ranAt?: number;
      completedAt?: number;
    }
  /** A question to a person. */
  | { type: "ask"; id: string | number; kind: string; query: unknown }
  /** The answer to an `ask` with the same id. */
  | { type: "answer"; id: string | number; kind: string; response: unknown }
  /** The model request is retried. `discards`: text since the last text_end is discarded and will be sent again. */
  | { type: "retry"; attempt: number; discards: boolean; reason?: string; delayMs?: number }
  /** Something the reader should know that is not a step of the work: the model changed, the context was compacted. */
  | { type: "notice"; kind: string; message: string; fields?: Record<string, unknown> }
  /** `structured` is the answer that matches the requested schema. */
  | ({ type: "done"; text: string; structured?: unknown } & Ending)
  /** The run failed. `answer` and `structured` hold the agent's answer, if it gave one. */
  | ({ type: "fail"; message: string; code?: string; answer?: string; structured?: unknown } & Ending)
  | { type: "other"; raw: unknown }; // a line that was not recognised, passed on unchanged

/** `at` is the time in ms. `carried` has the fields of a CLI's line that the event does not represent; only that CLI's codec reads it. */
export type AgentEvent = AgentEventBody & { at?: number; carried?: unknown };

/** An event of this type. */
export type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;
