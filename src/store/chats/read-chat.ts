// Reads chats without changing them: those of Courser and of the original CLI.
import { statSync } from "node:fs";
import { UserError } from "../../protocol/error-codes.ts";
import { isPrompt, type Message } from "../../protocol/message.ts";
import { isAlive } from "../file-lock.ts";
import type {
  ChatMetadata,
  ChatProblem,
  ChatRecord,
  ChatTurn,
  ChatWriter,
  StoredEvent,
  StoredMessage,
} from "./chat.ts";
import type { StoreConnection } from "./connection.ts";
import { checkStore, notWhole } from "./damage.ts";
import { EventDecoder } from "./event-bodies.ts";
import { eventIn, metaProblems, missingEvents, unreadable } from "./event-shapes.ts";
import { eventsFrom, hasOwnTables, modelView, noView, ownState, readHistory, readMeta, readView } from "./history.ts";
import { findInterruptedTurn, owedResults, withEveryResult } from "./interrupted.ts";
import { storeFile } from "./layout.ts";
import { firstText, metadataOf } from "./metadata.ts";
import { salvage } from "./salvage.ts";
import { readMetadataFile } from "./transcript-files.ts";
import { withStore } from "./with-store.ts";

/** Reads everything that is stored. `events` includes the events; omit it if only the conversation is needed. */
export function readChat(folder: string, options: ReadOptions = {}): ChatRecord {
  return withStore(folder, (store) => recordIn(store, folder, options));
}

export type ReadOptions = { events?: boolean };

/** Reads a chat whose store may be damaged: what its pages still contain, with the damage as first problem. */
export function readWhatIsLeft(folder: string, options: ReadOptions = {}): ChatRecord {
  try {
    return readChat(folder, options);
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "STORE_CORRUPT") throw error;
    const record = salvage(storeFile(folder), (store) => recordIn(store, folder, options));
    if (!record) throw error;
    const why = error.message.replace(/ Nothing was changed,.*/s, "");
    const message = `${why} What follows was put together from the parts that can still be read; others may be missing.`;
    return { ...record, problems: [{ code: "STORE_CORRUPT", message }, ...record.problems] };
  }
}

function recordIn(store: StoreConnection, folder: string, options: ReadOptions): ChatRecord {
  const meta = readMeta(store);
  const history = readHistory(store, meta);
  const isOurs = hasOwnTables(store);
  const { events, problems } = isOurs ? readEvents(store, options.events === true) : nothing;
  return {
    metadata: metadataOf(store, folder, meta, changedAt(folder)),
    messages: history.messages,
    events: options.events ? events : [],
    turns: splitIntoTurns(events, history.messages),
    problems: [
      ...history.problems,
      ...metaProblems(meta, isOurs),
      ...problems,
      ...(isOurs ? missingEvents(store) : []),
    ],
    wholeTurns: history.wholeTurns,
  };
}

/**
 * Reads a chat without its messages, since reading a long conversation takes most of the time. `last` limits it to the final
 * turns with that many events. Returns undefined if events do not cover every turn.
 */
export function readRecordedTurns(folder: string, { last }: { last?: number } = {}): RecordedTurns | undefined {
  return withStore(folder, (store) => {
    if (!hasOwnTables(store)) return undefined;
    const from = last === undefined ? 0 : beginOfLast(store, last);
    // Turn numbers rise with the sequence, so the rows before these turns need not be read.
    const [uncovered] = store.rows(
      `SELECT 1 FROM courser_messages
       WHERE sequence > coalesce((SELECT sequence FROM courser_messages
         WHERE turn < (SELECT turn FROM courser_events WHERE sequence >= ? ORDER BY sequence LIMIT 1)
         ORDER BY sequence DESC LIMIT 1), -1)
       AND turn NOT IN (SELECT turn FROM courser_events WHERE kind = 'user' AND sequence >= ?) LIMIT 1`,
      from,
      from,
    );
    const { events, problems } = readEvents(store, true, from);
    if (uncovered || events.length === 0) return undefined;
    const metadata = metadataOf(store, folder, readMeta(store), changedAt(folder));
    const turns = splitIntoTurns(events, []);
    return { metadata, messages: [], events, turns, problems, wholeTurns: turns.length, hasEarlier: from > 0 };
  });
}

/** The last turns of a chat; `hasEarlier` means that earlier turns were not read. */
export type RecordedTurns = ChatRecord & { hasEarlier: boolean };

/** Returns the start of the turn that contains the `count`-th last event; 0 for all. Looks at only that many rows. */
function beginOfLast(store: StoreConnection, count: number): number {
  const [reached] = store.rows(
    "SELECT sequence, turn FROM courser_events ORDER BY sequence DESC LIMIT 1 OFFSET ?",
    count - 1,
  );
  if (!reached) return 0;
  const [before] = store.rows(
    "SELECT sequence FROM courser_events WHERE sequence < ? AND turn < ? ORDER BY sequence DESC LIMIT 1",
    ...(reached as [number, number]),
  );
  return before ? Number(before[0]) + 1 : 0;
}

