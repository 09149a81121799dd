// Reads the sessions of all agent CLIs on this machine as turns of events, with their usage and changes.
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isObject } from "../json/object.ts";
import type { AgentEvent, ContextFill, Usage } from "../protocol/event.ts";
import { isEnding } from "../protocol/run.ts";
import { addUsage, contextTokens, costOfEnding, noUsage } from "../protocol/usage.ts";
import { rebuildEvents, splitTurns, stepsOfTurn } from "../sdk/rebuild-events.ts";
import { loadSession } from "../sdk/sessions/library.ts";
import type { ReadSession } from "../sdk/sessions/session.ts";
import { type BuiltInTool, groupMessages } from "../sdk/unified.ts";
import type { ChatTurn } from "../store/chats/chat.ts";
import { findChat } from "../store/chats/find-chat.ts";
import { changedAt, readChat, readRecordedTurns } from "../store/chats/read-chat.ts";
import { configDir } from "../store/config-dir.ts";
import { TurnClock, type TurnTimes } from "../view/turn-clock.ts";
import { fileChanges } from "./file-changes.ts";

export type SessionTurn = { number: number; events: AgentEvent[] };

export type OpenedSession = {
  tool: BuiltInTool;
  id: string;
  /** The file or folder in which the session is stored. */
  path: string;
  title: string;
  workspace?: string;
  model?: string;
  createdAt: number;
  updatedAt: number;
  turns: SessionTurn[];
  /** Error messages about parts of the session that could not be read. */
  problems: string[];
  /** Whether only the last turns of the session were read. */
  hasEarlier?: true;
};

export type TurnFigures = {
  turn: number;
  calls: number;
  outcome: "done" | "fail" | null;
  durationMs: number;
  /** For how much of the duration a tool was running. */
  toolMs: number;
  /** For how much of the duration the turn waited for an answer from the user. */
  waitMs: number;
  usage: Usage | null;
  /** How full the model's context window was at the end of the turn. */
  context: ContextFill | null;
  costUsd: number | null;
};

/** Caches sessions for clients that read them page by page. The references are weak, so that memory can be reclaimed. */
const opened = new Map<string, { stamp: number; session: WeakRef<OpenedSession> }>();

export async function openSession(env: NodeJS.ProcessEnv, tool: BuiltInTool, id: string): Promise<OpenedSession> {
  const key = `${configDir(env)}\0${tool}\0${id}`;
  const existing = opened.get(key);
  const session = existing?.session.deref();
  if (session && sessionStamp(session.path) === existing!.stamp) return session;
  const fresh = await readSession(env, tool, id);
  opened.delete(key);
  opened.set(key, { stamp: sessionStamp(fresh.path), session: new WeakRef(fresh) });
  for (const oldest of opened.keys()) {
    if (opened.size <= maxOpened) break;
    opened.delete(oldest);
  }
  return fresh;
}

const maxOpened = 20;

