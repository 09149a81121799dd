// Types of a stored conversation. open-chat.ts writes one, read-chat.ts reads one.
import type { AgentEvent } from "../../protocol/event.ts";
import type { Message } from "../../protocol/message.ts";

export type ChatMetadata = {
  id: string;
  /** The folder that contains the chat's store.db. */
  folder: string;
  /** The real path of the workspace; undefined for some chats that other programs wrote. */
  workspace?: string;
  /** The title of the chat; "New Agent" until it has one. */
  title: string;
  /** The mode as the store records it: `auto-run` if everything was allowed, otherwise `default`. */
  mode: string;
  createdAt: number;
  updatedAt: number;
  model?: string;
  /** The first line of the first prompt, shown while there is no title. */
  prompt?: string;
  hasConversation: boolean;
  /** The chat whose agent started this one; empty if unknown. Lists leave out chats with a parent. */
  parent?: string;
};

/** One turn: a prompt and everything up to its ending. Turns are numbered from 1. */
export type ChatTurn = { number: number; prompt: string; startedAt: number; status: "done" | "failed" | "interrupted" };

/** Deltas are not stored, since the end of their segment has the whole text. Older chats store thinking as one delta. */
export type StoredEvent = { sequence: number; turn: number; at: number; event: AgentEvent };

/** A message of the whole history, with its turn; `at` only in chats written by Courser. */
export type StoredMessage = { sequence: number; turn: number; at?: number; message: Message };

/** A fault that was found in a store. Reading continues after it. */
export type ChatProblem = {
  code: "STORE_MISSING_BLOB" | "STORE_BLOB_HASH" | "STORE_CORRUPT";
  message: string;
  blobs?: string[];
};

/** Everything stored of a chat. Chats of the original CLI have only messages: no events, and each user message starts a turn. */
export type ChatRecord = {
  metadata: ChatMetadata;
  messages: StoredMessage[];
  events: StoredEvent[];
  turns: ChatTurn[];
  problems: ChatProblem[];
  /** The number of turns, from the first on, that have all their messages: a fork can continue from there. */
  wholeTurns: number;
};

/** The only writer of a chat. Data is committed when a method returns; failures throw a UserError STORE_*. */
export interface ChatWriter {
  readonly metadata: ChatMetadata;
  /** The conversation to send to the model, compacted where it was before. */
  readonly messages: readonly Message[];
  /** Calls that were running when an earlier run was cut off, marked so when the chat was opened. */
  readonly interrupted: readonly { callId: string; tool: string }[];
  /** Parts that can no longer be read, although the conversation is complete. */
  readonly problems: readonly ChatProblem[];
  append(...messages: readonly Message[]): void;
  /** Replaces the model's conversation with a shorter one. The history stays complete. */
  replace(messages: readonly Message[]): void;
  /**
   * Stores and numbers every event except deltas and live output. `user` starts a turn, `done` and `fail` end it. `tool_start`,
   * `done` and `fail` return only after everything is on disk.
   */
  record(event: AgentEvent): number | undefined;
  /** Returns at most `most` stored events, starting at a number. */
  events(from: number, most: number): StoredEvent[];
  /** Reads a small value that a resume needs: the todo list, the mode, snapshots of a turn. */
  state(key: string): unknown;
  /** Saves a value with the chat. `durable` syncs it, and everything before it, to disk. */
  saveState(key: string, value: unknown, options?: { durable?: boolean }): void;
  readonly isClosed: boolean;
  /** The number of the running turn, or of the last one; 0 before the first turn. */
  readonly turn: number;
  rename(title: string): void;
  /**
   * Restores the conversation to the moment before turn `number` started. Irreversible: later events, messages and values are
   * deleted. `state` holds values that apply from then on, saved in the same transaction.
   */
  rewindTo(number: number, state?: ReadonlyMap<string, unknown>): void;
  close(): void;
}
