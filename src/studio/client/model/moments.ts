// Moments of a session for the replay: when each event happened, without long pauses, and the contents of files at that time.
import type { FileChange } from "../../../serve/api.ts";
import type { Step } from "../state/conversation.ts";

/** Returns the milliseconds since the beginning for each step. Pauses are cut to `longest`. */
export function momentTimes(steps: readonly Step[], longest: number): number[] {
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

type Change = FileChange["steps"][number];

/**
 * `text` is undefined if the file did not exist or its content is unknown (`isUnknown`). `byCommand` is set if a command made the
 * last change.
 */
export type FileThen = { path: string; text: string | undefined; isUnknown?: true; byCommand?: Change };

/** Returns the files as they were at a moment, including those that change later. The latest change comes last. */
export function filesAt(changes: readonly FileChange[], steps: readonly Step[], at: number): FileThen[] {
  const ends = new Map<string, number>();
  for (const [index, { event }] of steps.entries()) if (event.type === "tool_end") ends.set(event.callId, index);
  const files = changes.map(({ path, steps: made }) => {
    const last = made.filter(({ callId }) => (ends.get(callId) ?? Number.POSITIVE_INFINITY) < at).at(-1);
    const when = last ? ends.get(last.callId)! : -1;
    return { when, file: { path, ...(last ? fileAfter(last) : { text: beforeFirst(made[0]) }) } };
  });
  return files
    .filter(({ file, when }) => when >= 0 || file.text !== undefined)
    .sort((one, other) => one.when - other.when)
    .map(({ file }) => file);
}

function fileAfter(change: Change): Omit<FileThen, "path"> {
  const text = change.kind === "delete" ? undefined : (change.after ?? undefined);
  const isCommand = change.kind === "command";
  return {
    text,
    ...(isCommand && { byCommand: change }),
    ...(isCommand && text === undefined && !change.isGone && { isUnknown: true as const }),
  };
}

function beforeFirst(first: Change | undefined): string | undefined {
  if (!first || first.before === "") return undefined;
  return first.before ?? undefined;
}
