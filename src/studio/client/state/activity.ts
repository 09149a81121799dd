// Tracks what each run is doing at the moment, in one line.
import { signal } from "@preact/signals";
import type { AgentEvent } from "../../../protocol/event.ts";
import type { ContextUse } from "../../../protocol/run.ts";
import type { LogEntry } from "../../../serve/api.ts";
import { wordsOfCall } from "../../../view/call-words.ts";
import { documentText } from "../../../view/document-text.ts";
import { plainLine } from "../model/figures.ts";
import { lastSteps, liveRuns, onEntry, service } from "./app.ts";

/** What each run is doing now, by run id. For a tool call, `name` is the tool's name. */
export const activity = signal<ReadonlyMap<string, { name?: string; text: string }>>(new Map());

/** What each run has cost so far in US dollars, where the price is known, by run id. */
export const costs = signal<ReadonlyMap<string, number>>(new Map());

const next = new Map<string, { name?: string; text: string }>();

/** Keeps `activity` up to date. Call this once. */
export function watchActivity(): void {
  onEntry(take);
  lastSteps.subscribe((steps) => {
    for (const step of steps) if (!activity.value.has(step.run)) take(step);
  });
}

const costsEveryMs = 20_000;

/** Asks the runs of this program what they have cost, now and then, until the returned function is called. */
export function watchCosts(): () => void {
  const ask = () => {
    if (document.hidden) return;
    for (const { id, spec, state } of liveRuns.peek())
      if (spec.cli === "courser" && state === "running")
        void service()
          .tell(id, { type: "context", id: `context-${Date.now()}` })
          .catch(() => {});
  };
  const first = setTimeout(ask, 3000);
  const timer = setInterval(ask, costsEveryMs);
  return () => {
    clearTimeout(first);
    clearInterval(timer);
  };
}

function take({ run, entry }: LogEntry): void {
  const cost = entry.type === "reply" && entry.id.startsWith("context-") && (entry.value as ContextUse)?.costUsd;
  if (cost) costs.value = new Map(costs.value).set(run, cost);
  const line = entry.type === "event" && entry.agent === undefined ? activityLine(entry.event) : undefined;
  if (!line) return;
  if (next.size === 0) setTimeout(flush, 250);
  next.set(run, line);
}

function flush(): void {
  activity.value = new Map([...activity.value, ...next]);
  next.clear();
}

function activityLine(event: AgentEvent): { name?: string; text: string } | undefined {
  if (event.type === "tool_start") {
    const { name, target } = wordsOfCall(event.tool, event.args, undefined);
    return { name, text: documentText(target.slice(0, 120)) };
  }
  if (event.type === "text_end" && event.text.trim() !== "") return { text: plainLine(event.text.slice(0, 200)) };
  return event.type === "fail" ? { text: plainLine(event.message) } : undefined;
}
