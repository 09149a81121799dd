// Turn: what the loop keeps in mind from a prompt to its answer.
import type { ModelInfo } from "../model/provider.ts";
import type { ErrorCode } from "../protocol/error-codes.ts";
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
};

/** Thrown inside a turn to end it with a code that says why. */
export class TurnError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
