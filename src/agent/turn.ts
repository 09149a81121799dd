// Turn: the state that the loop keeps from a prompt to its answer.
import { ModelError, type ModelInfo } from "../model/provider.ts";
import { type ErrorCode, UserError } from "../protocol/error-codes.ts";
import type { Denial } from "../protocol/event.ts";
import type { Part } from "../protocol/message.ts";
import type { Agent } from "./agent.ts";
import type { CallIds, RepeatCounter } from "./loop-detection.ts";
import type { UsageBudget } from "./usage-budget.ts";

export type TurnPrompt = {
  /** The prompt as the user typed it, which is shown and stored. */
  text: string;
  /** The prompt that the model receives: with mentions expanded and images attached. */
  parts: Part[];
  requestId: string;
  /** The attached files and rules, which hooks receive. */
  attachments?: readonly { type: "file" | "rule"; path: string }[];
};

export type Turn = {
  agent: Agent;
  prompt: TurnPrompt;
  signal: AbortSignal;
  replies: number;
  apiMs: number;
  spending: UsageBudget;
  /** The size of the conversation in tokens, as of the last reply. */
  context: number;
  denials: Denial[];
  repeats: RepeatCounter;
  ids: CallIds;
  modelInfo: ModelInfo;
  /** The last answer as a value, if structured output was requested. */
  structured?: unknown;
  /** How many more times the model may be asked to correct its final answer. */
  repairs: number;
  /** Tokens after the last compaction: it is not tried again until the conversation has grown. */
  shortest: number;
  /** Whether the awaited reply answers a reminder sent after the task was done. */
  isReminded: boolean;
};

/** Ends the turn with an error code. */
export class TurnError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns the message and code that a failed turn ends with. */
export function explain(error: unknown, signal: AbortSignal): { message: string; code: ErrorCode } {
  // After an abort, report the abort instead of any error that it caused.
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (reason instanceof UserError || reason instanceof TurnError)
      return { message: reason.message, code: reason.code };
    return { message: "The run was cancelled.", code: "INTERRUPTED" };
  }
  if (error instanceof ModelError || error instanceof UserError || error instanceof TurnError) {
    return { message: error.message, code: error.code };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `Unexpected failure, please report it: ${message}`, code: "INTERNAL" };
}
