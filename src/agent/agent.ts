// Agent: everything a turn works with. Made once by the composition root, handed to the loop.
import type { Price } from "../model/prices.ts";
import type { Effort, Provider } from "../model/provider.ts";
import type { Decision, Need } from "../policy/need.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import type { Diagnostics } from "./diagnostics/index.ts";
import type { AgentHooks } from "./hooks/agent-hooks.ts";
import type { Person } from "./person.ts";
import type { Seams } from "./seams.ts";
import type { Subagents } from "./subagents/index.ts";
import type { Tool, ToolContext } from "./tools/tool.ts";
import type { TurnPrompt } from "./turn.ts";
import type { UsageBudget } from "./usage-budget.ts";

export type Agent = {
  seams: Seams;
  /** What whoever watches wants of the turn; absent where nobody can. */
  control?: TurnControl;
  session: Session;
  provider: Provider;
  model: AgentModel;
  system: string;
  tools: readonly Tool[];
  /** Tools that can be called, and that the model is not told of: they would be refused where it runs. */
  untold?: ReadonlySet<string>;
  /** The pure verdict on what a call needs. `readOnly`: for whoever may only look. */
  decide(needs: readonly Need[], options?: { readOnly: boolean }): Promise<Decision>;
  /** Asks a person; absent where nobody can answer, and then asking means refusing. */
  ask?: Asker;
  /** A model that is asked before a person is, where the user wants that. */
  review?: Reviewer;
  /** The user's own programs, told of what happens; absent where there are none. */
  hooks?: AgentHooks;
  /** What the last words must be, beside words. */
  answer?: AnswerCheck;
  /** What the model is told when it ends too early: of commands that still run and would be cut off. Said once. */
  unfinished?(signal: AbortSignal): Promise<string | undefined>;
  /** What language servers found in its edits after their results were out. */
  diagnostics?: Pick<Diagnostics, "takeLate">;
  limits: Limits;
  /** Whoever started this one as a subagent, and what it has spent so far. */
  parent?: Agent;
  spending?: UsageBudget;
  /** For questions that no rule answers; absent where nobody can. */
  person?: Person;
  /** Those that it has started. */
  subagents?: Subagents;
  /** What tools are given beside the call itself. */
  toolContext: Omit<ToolContext, "callId" | "signal" | "print" | "turn" | "approved" | "mayRead">;
  /** Keeps what a permitted call may change, before it runs. */
  beforeWrite?(needs: readonly Need[], signal: AbortSignal): Promise<void>;
  /** Is what a call deletes, as it is now, in a snapshot? Makes one. Absent where none are taken. */
  keepsDeleted?(needs: readonly Need[], signal: AbortSignal): Promise<boolean>;
  /** Instructions that apply once a path is touched; each text comes once. */
  instructionsFor?(path: string): string | undefined;
};

/** Wishes of whoever watches a turn, taken where they do no harm: before a reply of the model. */
export interface TurnControl {
  /** Puts a changed mode or model into force, and says so. */
  settle(): AgentEvent[];
  /** Prompts that the turn which runs shall hear. */
  takeSteered(signal: AbortSignal): Promise<TurnPrompt[]>;
  /** Is the conversation to be made shorter now? */
  takeCompact(): boolean;
}

export type AgentModel = {
  /** The vendor's id, as the provider wants it. */
  id: string;
  displayName: string;
  contextTokens: number;
  effort?: Effort;
  /** Where known. */
  price?: Price;
};

export type Limits = {
  /** Replies of the model in the whole run. */
  maxTurns?: number;
  /** Replies of the model to one prompt. */
  maxTurnsPerPrompt: number;
  /** So many identical calls with identical results in a row end the run. */
  loopLimit: number;
  maxCost?: number;
};

export interface Session {
  readonly messages: readonly Message[];
  append(...messages: Message[]): void;
  /** Puts a shorter conversation in the place of the present one. */
  replace(messages: readonly Message[]): void;
}

/** `reasons`: why it is not simply allowed. `personOnly`: nobody may answer in the place of a person. */
export type Question = {
  callId: string;
  tool: string;
  args: unknown;
  needs: readonly Need[];
  reasons: readonly string[];
  /** What an edit would change. */
  diff?: string;
  personOnly?: boolean;
};

/** `inSandbox`: allowed in the sandbox only. */
export type Asker = (
  question: Question,
  signal: AbortSignal,
) => Promise<{ allow: boolean; reason?: string; inSandbox?: boolean }>;

export type Reviewer = (question: Question, signal: AbortSignal) => Promise<{ allow: boolean; reason: string }>;

export interface AnswerCheck {
  /** How often an answer that does not fit is asked for again. */
  repairs: number;
  /** The value that the answer is, or why it is none that was asked for. */
  check(text: string): { value: unknown } | { fault: string };
}

/** A conversation that nobody keeps. */
export function createSession(messages: Message[] = []): Session {
  return {
    get messages() {
      return messages;
    },
    append(...more) {
      messages.push(...more);
    },
    replace(shorter) {
      messages = [...shorter];
    },
  };
}

/** Told wherever a model was asked and another one answers. */
export function modelChange({ model, reason }: { model: string; reason: string }, at: number): AgentEvent {
  return { type: "notice", kind: "model_change", message: reason, fields: { model }, at };
}
