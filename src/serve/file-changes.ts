// What a session changed, file by file, as its calls told it.
import { isObject, type JsonObject } from "../json/object.ts";
import type { AgentEvent } from "../protocol/event.ts";

export type FileChange = {
  path: string;
  linesAdded: number;
  linesRemoved: number;
  /** Each change of the file, in order. */
  steps: {
    turn: number;
    callId: string;
    /** `command`: seen by comparing snapshots; `callId` is the last one that may have done it. */
    kind: "edit" | "write" | "delete" | "command";
    diff: string | null;
    /** The whole file, where the call told it. */
    before: string | null;
    after: string | null;
    /** The file was not there afterwards. */
    isGone?: true;
    /** `after` is what is on the disk now. */
    isNow?: true;
    /** The file was changed after the session was over, so by somebody else. */
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
    const value: JsonObject = isObject(event.outcome.value) ? event.outcome.value : {};
    const args: JsonObject = isObject(event.args) ? event.args : {};
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

function textIn(value: JsonObject, key: string): string | undefined {
  const text = value[key];
  return typeof text === "string" ? text : undefined;
}

function countIn(value: JsonObject, key: string): number {
  const count = value[key];
  return typeof count === "number" && Number.isFinite(count) ? count : 0;
}
