// Collects the changes that a session made, file by file, from the results of its tool calls.
import { fieldsOf, type JsonObject, textIn } from "../json/object.ts";
import type { AgentEvent } from "../protocol/event.ts";

export type FileChange = {
  path: string;
  linesAdded: number;
  linesRemoved: number;
  /** The number of the first turn that changed the file. A snapshot contains the file as it was before that turn. */
  heldBefore?: number;
  /** All changes of the file, in the order they were made. */
  steps: {
    turn: number;
    callId: string;
    /** `command` was found by comparing snapshots; `callId` is then the last call that may have made the change. */
    kind: "edit" | "write" | "delete" | "command";
    diff: string | null;
    /** The whole file before the change, if the tool call reported it. */
    before: string | null;
    after: string | null;
    /** Whether the file no longer existed after the change. */
    isGone?: true;
    /** Whether `after` is the file's current content on disk. */
    isNow?: true;
    /** Whether the change was made after the session had ended, so by someone else. */
    isLater?: true;
  }[];
};

const kinds: Readonly<Record<string, FileChange["steps"][number]["kind"]>> = {
  edit: "edit",
  write: "write",
  delete: "delete",
};

export function fileChanges(events: readonly { turn: number; event: AgentEvent }[]): FileChange[] {
  const files = new Map<string, FileChange>();
  for (const { turn, event } of events) {
    if (event.type !== "tool_end" || event.outcome?.kind !== "success" || !Object.hasOwn(kinds, event.tool)) continue;
    const value: JsonObject = fieldsOf(event.outcome.value);
    const args: JsonObject = fieldsOf(event.args);
    const path = textIn(value, "path") ?? textIn(args, "path");
    if (path === undefined) continue;
    const file = files.get(path) ?? { path, linesAdded: 0, linesRemoved: 0, steps: [] };
    files.set(path, file);
    file.linesAdded += countIn(value, "linesAdded") || countIn(value, "linesCreated");
    file.linesRemoved += countIn(value, "linesRemoved");
    const before = textIn(value, "beforeFullFileContent") ?? null;
    const after = textIn(value, "afterFullFileContent") ?? textIn(args, "fileText") ?? null;
    const step = { turn, callId: event.callId, kind: kinds[event.tool]!, diff: textIn(value, "diffString") ?? null };
    file.steps.push({ ...step, before, after });
  }
  return [...files.values()];
}

function countIn(value: JsonObject, key: string): number {
  const count = value[key];
  return typeof count === "number" && Number.isFinite(count) ? count : 0;
}
