// The interface between the agent and the models that answer it.
import type { ErrorCode } from "../protocol/error-codes.ts";
import type { Usage } from "../protocol/event.ts";
import type { Message, Part } from "../protocol/message.ts";
import type { ReasoningEffort } from "../protocol/run.ts";
import type { Price } from "./prices.ts";

/** `mcp` is set for a tool of the user's MCP server, whose schema may be anything. */
export type ToolSpec = { name: string; description: string; parameters: object; mcp?: object };

export type Effort = ReasoningEffort;

export type ModelRequest = {
  /** The vendor's own id of the model, without aliases and prefixes. */
  model: string;
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  signal: AbortSignal;
  effort?: Effort;
  /** The id of the chat that the request belongs to; absent if it belongs to none. */
  agent?: string;
  /** Set if the request is not for the next reply of the conversation: a summary of older turns, or a side question. */
  purpose?: "summary" | "aside";
};

export type ModelChunk =
  | { type: "text" | "thinking"; text: string } // a delta, for display
  | { type: "part"; part: Part } // a complete part, to be stored
  | { type: "usage"; usage: Usage }
  /** The reply starts again: ignore all its previous deltas and parts. */
  | { type: "retry"; attempt: number; reason: string; delayMs: number }
  /** The reply stopped at a limit, perhaps in the middle of `call`. Only usage follows; continue.ts gets the rest. */
  | { type: "cut"; reason: string; call?: string }
  /** Information that is not part of the reply. */
  | { type: "notice"; kind: string; message: string }
  /** Another model answers from now on. `model` is its display name. */
  | { type: "model"; model: string; reason: string; info?: ModelInfo };

/** The properties of a model that limits are computed from. */
export type ModelInfo = { contextTokens: number; price?: Price };

/** Yields until the reply ends. Throws only ModelError when the model cannot answer. */
export interface Provider {
  readonly id: string;
  stream(request: ModelRequest): AsyncIterable<ModelChunk>;
  /** Returns false if a summary request would be answered with something else. If absent, the model can write one. */
  canSummarise?(): boolean;
}

export class ModelError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterMs: number | undefined;
  /** The server is still working on the request: a second one would only slow it down. */
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
