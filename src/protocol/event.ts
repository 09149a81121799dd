// AgentEvent: everything an agent can say while it works. One vocabulary inside; wires are codecs at the edge.

/** How a tool call ended. `kind` is the outcome key of the wire: success, error, failure, rejected, timeout, … */
export type Outcome = {
  kind: string;
  value: unknown;
  /** What stands beside the outcome on the wire: `isBackground`, `pid`, … */
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

/** Numbers that both endings of a run carry. */
export type Ending = {
  /** Of the run. */
  durationMs: number;
  /** Of it, the time that the model took. */
  apiDurationMs: number;
  /** Of this run, for reports. */
  requestId?: string;
  /** Tokens, summed over the run. `totalCost`: US dollars, where the price of the model is known. */
  usage?: Usage & { totalCost?: number };
  /** Calls that were refused. */
  denials?: Denial[];
  /** Commands that were left running. */
  background?: BackgroundWork[];
  /** MCP servers that the run went without. */
  missingServers?: MissingServer[];
  /** Where a limit was given. */
  budget?: BudgetUse;
  /** What was to be known beside the answer, for who reads nothing but the ending. */
  notices?: { kind: string; message: string }[];
  /** Where the CLI tells it. */
  costUsd?: number;
};

export type AgentEventBody =
  /** The run begins. */
  | {
      type: "init";
      sessionId: string;
      cwd: string;
      model?: string;
      permissionMode: string;
      apiKeySource: string;
      tools?: string[];
      mcpServers?: { name: string; status: string }[];
      /** Of what the run may do: rules, mode, sandbox, trust. The same policy has the same hash. */
      policyHash?: string;
    }
  /** What the user said. */
  | { type: "user"; text: string }
  | { type: "thinking"; text: string } // a piece of a thought
  /** `text`: all of it, where it is known. `cut`, here and below: the turn ended before it was said to the end; not on the wire. */
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
  /** How the call ended: `outcome`. */
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
  /** What was answered. */
  | { type: "answer"; id: string | number; kind: string; response: unknown }
  /** The model is asked again. `discards`: text since the last text_end is void, it will be said anew. */
  | { type: "retry"; attempt: number; discards: boolean; reason?: string; delayMs?: number }
  /** Something a reader should know that is not a step of the work: the model changed, the context was cut. */
  | { type: "notice"; kind: string; message: string; fields?: Record<string, unknown> }
  /** `structured`: the answer by the schema that was asked for. */
  | ({ type: "done"; text: string; structured?: unknown } & Ending)
  /** The run failed. `answer`, `structured`: what the agent answered, where that is a failure all the same. */
  | ({ type: "fail"; message: string; code?: string; answer?: string; structured?: unknown } & Ending)
  | { type: "other"; raw: unknown }; // understood by nobody, lost by nobody

/** `at`: when it happened (ms). `carried`: what a foreign line said beyond this vocabulary; only its codec reads it. */
export type AgentEvent = AgentEventBody & { at?: number; carried?: unknown };
