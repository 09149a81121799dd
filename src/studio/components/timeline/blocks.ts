// The blocks of a timeline, which the events of a session are turned into, in reading order.
import type { ContextFill, Outcome } from "../../../protocol/event.ts";
import type { TurnEnding } from "../../../protocol/run.ts";

/** A picture in a message. */
export type Picture = { mime: string; base64: string };

/** A tool call, which may still be running. */
export type ToolCall = {
  callId: string;
  /** The tool's name in the stream: read, shell, updateTodos, … */
  tool: string;
  args: unknown;
  /** What the call does, in the model's words. */
  description?: string;
  /** How the call ended; undefined if it is running or its end is unknown. */
  outcome?: Outcome;
  isRunning?: boolean;
  /** Whether the user is being asked if the call may run. */
  isAsked?: boolean;
  startedAt?: number;
  endedAt?: number;
  /** What the call has printed so far. */
  output?: string;
  /** The pictures that the model received with the result. */
  pictures?: readonly Picture[];
  /** The blocks of the subagent that the call started. */
  steps?: readonly Block[];
};

/** `id` is the id of the element and the target of links: `turn-2`, `turn-2.5`. It is the same whenever the session is read. */
export type Block = { id: string; turn: number; at?: number } & BlockBody;

/** Shows the content of a block, without its frame. */
export type BlockBody =
  /** `isAside` marks a message that was sent during a turn. */
  | { type: "user"; text: string; isAside?: boolean; pictures?: readonly Picture[] }
  /** `isOpen`, here and below, means that the text is not complete yet. */
  | { type: "text"; text: string; isOpen?: boolean; isCut?: boolean }
  | { type: "thinking"; text: string; isOpen?: boolean; startedAt?: number; durationMs?: number }
  | { type: "call"; call: ToolCall }
  /** Consecutive calls that only read, which are shown on one line. */
  | { type: "calls"; calls: readonly { id: string; call: ToolCall }[] }
  | { type: "notice"; kind: string; message: string }
  /** `changed` is the number of changed files. */
  | { type: "ending"; ending: TurnEnding; changed: number; waitMs?: number };

/** The figures of a turn: time, calls, tokens, cost. */
export type TurnNumbers = {
  number: number;
  prompt: string;
  startedAt?: number;
  durationMs: number;
  modelMs: number;
  toolMs: number;
  /** How long the turn waited for the user, in milliseconds. */
  waitMs?: number;
  calls: number;
  /** The paths of the files that the turn changed. */
  changed: readonly string[];
  usage?: { inputTokens: number; outputTokens: number; cacheReadTokens: number; cacheWriteTokens: number };
  costUsd?: number;
  /** How full the context window was at the end of the turn. */
  context?: ContextFill;
  state: "running" | "done" | "failed" | "interrupted";
};
