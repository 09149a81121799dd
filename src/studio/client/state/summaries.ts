// Summaries of sessions, loaded when shown and again when the sessions have changed.
import { signal } from "@preact/signals";
import type { DayFigures, ListedSession, SessionSummary } from "../../../serve/api.ts";
import { service } from "./app.ts";

type Wanted = Pick<ListedSession, "tool" | "id" | "updatedAt">;

export const summaries = signal<ReadonlyMap<string, SessionSummary>>(new Map());
export const days = signal<readonly DayFigures[] | undefined>(undefined);

const asked = new Map<string, number>();
const atOnce = 60;

export async function wantSummaries(sessions: readonly Wanted[]): Promise<void> {
  const fresh = sessions.filter(({ tool, id, updatedAt }) => asked.get(`${tool} ${id}`) !== updatedAt);
  for (const { tool, id, updatedAt } of fresh) asked.set(`${tool} ${id}`, updatedAt);
  for (let at = 0; at < fresh.length; at += atOnce) {
    const some = fresh.slice(at, at + atOnce).map(({ tool, id, updatedAt }) => ({ tool, id, updatedAt }));
    const found = await service()
      .summaries(some)
      .catch(() => []);
    const all = new Map(summaries.value);
    for (const [index, summary] of found.entries())
      if (summary) all.set(`${some[index]!.tool} ${some[index]!.id}`, summary);
    summaries.value = all;
  }
}

export function summaryOf({ tool, id }: Pick<ListedSession, "tool" | "id">): SessionSummary | undefined {
  return summaries.value.get(`${tool} ${id}`);
}

export async function loadDays(): Promise<void> {
  days.value = await service()
    .days()
    .catch(() => days.value);
}
