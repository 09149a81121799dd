// Tracks what each run is doing at the moment, in one line.
import { signal } from "@preact/signals";
import type { AgentEvent } from "../../../protocol/event.ts";
import type { LogEntry, RunRecord } from "../../../serve/api.ts";
import { collapsed } from "../../../text/one-line.ts";
import { wordsOfCall } from "../../../view/call-words.ts";
import { liveRuns, onEntry, service } from "./app.ts";

/** Keyed by run id. `name` is the tool's name if it is a call. */
export const activity = signal<ReadonlyMap<string, { name?: string; text: string }>>(new Map());

const next = new Map<string, { name?: string; text: string }>();

/** Keeps `activity` up to date. Call once. */
export function watchActivity(): void {
  onEntry(take);
  liveRuns.subscribe((live) => {
    for (const run of live) if (!asked.has(run.id)) void lookBack(run);
  });
}

const asked = new Set<string>();
/** How many log positions to look back; positions count the entries of all runs. */
const lookedBack = 300;

/** Reads what a run did before this page was open. */
async function lookBack({ id, position }: RunRecord): Promise<void> {
  asked.add(id);
  const entries = await service()
    .log(id, Math.max(0, position - lookedBack))
    .catch(() => []);
  if (!next.has(id) && !activity.value.has(id)) for (const entry of entries) take(entry);
}

function take({ run, entry }: LogEntry): void {
  const line = entry.type === "event" && entry.agent === undefined ? lineOf(entry.event) : undefined;
  if (!line) return;
  if (next.size === 0) setTimeout(flush, 250);
  next.set(run, line);
}

function flush(): void {
  activity.value = new Map([...activity.value, ...next]);
  next.clear();
}

function lineOf(event: AgentEvent): { name?: string; text: string } | undefined {
  if (event.type === "tool_start") {
    const { name, target } = wordsOfCall(event.tool, event.args, undefined);
    return { name, text: target.slice(0, 120) };
  }
  if (event.type === "text_end" && event.text.trim() !== "") return { text: collapsed(event.text.slice(0, 200)) };
  return event.type === "fail" ? { text: collapsed(event.message) } : undefined;
}
