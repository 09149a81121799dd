// Defines Agent: everything a turn works with. The composition root creates it once and hands it to the loop.
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
  /** The user's requests to change the mode or the model or to steer a running turn. Absent if there can be none. */
  control?: TurnControl;
  session: Session;
  provider: Provider;
  model: AgentModel;
  system: string;
  tools: readonly Tool[];
  /** Tools that can be called but are not offered to the model, because they would be refused where it runs. */
  hiddenTools?: ReadonlySet<string>;
  /** Returns the verdict on what a call needs, without side effects. `readOnly` judges for an agent that may only read. */
  decide(needs: readonly Need[], options?: { readOnly: boolean; changes?: boolean }): Promise<Decision>;
  /** Asks the user. When absent, a call that would need asking is refused. */
  ask?: Asker;
  /** A model that reviews a call before the user is asked, if the user turned that on. */
  review?: Reviewer;
  /** The user's hook programs; absent when none are configured. */
  hooks?: AgentHooks;
  /** Checks the final answer, for example against a JSON Schema. */
  answer?: AnswerCheck;
  /** Returns a reminder for a model that ends while its commands still run and would be cut off. It is sent once. */
  unfinished?(signal: AbortSignal): Promise<string | undefined>;
  /** Language-server findings that arrive after an edit's result was sent. */
  diagnostics?: Pick<Diagnostics, "takeLate">;
  limits: Limits;
  /** The agent that started this one as a subagent; `spending` counts what this one has spent. */
  parent?: Agent;
  spending?: UsageBudget;
  /** Answers questions that no rule decides; absent when no user can be asked. */
  person?: Person;
  /** The subagents that this agent has started. */
  subagents?: Subagents;
  /** The part of the tool context that is the same for every call of the run. */
  toolContext: Omit<ToolContext, "callId" | "signal" | "print" | "turn" | "approved" | "mayRead">;
  /** Saves the files that a permitted call may change, before it runs. */
  beforeWrite?(needs: readonly Need[], signal: AbortSignal): Promise<void>;
  /** Takes a snapshot and returns whether it contains the files that a call would delete. Absent without snapshots. */
  keepsDeleted?(needs: readonly Need[], signal: AbortSignal): Promise<boolean>;
  /** Returns instructions that apply once a path is touched; each text is returned once. */
  instructionsFor?(path: string): string | undefined;
};

/** Requests from the user or host, applied where it is safe: before a reply of the model. */
export interface TurnControl {
  /** Applies a changed mode or model and returns the events that report it. */
  settle(): AgentEvent[];
  /** Returns prompts that were sent to the running turn. */
  takeSteered(signal: AbortSignal): Promise<TurnPrompt[]>;
  /** Returns whether the conversation should be compacted now. */
  takeCompact(): boolean;
}

export type AgentModel = {
  /** The vendor's model id, as the provider expects it. */
  id: string;
  displayName: string;
  contextTokens: number;
  effort?: Effort;
  price?: Price;
};

export type Limits = {
  /** The maximum number of model replies in the whole run. */
  maxTurns?: number;
  /** The maximum number of model replies to one prompt. */
  maxTurnsPerPrompt: number;
  /** The run ends after this many identical calls with identical results in a row. */
  loopLimit: number;
  maxCost?: number;
};

export interface Session {
  readonly messages: readonly Message[];
  append(...messages: Message[]): void;
  /** Replaces the messages of the conversation with shorter ones, after compaction. */
  replace(messages: readonly Message[]): void;
}

/** `reasons` says why the call is not simply allowed. With `personOnly`, no reviewer may answer in place of the user. */
export type Question = {
  callId: string;
  tool: string;
  args: unknown;
  needs: readonly Need[];
  reasons: readonly string[];
  /** A unified diff of the change that an edit would make. */
  diff?: string;
  personOnly?: boolean;
};

/** `inSandbox` means that the call is allowed only in the sandbox. */
export type Asker = (
  question: Question,
  signal: AbortSignal,
) => Promise<{ allow: boolean; reason?: string; inSandbox?: boolean }>;

export type Reviewer = (question: Question, signal: AbortSignal) => Promise<{ allow: boolean; reason: string }>;

export interface AnswerCheck {
  /** How many more times the model is asked when its final answer does not pass the check. */
  repairs: number;
  /** Returns the parsed value of the answer, or why it does not fit. */
  check(text: string): { value: unknown } | { fault: string };
}

/** Creates a session that is kept in memory and not written to disk. */
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

/** Builds the notice that a different model answers from now on. */
export function modelChange({ model, reason }: { model: string; reason: string }, at: number): AgentEvent {
  return { type: "notice", kind: "model_change", message: reason, fields: { model }, at };
}
