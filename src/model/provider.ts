// The contract between the agent and whatever answers it.
import type { ErrorCode } from "../protocol/error-codes.ts";
import type { Usage } from "../protocol/event.ts";
import type { Message, Part } from "../protocol/message.ts";
import type { ReasoningEffort } from "../protocol/run.ts";
import type { Price } from "./prices.ts";

/** `mcp`: of a server of the user's, whose schema may be anything. */
export type ToolSpec = { name: string; description: string; parameters: object; mcp?: object };

export type Effort = ReasoningEffort;

export type ModelRequest = {
  /** The vendor's own id of the model, without our aliases and prefixes. */
  model: string;
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  signal: AbortSignal;
  effort?: Effort;
  /** The id of the chat that it belongs to; absent where the question stands beside any. */
  agent?: string;
  /** What is wanted, where it is not the next reply: a summary of older turns, or an answer beside the conversation. */
  purpose?: "summary" | "aside";
};

export type ModelChunk =
  | { type: "text" | "thinking"; text: string } // deltas, for eyes
  | { type: "part"; part: Part } // a finished part, in order, for the record
  | { type: "usage"; usage: Usage }
  /** The reply starts again from nothing: every delta and part of it so far is void. */
  | { type: "retry"; attempt: number; reason: string; delayMs: number }
  /** The reply stopped at a limit, in the middle of a call where one is named. Nothing but the usage follows; continue.ts goes on from there. */
  | { type: "cut"; reason: string; call?: string }
  /** Something to be known that is not part of the reply. */
  | { type: "notice"; kind: string; message: string }
  /** Another model answers from here on. `model`: its display name. */
  | { type: "model"; model: string; reason: string; facts?: ModelInfo };

/** What limits depend on. */
export type ModelInfo = { contextTokens: number; price?: Price };

/** Yields until the reply ends. Throws ModelError, and nothing else, when the model cannot answer. */
export interface Provider {
  readonly id: string;
  stream(request: ModelRequest): AsyncIterable<ModelChunk>;
  /** False where a request for a summary would be answered by something else. Absent: it can write one. */
  canSummarise?(): boolean;
}

export class ModelError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterMs: number | undefined;
  /** The server is at work on the request: a second one would only make it slower. */
  readonly mayStillAnswer: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: { retryAfterMs?: number; mayStillAnswer?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ModelError";
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.mayStillAnswer = options.mayStillAnswer === true;
  }
}
