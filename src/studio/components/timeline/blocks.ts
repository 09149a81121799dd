// The blocks of a timeline: what the events of a session come to, in the order in which it is read.
import type { ContextFill, Outcome } from "../../../protocol/event.ts";
import type { TurnEnding } from "../../../protocol/run.ts";

export type Picture = { mime: string; base64: string };

/** A use of a tool, from its start on. */
export type ToolCall = {
  callId: string;
  /** As the wire calls it: read, shell, updateTodos, … */
  tool: string;
  args: unknown;
  /** What it does, in the model's words. */
  description?: string;
  /** Undefined: it runs, or nobody knows how it ended. */
  outcome?: Outcome;
  isRunning?: boolean;
  /** A person is asked whether it may run. */
  isAsked?: boolean;
  startedAt?: number;
  endedAt?: number;
  /** What it printed so far. */
  output?: string;
  /** Pictures that the model was given with its result. */
  pictures?: readonly Picture[];
  /** What its subagent said and did. */
  steps?: readonly Block[];
};

/** `id`: of the element in the page, and of a link to it: `turn-2`, `turn-2.5`. It is the same whenever the session is read. */
export type Block = { id: string; turn: number; at?: number } & BlockBody;

export type BlockBody =
  /** `isAside`: said while the turn was going on. */
  | { type: "user"; text: string; isAside?: boolean; pictures?: readonly Picture[] }
  /** `isOpen`, here and below: there is more to come. */
  | { type: "text"; text: string; isOpen?: boolean; isCut?: boolean }
  | { type: "thinking"; text: string; isOpen?: boolean; startedAt?: number; durationMs?: number }
  | { type: "call"; call: ToolCall }
  /** Calls in a row that only look, and are told of in one line. */
  | { type: "calls"; calls: readonly { id: string; call: ToolCall }[] }
  | { type: "notice"; kind: string; message: string }
  /** `changed`: how many files. */
  | { type: "ending"; ending: TurnEnding; changed: number };

/** A turn in numbers. */
export type TurnNumbers = {
  number: number;
  prompt: string;
  startedAt?: number;
  durationMs: number;
  modelMs: number;
  toolMs: number;
  /** While a person was waited for. */
  waitMs?: number;
  calls: number;
  /** Paths of files that were changed. */
  changed: readonly string[];
  usage?: { inputTokens: number; outputTokens: number; cacheReadTokens: number; cacheWriteTokens: number };
  costUsd?: number;
  /** How full the model's window was at its end. */
  context?: ContextFill;
  state: "running" | "done" | "failed" | "interrupted";
};
