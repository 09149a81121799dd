// Sessions of every agent CLI on this machine, as turns of events: what was said, done and changed.
import { statSync } from "node:fs";
import { isObject } from "../json/object.ts";
import type { AgentEvent, ContextFill, Usage } from "../protocol/event.ts";
import { addUsage, contextOf, costOfEnding, noUsage } from "../protocol/usage.ts";
import { rebuildEvents, splitTurns, stepsOfTurn } from "../sdk/rebuild-events.ts";
import { loadSession } from "../sdk/sessions/library.ts";
import type { ReadSession } from "../sdk/sessions/session.ts";
import { groupMessages, type UnifiedTool } from "../sdk/unified.ts";
import { findChat } from "../store/chats/find-chat.ts";
import { changedAt, readChat, readRecordedTurns } from "../store/chats/read-chat.ts";
import { configDir } from "../store/config-dir.ts";
import { TurnClock, type TurnTimes } from "../view/turn-clock.ts";
import { fileChanges } from "./file-changes.ts";

export type SessionTurn = { number: number; events: AgentEvent[] };

export type OpenedSession = {
  tool: UnifiedTool;
  id: string;
  /** The file, or the folder, that holds it. */
  path: string;
  title: string;
  workspace?: string;
  model?: string;
  createdAt: number;
  updatedAt: number;
  turns: SessionTurn[];
  /** What could not be read of it, in sentences. */
  problems: string[];
};

/** A turn in numbers. */
export type TurnFigures = {
  turn: number;
  calls: number;
  outcome: "done" | "fail" | null;
  durationMs: number;
  /** Of it, while a tool worked. */
  toolMs: number;
  /** Of it, while a person was waited for. */
  waitMs: number;
  usage: Usage | null;
  /** At its end. */
  context: ContextFill | null;
  costUsd: number | null;
};

/** Opened before: for readers that take it page by page. Gone when the memory is needed. */
const opened = new Map<string, { stamp: number; session: WeakRef<OpenedSession> }>();

export async function openSession(env: NodeJS.ProcessEnv, tool: UnifiedTool, id: string): Promise<OpenedSession> {
  const key = `${configDir(env)}\0${tool}\0${id}`;
  const known = opened.get(key);
  const session = known?.session.deref();
  if (session && stampOf(session.path) === known!.stamp) return session;
  const fresh = await readSession(env, tool, id);
  opened.delete(key);
  opened.set(key, { stamp: stampOf(fresh.path), session: new WeakRef(fresh) });
  for (const oldest of opened.keys()) {
    if (opened.size <= mostOpened) break;
    opened.delete(oldest);
  }
  return fresh;
}

const mostOpened = 20;

/** Changes with what it holds: of a chat, its store and the log beside it. */
function stampOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() ? changedAt(path) : (stat?.mtimeMs ?? 0);
}

async function readSession(env: NodeJS.ProcessEnv, tool: UnifiedTool, id: string): Promise<OpenedSession> {
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
    turns: turnsOf(session),
    problems: losses.map(({ message }) => message),
  };
}

function openChatSession(env: NodeJS.ProcessEnv, id: string): OpenedSession {
  const folder = findChat(configDir(env), id, "");
  const record = readRecordedTurns(folder) ?? readChat(folder, { events: true });
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
    turns: rebuildEvents(record),
    problems: record.problems.map(({ message }) => message),
  };
}

function turnsOf(session: ReadSession): SessionTurn[] {
  const timed = groupMessages(session.messages).map(({ message, from }) => ({ message, at: from[0]!.timestamp, from }));
  return splitTurns(timed).map((group, index) => {
    const usages = group.flatMap(({ from }) => from.flatMap((each) => each.usage ?? []));
    const steps = stepsOfTurn(group, {
      id: `${session.id}-${index + 1}`,
      ...(usages.length > 0 && { usage: usages.reduce(addUsage) }),
    });
    const used = contextOf(usages.at(-1) ?? noUsage);
    const events = steps.filter((step) => step.type !== "message");
    return {
      number: index + 1,
      events: events.map((event) => (isEnding(event) && used > 0 ? { ...event, context: { used } } : event)),
    };
  });
}

/** A page of events, each with its place in the session. */
export function eventsPage({ turns }: OpenedSession, from: number, limit: number) {
  const items: { index: number; turn: number; event: AgentEvent }[] = [];
  let total = 0;
  for (const { number: turn, events } of turns) {
    for (let at = Math.max(0, from - total); at < events.length && items.length < limit; at++)
      items.push({ index: total + at, turn, event: events[at]! });
    total += events.length;
  }
  return { items, total, ...(from + limit < total && { next: from + limit }) };
}

/** The last turns: as many as it takes to have so many events, each from its beginning. */
export function lastEvents(session: OpenedSession, count: number) {
  let from = session.turns.reduce((sum, { events }) => sum + events.length, 0);
  const total = from;
  for (const { events } of session.turns.toReversed()) {
    from -= events.length;
    if (total - from >= count) break;
  }
  return eventsPage(session, from, total);
}

/** `turn`: of this one only. */
export function sessionChanges({ turns }: OpenedSession, turn?: number) {
  return fileChanges(
    turns
      .filter(({ number }) => turn === undefined || number === turn)
      .flatMap(({ number, events }) => events.map((event) => ({ turn: number, event }))),
  );
}

/** What a session used up, turn by turn. */
export function sessionUsage({ turns }: OpenedSession): TurnFigures[] {
  return turns.map(({ number, events }) => {
    const ending = events.findLast(isEnding);
    const calls = events.filter((event) => event.type === "tool_start").length;
    return {
      turn: number,
      calls,
      outcome: ending?.type ?? null,
      durationMs: ending?.durationMs ?? 0,
      ...timesOf(events),
      usage: isObject(ending?.usage) ? ending.usage : null,
      context: ending?.context ?? null,
      costUsd: (ending && costOfEnding(ending)) ?? null,
    };
  });
}

function isEnding(event: AgentEvent): event is Extract<AgentEvent, { type: "done" | "fail" }> {
  return event.type === "done" || event.type === "fail";
}

function timesOf(events: readonly AgentEvent[]): TurnTimes {
  const clock = new TurnClock();
  for (const event of events) clock.take(event);
  return clock.times();
}
