// Summaries of sessions, loaded when shown and again when the sessions have changed.
import { signal } from "@preact/signals";
import type { DayFigures, ListedSession, SessionSummary } from "../../../serve/api.ts";
import { plainLine } from "../model/figures.ts";
import { service } from "./app.ts";

type Wanted = Pick<ListedSession, "tool" | "id" | "updatedAt">;

export const summaries = signal<ReadonlyMap<string, SessionSummary>>(new Map());
export const days = signal<readonly DayFigures[] | undefined>(undefined);

const maxPerRequest = 60;
/** The list and the board ask for summaries within the same moment: one request answers both. */
const collectMs = 30;
const minDaysIntervalMs = 1500;

const asked = new Map<string, number>();
const waiting = new Map<string, Wanted>();
let areDaysDue = false;
let lastDays = Number.NEGATIVE_INFINITY;

export function wantSummaries(sessions: readonly Wanted[]): void {
  const wasIdle = waiting.size === 0;
  for (const { tool, id, updatedAt } of sessions) {
    const key = `${tool} ${id}`;
    if (asked.get(key) === updatedAt) continue;
    asked.set(key, updatedAt);
    waiting.set(key, { tool, id, updatedAt });
  }
  if (wasIdle && waiting.size > 0) setTimeout(() => void loadSummaries(), collectMs);
}

async function loadSummaries(): Promise<void> {
  const wanted = [...waiting.values()];
  waiting.clear();
  for (let at = 0; at < wanted.length; at += maxPerRequest) {
    const some = wanted.slice(at, at + maxPerRequest);
    const found = await service()
      .summaries(some)
      .catch(() => []);
    const all = new Map(summaries.value);
    for (const [index, summary] of found.entries())
      if (summary) all.set(`${some[index]!.tool} ${some[index]!.id}`, { ...summary, last: plainLine(summary.last) });
    summaries.value = all;
  }
}

export function sessionSummary({ tool, id }: Pick<ListedSession, "tool" | "id">): SessionSummary | undefined {
  return summaries.value.get(`${tool} ${id}`);
}

/** Loads the figures of the days at once if that has not happened lately, else a little later, and once for all who ask until then. */
export function loadDays(): void {
  if (areDaysDue) return;
  areDaysDue = true;
  setTimeout(
    async () => {
      areDaysDue = false;
      lastDays = performance.now();
      days.value = await service()
        .days()
        .catch(() => days.value);
    },
    lastDays + minDaysIntervalMs - performance.now(),
  );
}
