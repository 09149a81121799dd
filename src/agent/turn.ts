// Turn: the state that the loop keeps from a prompt to its answer.
import { ModelError, type ModelInfo } from "../model/provider.ts";
import { type ErrorCode, UserError } from "../protocol/error-codes.ts";
import type { Denial } from "../protocol/event.ts";
import type { Part } from "../protocol/message.ts";
import type { Agent } from "./agent.ts";
import type { CallIds, RepeatCounter } from "./loop-detection.ts";
import type { UsageBudget } from "./usage-budget.ts";

export type TurnPrompt = {
  /** What the user typed, as shown and stored. */
  text: string;
  /** What the model gets: the text with mentions expanded and images attached. */
  parts: Part[];
  requestId: string;
  /** Attached files and rules, for hooks. */
  attachments?: readonly { type: "file" | "rule"; path: string }[];
};

export type Turn = {
  agent: Agent;
  prompt: TurnPrompt;
  signal: AbortSignal;
  replies: number;
  apiMs: number;
  spending: UsageBudget;
  /** The size of the conversation in the last reply, in tokens. */
  context: number;
  denials: Denial[];
  repeats: RepeatCounter;
  ids: CallIds;
  modelInfo: ModelInfo;
  /** The last answer as a value, if structured output was requested. */
  structured?: unknown;
  /** How often the model may still be asked to repair its answer. */
  repairs: number;
  /** Tokens after the last compaction: it is not tried again until the conversation has grown. */
  shortest: number;
  /** Whether the awaited reply answers a reminder sent after the task was done. */
  isReminded: boolean;
};

/** Thrown inside a turn to end it with an error code. */
export class TurnError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns the message and code that a failed turn ends with. */
export function explain(error: unknown, signal: AbortSignal): { message: string; code: ErrorCode } {
  // Whatever failed because of the abort, the abort is the reason.
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
