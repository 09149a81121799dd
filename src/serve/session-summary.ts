// Summarises a session in a few figures, for lists and the board. Cached until the session changes, because it must be read in full.
import { setImmediate as turnOfOthers } from "node:timers/promises";
import type { SessionInfo } from "../sdk/sessions/library.ts";
import type { ServeContext } from "./context.ts";
import { sessionList } from "./session-list.ts";
import { type OpenedSession, openSession, sessionChanges, sessionUsage } from "./sessions.ts";

/** `costUsd` is null if unknown. `last` is the last reply or error, on one line. */
export type SessionSummary = {
  costUsd: number | null;
  durationMs: number;
  files: number;
  added: number;
  removed: number;
  last: string;
};

/** The figures of one day in this machine's time zone, such as `2026-11-18`. */
export type DayFigures = {
  day: string;
  runs: number;
  done: number;
  failed: number;
  stopped: number;
  costUsd: number;
  durationMs: number;
};

type Wanted = Pick<SessionInfo, "tool" | "id" | "updatedAt">;

const summaries = new Map<string, { updatedAt: number; summary: SessionSummary }>();
const maxKnown = 5000;

/** Sums up the cost, time and changed files of a session. Returns undefined if it cannot be read. */
export async function summarizeSession({ env }: ServeContext, { tool, id, updatedAt }: Wanted) {
  const key = `${tool} ${id}`;
  const kept = summaries.get(key);
  if (kept?.updatedAt === updatedAt) return kept.summary;
  await turnOfOthers();
  const session = await openSession(env, tool, id).catch(() => undefined);
  if (!session) return undefined;
  const summary = summarize(session);
  if (summaries.size >= maxKnown) summaries.clear();
  summaries.set(key, { updatedAt, summary });
  return summary;
}

function summarize(session: OpenedSession): SessionSummary {
  const turns = sessionUsage(session);
  const changes = sessionChanges(session);
  const costs = turns.flatMap(({ costUsd }) => costUsd ?? []);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
  return {
    costUsd: costs.length > 0 ? sum(costs) : null,
    durationMs: sum(turns.map(({ durationMs }) => durationMs)),
    files: changes.length,
    added: sum(changes.map(({ linesAdded }) => linesAdded)),
    removed: sum(changes.map(({ linesRemoved }) => linesRemoved)),
    last: lastWords(session),
  };
}

function lastWords({ turns }: OpenedSession): string {
  const events = turns.at(-1)?.events ?? [];
  const lastEnding = events.findLast((event) => event.type === "fail" || event.type === "text_end");
  const text =
    lastEnding?.type === "fail" ? lastEnding.message : lastEnding?.type === "text_end" ? lastEnding.text : "";
  return text.trim().split("\n")[0]!.slice(0, 160);
}

/** Returns the last days, including those without sessions, oldest first. */
export async function figuresByDay(context: ServeContext, count: number): Promise<DayFigures[]> {
  const days = new Map<string, DayFigures>();
  const today = new Date();
  for (let ago = count - 1; ago >= 0; ago--) {
    const day = nameOf(new Date(today.getFullYear(), today.getMonth(), today.getDate() - ago).getTime());
    days.set(day, { day, runs: 0, done: 0, failed: 0, stopped: 0, costUsd: 0, durationMs: 0 });
  }
  const since = Date.now() - count * 86_400_000;
  for (const session of (await sessionList(context, { limit: 5000, since })).items) {
    const figures = days.get(nameOf(session.updatedAt));
    const summary = figures && (await summarizeSession(context, session));
    if (!figures || !summary) continue;
    figures.runs++;
    if (session.state === "done" || session.state === "failed") figures[session.state]++;
    if (session.state === "interrupted") figures.stopped++;
    figures.costUsd += summary.costUsd ?? 0;
    figures.durationMs += summary.durationMs;
  }
  return [...days.values()];
}

function nameOf(at: number): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
}
