// Reading a chat without touching it: ours, and those that the original wrote.
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
import { eventIn, metaProblems, unreadable } from "./event-shapes.ts";
import { eventsFrom, hasOwnTables, modelView, noView, ownState, readHistory, readMeta, readView } from "./history.ts";
import { findInterruptedTurn, owedResults, withEveryResult } from "./interrupted.ts";
import { storeFile } from "./layout.ts";
import { firstText, metadataOf } from "./metadata.ts";
import { salvage } from "./salvage.ts";
import { readMetadataFile } from "./transcript-files.ts";
import { withStore } from "./with-store.ts";

/** Everything that is kept. `events`: also what happened; left out where only the conversation is wanted. */
export function readChat(folder: string, options: ReadOptions = {}): ChatRecord {
  return withStore(folder, (store) => recordIn(store, folder, options));
}

export type ReadOptions = { events?: boolean };

/** The same, of a chat whose store may be damaged: what its pages still hold, with what is wrong as the first problem. */
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
  const { events, problems } = hasOwnTables(store) ? readEvents(store, options.events === true) : nothing;
  return {
    metadata: metadataOf(store, folder, meta, changedAt(folder)),
    messages: history.messages,
    events: options.events ? events : [],
    turns: turnsOf(events, history.messages),
    problems: [...history.problems, ...metaProblems(meta, hasOwnTables(store)), ...problems],
    wholeTurns: history.wholeTurns,
  };
}

/**
 * The same without the messages, where events tell all of it: reading a long conversation takes most of the time. Undefined:
 * some turn is known by its messages only.
 */
export function readRecordedTurns(folder: string): ChatRecord | undefined {
  return withStore(folder, (store) => {
    if (!hasOwnTables(store)) return undefined;
    const [uncovered] = store.rows(
      `SELECT 1 FROM courser_messages
       WHERE turn NOT IN (SELECT turn FROM courser_events WHERE kind = 'user') LIMIT 1`,
    );
    const { events, problems } = readEvents(store, true);
    if (uncovered || events.length === 0) return undefined;
    const metadata = metadataOf(store, folder, readMeta(store), changedAt(folder));
    const turns = turnsOf(events, []);
    return { metadata, messages: [], events, turns, problems, wholeTurns: turns.length };
  });
}

/** What a model is to be told again, as an opened chat has it; the chat itself stays as it is. */
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

/** Events of one of our chats, from a number on. */
export function readEventsFrom(folder: string, from: number, most: number): StoredEvent[] {
  return withStore(folder, (store) => eventsFrom(store, from, most));
}

/** How its last turn stands. Undefined: nothing says so, in chats of others. */
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

/** The values of `ChatWriter.state`, by their keys. Chats of others have none. */
export function readState(folder: string, keys: readonly string[]): Map<string, unknown> {
  return withStore(folder, (store) => {
    if (!hasOwnTables(store)) return new Map();
    return new Map(keys.map((key) => [key, ownState(store, key)]));
  });
}

/** For listings. Takes the file beside the store where it is ours: a store is opened only for chats of others. */
export function readMetadata(folder: string): ChatMetadata {
  checkStore(folder);
  return (
    readMetadataFile(folder) ??
    withStore(folder, (store) => metadataOf(store, folder, readMeta(store), changedAt(folder)))
  );
}

/** The newer of the store and its log. */
export function changedAt(folder: string): number {
  const file = storeFile(folder);
  const times = [file, `${file}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.round(Math.max(...times));
}

/** A chat to look at: what a writer of it would know, and nothing is written. */
export function openToLook(folder: string): Pick<ChatWriter, "metadata" | "state" | "turn"> {
  const { metadata, turns } = readChat(folder);
  return {
    metadata,
    turn: turns.at(-1)?.number ?? 0,
    state: (key) => readState(folder, [key]).get(key),
  };
}

type ReadEvents = { events: StoredEvent[]; problems: ChatProblem[] };

const nothing: ReadEvents = { events: [], problems: [] };

function readEvents(store: StoreConnection, all: boolean): ReadEvents {
  const which = all ? "" : "WHERE kind IN ('user', 'done', 'fail') ";
  const rows = store.rows(`SELECT sequence, turn, at, body FROM courser_events ${which}ORDER BY sequence`);
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

/** From the events; for turns that have none, from the messages. */
function turnsOf(events: readonly StoredEvent[], messages: readonly StoredMessage[]): ChatTurn[] {
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