/** Returns a number that changes with the session's content. A chat consists of its store and a log file. */
function sessionStamp(path: string): number {
  // A session in a shared database has a path below the database file, which also has a log file.
  const file = existsSync(path) ? path : dirname(path);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return changedAt(file);
  const times = [file, `${file}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(...times);
}

async function readSession(env: NodeJS.ProcessEnv, tool: BuiltInTool, id: string): Promise<OpenedSession> {
  if (tool === "cursor") return openChatSession(env, id);
  const session = await loadSession({ tool, sessionId: id, env });
  const { title, workspace, model, createdAt, updatedAt, losses } = session;
  return {
    tool,
    id: session.id,
    path: session.path,
    title,
    ...(workspace !== undefined && { workspace }),
    ...(model !== undefined && { model }),
    createdAt,
    updatedAt,
    turns: sessionTurns(session),
    problems: losses.map(({ message }) => message),
  };
}

function openChatSession(env: NodeJS.ProcessEnv, id: string, last?: number): OpenedSession {
  const folder = findChat(configDir(env), id, "");
  const recorded = readRecordedTurns(folder, last === undefined ? {} : { last });
  const record = recorded ?? readChat(folder, { events: true });
  const { title, prompt, workspace, model, createdAt, updatedAt } = record.metadata;
  return {
    tool: "cursor",
    id: record.metadata.id,
    path: folder,
    title: title === "New Agent" ? (prompt ?? title) : title,
    ...(workspace !== undefined && { workspace }),
    ...(model !== undefined && { model }),
    createdAt,
    updatedAt,
    turns: withStarts(rebuildEvents(record), record.turns),
    problems: record.problems.map(({ message }) => message),
    ...(recorded?.hasEarlier && { hasEarlier: true }),
  };
}

/** Adds start times: a stored prompt has no time, so that of its turn is used. */
function withStarts(turns: SessionTurn[], known: readonly ChatTurn[]): SessionTurn[] {
  const starts = new Map(known.map(({ number, startedAt }) => [number, startedAt]));
  for (const { number, events } of turns) {
    const at = starts.get(number);
    const prompt = events.findIndex(({ type }) => type === "user");
    if (at && prompt >= 0) events[prompt] = { at, ...events[prompt]! };
  }
  return turns;
}

function sessionTurns(session: ReadSession): SessionTurn[] {
  const timed = groupMessages(session.messages).map(({ message, from }) => ({ message, at: from[0]!.timestamp, from }));
  return splitTurns(timed).map((group, index) => {
    const usages = group.flatMap(({ from }) => from.flatMap((each) => each.usage ?? []));
    const steps = stepsOfTurn(group, {
      id: `${session.id}-${index + 1}`,
      ...(usages.length > 0 && { usage: usages.reduce(addUsage) }),
    });
    const used = contextTokens(usages.at(-1) ?? noUsage);
    const events = steps.filter((step) => step.type !== "message");
    return {
      number: index + 1,
      events: events.map((event) => (isEnding(event) && used > 0 ? { ...event, context: { used } } : event)),
    };
  });
}

/** Returns a page of events, each with its index in the session; `turn` starts the page at that turn. */
export function eventsPage({ turns }: OpenedSession, { from = 0, turn: first = 0, limit }: PageQuery) {
  const items: { index: number; turn: number; event: AgentEvent }[] = [];
  let total = 0;
  for (const { number: turn, events } of turns) {
    for (let at = Math.max(0, from - total); turn >= first && at < events.length && items.length < limit; at++)
      items.push({ index: total + at, turn, event: events[at]! });
    total += events.length;
  }
  const next = (items.at(-1)?.index ?? total) + 1;
  return { items, total, ...(next < total && { next }) };
}

type PageQuery = { from?: number; turn?: number; limit: number };

/**
 * Returns the last turns, as many as needed for `count` events, each from its beginning. Of this program's chats nothing else is
 * read, so that a long one opens as fast as a short one; indexes then count from the first event that was read.
 */
export async function lastEvents(env: NodeJS.ProcessEnv, tool: BuiltInTool, id: string, count: number) {
  const session = tool === "cursor" ? openChatSession(env, id, count) : await openSession(env, tool, id);
  let left = count;
  const first = session.turns.findLast(({ events }) => (left -= events.length) <= 0)?.number ?? 0;
  const { items } = eventsPage(session, { turn: first, limit: Number.POSITIVE_INFINITY });
  return { items, hasEarlier: session.hasEarlier === true || first > (session.turns[0]?.number ?? 0) };
}

/** Returns the files that the session changed. `turn` limits them to one turn. */
export function sessionChanges({ turns }: OpenedSession, turn?: number) {
  return fileChanges(
    turns
      .filter(({ number }) => turn === undefined || number === turn)
      .flatMap(({ number, events }) => events.map((event) => ({ turn: number, event }))),
  );
}

export function sessionUsage({ turns }: OpenedSession): TurnFigures[] {
  return turns.map(({ number, events }) => {
    const ending = events.findLast(isEnding);
    const calls = events.filter((event) => event.type === "tool_start").length;
    return {
      turn: number,
      calls,
      outcome: ending?.type ?? null,
      durationMs: ending?.durationMs ?? 0,
      ...turnTimes(events),
      usage: isObject(ending?.usage) ? ending.usage : null,
      context: ending?.context ?? null,
      costUsd: (ending && costOfEnding(ending)) ?? null,
    };
  });
}

function turnTimes(events: readonly AgentEvent[]): TurnTimes {
  const clock = new TurnClock();
  for (const event of events) clock.take(event);
  return clock.times();
}
