// Records which snapshots each turn of a chat has; stored with the chat, one value per turn.
import type { ChatWriter } from "../../store/chats/chat.ts";

/** A record of one snapshot: the id of its object, or why it is missing. */
export type SnapshotRecord = { object: string } | { missing: string };

type ChatState = Pick<ChatWriter, "state" | "saveState">;

const turnKey = (turn: number) => `snapshot.${turn}`;
const undoKey = "snapshot.undo";

export function readRecords(chat: ChatState, turn: number): SnapshotRecord[] {
  const value = chat.state(turnKey(turn));
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Saves the snapshot records of a turn. They are written to disk before the call they were taken for runs. */
export function saveRecords(chat: ChatState, turn: number, records: readonly SnapshotRecord[]): void {
  chat.saveState(turnKey(turn), records, { durable: true });
}

/** Returns the snapshot that undoes the last restore. */
export function readUndo(chat: ChatState): string | undefined {
  const value = chat.state(undoKey);
  return typeof value === "string" ? value : undefined;
}

/** Saves the snapshot that undoes a restore. It is written to disk before the first file is changed. */
export function saveUndo(chat: ChatState, object: string): void {
  chat.saveState(undoKey, object, { durable: true });
}

/**
 * Returns the state that a chat keeps when it goes back to before `turn`:
 * the undo snapshot, and `records`, which now belong to the previous turn.
 */
export function keptState(chat: ChatState, turn: number, records: readonly SnapshotRecord[]): Map<string, unknown> {
  const state = new Map<string, unknown>();
  if (records.length > 0) state.set(turnKey(turn - 1), [...readRecords(chat, turn - 1), ...records]);
  const undo = readUndo(chat);
  if (undo !== undefined) state.set(undoKey, undo);
  return state;
}

/** Returns the ids of all snapshots that a chat refers to. */
export function objectsOf(chat: ChatState & Pick<ChatWriter, "turn">): string[] {
  const undo = readUndo(chat);
  const objects = new Set<string>(undo === undefined ? [] : [undo]);
  for (let turn = 1; turn <= chat.turn; turn++)
    for (const record of readRecords(chat, turn)) if ("object" in record) objects.add(record.object);
  return [...objects];
}

function isRecord(value: unknown): value is SnapshotRecord {
  if (typeof value !== "object" || value === null) return false;
  const { object, missing } = value as Record<string, unknown>;
  return typeof missing === "string" || (typeof object === "string" && /^[0-9a-f]{40}$/.test(object));
}
