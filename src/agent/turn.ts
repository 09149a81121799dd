// Turn: what the loop keeps in mind from a prompt to its answer.
import { ModelError, type ModelInfo } from "../model/provider.ts";
import { type ErrorCode, UserError } from "../protocol/error-codes.ts";
import type { Denial } from "../protocol/event.ts";
import type { Part } from "../protocol/message.ts";
import type { Agent } from "./agent.ts";
import type { CallIds, RepeatCounter } from "./loop-detection.ts";
import type { UsageBudget } from "./usage-budget.ts";

export type TurnPrompt = {
  /** What the user typed: shown and stored. */
  text: string;
  /** What the model is told: the same with mentions expanded, images attached. */
  parts: Part[];
  requestId: string;
  /** What came along with it, for hooks. */
  attachments?: readonly { type: "file" | "rule"; path: string }[];
};

export type Turn = {
  agent: Agent;
  prompt: TurnPrompt;
  signal: AbortSignal;
  replies: number;
  apiMs: number;
  spending: UsageBudget;
  /** What the conversation took in the last answer, in tokens. */
  context: number;
  denials: Denial[];
  repeats: RepeatCounter;
  ids: CallIds;
  /** Of the model that answers now. */
  facts: ModelInfo;
  /** The last answer as a value, where one was asked for. */
  structured?: unknown;
  /** How often an answer that does not fit may still be asked for again. */
  repairs: number;
  /** What the conversation took after it was last shortened, in tokens: until it has grown, that need not be tried again. */
  shortest: number;
  /** The reply that is awaited answers a reminder, after the task was done. */
  isReminded: boolean;
};

/** Thrown inside a turn to end it with a code that says why. */
export class TurnError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The message and the code that a failed turn ends with. */
export function explain(error: unknown, signal: AbortSignal): { message: string; code: ErrorCode } {
  // Whatever broke because of the abort, the abort is the reason.
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
