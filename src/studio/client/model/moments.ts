// Moments of a session: when each event happened, without long pauses, and what files held by then.
import type { FileChange } from "../../../serve/api.ts";
import type { Step } from "../state/conversation.ts";

/** Milliseconds since the beginning, for each step. `longest`: pauses are cut to it. */
export function timesOf(steps: readonly Step[], longest: number): number[] {
  let time = 0;
  let last: number | undefined;
  return steps.map(({ event: { at } }) => {
    if (at !== undefined) {
      if (last !== undefined) time += Math.max(0, Math.min(longest, at - last));
      last = at;
    }
    return time;
  });
}

/** `text` undefined: it was not there. */
export type FileThen = { path: string; text: string | undefined };

/** Files that were changed up to a moment, as they were then; those that change later, as they were before. Latest change last. */
export function filesAt(changes: readonly FileChange[], steps: readonly Step[], at: number): FileThen[] {
  const ends = new Map<string, number>();
  for (const [index, { event }] of steps.entries()) if (event.type === "tool_end") ends.set(event.callId, index);
  const files = changes.map(({ path, steps: made }) => {
    const done = made.filter(({ callId }) => (ends.get(callId) ?? Number.POSITIVE_INFINITY) < at);
    const last = done.at(-1);
    const text = last ? (last.kind === "delete" ? undefined : (last.after ?? undefined)) : beforeFirst(made[0]);
    return { path, text, when: last ? ends.get(last.callId)! : -1 };
  });
  return files
    .filter(({ text, when }) => when >= 0 || text !== undefined)
    .sort((one, other) => one.when - other.when)
    .map(({ path, text }) => ({ path, text }));
}

function beforeFirst(first: FileChange["steps"][number] | undefined): string | undefined {
  if (!first || first.before === "") return undefined;
  return first.before ?? undefined;
}