/** Returns the model's conversation as an opened chat has it, without changing the chat. */
export function readMessages(folder: string): Message[] {
  return withStore(folder, (store) => {
    const history = readHistory(store);
    if (history.problems.length > 0) throw notWhole(folder, history.problems, history.wholeTurns);
    const isOurs = hasOwnTables(store);
    const messages = modelView(isOurs ? readView(store) : noView, history.messages);
    const owed = owedResults(messages, isOurs ? findInterruptedTurn(store) : undefined);
    return [...withEveryResult(messages), ...(owed ? [owed] : [])];
  });
}

/** Reads events of a chat written by Courser, from a number on. */
export function readEventsFrom(folder: string, from: number, most: number): StoredEvent[] {
  return withStore(folder, (store) => eventsFrom(store, from, most));
}

/** Returns the status of the last turn; undefined if the chat was written by another program or has no turn. */
export function readStatus(folder: string): ChatTurn["status"] | "running" | undefined {
  return withStore(folder, (store) => {
    if (!hasOwnTables(store)) return undefined;
    const [last] = store.rows(
      "SELECT kind, body, sequence FROM courser_events WHERE kind IN ('user', 'done', 'fail') ORDER BY sequence DESC LIMIT 1",
    );
    const [kind, body, sequence] = last ?? [];
    if (kind === "done") return "done";
    const text = new EventDecoder(store).decode(Number(sequence), body);
    if (kind === "fail") return text?.includes('"code":"INTERRUPTED"') ? "interrupted" : "failed";
    const writer = ownState(store, ".writer") as { pid?: unknown } | undefined;
    if (kind !== "user") return undefined;
    return typeof writer?.pid === "number" && isAlive(writer.pid) ? "running" : "interrupted";
  });
}

/** Returns the values of `ChatWriter.state` by key. Chats of other programs have none. */
export function readState(folder: string, keys: readonly string[]): Map<string, unknown> {
  return withStore(folder, (store) => {
    if (!hasOwnTables(store)) return new Map();
    return new Map(keys.map((key) => [key, ownState(store, key)]));
  });
}

/** Reads metadata for lists, from Courser's file next to the store; opens the store only for chats of other programs. */
export function readMetadata(folder: string): ChatMetadata {
  checkStore(folder);
  return (
    readMetadataFile(folder) ??
    withStore(folder, (store) => metadataOf(store, folder, readMeta(store), changedAt(folder)))
  );
}

/** Returns when the store or its log was last modified, whichever is later. */
export function changedAt(folder: string): number {
  const file = storeFile(folder);
  const times = [file, `${file}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.round(Math.max(...times));
}

/** Opens a chat for reading, with a part of the writer's interface. */
export function openReadOnly(folder: string): Pick<ChatWriter, "metadata" | "state" | "turn"> {
  const { metadata, turns } = readChat(folder);
  return {
    metadata,
    turn: turns.at(-1)?.number ?? 0,
    state: (key) => readState(folder, [key]).get(key),
  };
}

type ReadEvents = { events: StoredEvent[]; problems: ChatProblem[] };

const nothing: ReadEvents = { events: [], problems: [] };

function readEvents(store: StoreConnection, all: boolean, from = 0): ReadEvents {
  const which = all ? "" : "AND kind IN ('user', 'done', 'fail') ";
  const rows = store.rows(
    `SELECT sequence, turn, at, body FROM courser_events WHERE sequence >= ? ${which}ORDER BY sequence`,
    from,
  );
  const decoder = new EventDecoder(store);
  const events: StoredEvent[] = [];
  const broken: number[] = [];
  for (const [sequence, turn, at, body] of rows as [number, number, number, string][]) {
    const event = eventIn(decoder.decode(sequence, body));
    if (event) events.push({ sequence, turn, at, event });
    else broken.push(sequence);
  }
  return { events, problems: unreadable(broken) };
}

/** Builds the turns from the events, or from the messages for turns without events. */
function splitIntoTurns(events: readonly StoredEvent[], messages: readonly StoredMessage[]): ChatTurn[] {
  const turns = new Map<number, ChatTurn>();
  for (const { turn, at, event } of events) {
    if (event.type === "user")
      turns.set(turn, { number: turn, prompt: event.text, startedAt: at, status: "interrupted" });
    const running = turns.get(turn);
    if (running && event.type === "done") running.status = "done";
    if (running && event.type === "fail") running.status = event.code === "INTERRUPTED" ? "interrupted" : "failed";
  }
  const withEvents = new Set(turns.keys());
  for (const { turn, at, message } of messages) {
    if (withEvents.has(turn)) continue;
    if (isPrompt(message) && !turns.has(turn)) {
      turns.set(turn, { number: turn, prompt: firstText(message), startedAt: at ?? 0, status: "interrupted" });
    }
    const running = turns.get(turn);
    const isAnswer = message.role === "assistant" && !message.parts.some((part) => part.type === "tool_call");
    if (running) running.status = isAnswer ? "done" : "interrupted";
  }
  return [...turns.values()].sort((left, right) => left.number - right.number);
}
