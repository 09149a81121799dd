// Chat: what is kept of a conversation. Types only; open-chat.ts writes one, read-chat.ts reads one.
import type { AgentEvent } from "../../protocol/event.ts";
import type { Message } from "../../protocol/message.ts";

export type ChatMetadata = {
  id: string;
  /** The folder that holds store.db. */
  folder: string;
  /** The real path of the workspace; unknown for some chats that others wrote. */
  workspace?: string;
  /** "New Agent" until there is one. */
  title: string;
  /** As in the store: `auto-run` where everything was allowed, else `default`. */
  mode: string;
  createdAt: number;
  updatedAt: number;
  model?: string;
  /** The first line of the first prompt: what to show while there is no title. */
  prompt?: string;
  hasConversation: boolean;
  /** The chat whose agent started this one; empty where it is not known which. Lists show no such chats. */
  parent?: string;
};

/** One prompt and everything up to its ending. Numbered from 1. */
export type ChatTurn = { number: number; prompt: string; startedAt: number; status: "done" | "failed" | "interrupted" };

/** Deltas are not kept: the end of their segment says all of it. Older chats have thinking as one delta. */
export type StoredEvent = { sequence: number; turn: number; at: number; event: AgentEvent };

/** A message of the whole history, with its turn; `at` only in chats of ours. */
export type StoredMessage = { sequence: number; turn: number; at?: number; message: Message };

/** What is wrong with a store, by name; reading goes on with the rest. */
export type ChatProblem = {
  code: "STORE_MISSING_BLOB" | "STORE_BLOB_HASH" | "STORE_CORRUPT";
  message: string;
  blobs?: string[];
};

/** Everything that is kept of a chat. Chats of the original CLI have messages only: no events, turns by user message. */
export type ChatRecord = {
  metadata: ChatMetadata;
  messages: StoredMessage[];
  events: StoredEvent[];
  turns: ChatTurn[];
  problems: ChatProblem[];
  /** So many turns from the first on have all their messages: a fork may go on from there. */
  wholeTurns: number;
};

/** The one writer of a chat. What a method was given is committed when it returns; what cannot be kept throws UserError STORE_*. */
export interface ChatWriter {
  readonly metadata: ChatMetadata;
  /** What the model is to be told again: shortened where it was. */
  readonly messages: readonly Message[];
  /** Calls that were running when an earlier run was cut off, and were marked so when the chat was opened. */
  readonly interrupted: readonly { callId: string; tool: string }[];
  /** What of it can no longer be read, though the conversation is whole. */
  readonly problems: readonly ChatProblem[];
  append(...messages: readonly Message[]): void;
  /** A shorter conversation for the model. The history stays whole. */
  replace(messages: readonly Message[]): void;
  /**
   * Keeps everything but deltas and live output, and numbers it. `user` begins a turn, `done` and `fail` end it. Before
   * `tool_start`, `done` and `fail` return, everything is on the disk.
   */
  record(event: AgentEvent): number | undefined;
  /** What was kept, from a number on. */
  events(from: number, most: number): StoredEvent[];
  /** Small values that a resume needs: the todo list, the mode, snapshots of a turn. */
  state(key: string): unknown;
  /** `durable`: it is on the disk, with everything before it. */
  saveState(key: string, value: unknown, options?: { durable?: boolean }): void;
  readonly isClosed: boolean;
  /** The number of the turn that runs, or ran last; 0 before the first. */
  readonly turn: number;
  rename(title: string): void;
  /**
   * Takes the conversation back to the moment before turn `number` began. Irreversible; events, messages and values from there
   * on go. `state`: values that hold from then on, saved in the same step.
   */
  rewindTo(number: number, state?: ReadonlyMap<string, unknown>): void;
  close(): void;
}
