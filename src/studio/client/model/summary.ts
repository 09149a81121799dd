// Summarizes a conversation: changed files, open todos, and the figures of its turns.
import { fieldsOf, isObject, type JsonObject, objectsIn } from "../../../json/object.ts";
import type { TurnFigures } from "../../../serve/api.ts";
import type { Block, TurnNumbers } from "../../components/timeline/blocks.ts";

export type ChangedFile = { path: string; added: number; removed: number; isDeleted: boolean };

export function changedFiles(blocks: readonly Block[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const block of blocks) {
    if (block.type !== "call" || block.call.outcome?.kind !== "success") continue;
    const { tool, args, outcome } = block.call;
    if (tool !== "edit" && tool !== "write" && tool !== "delete") continue;
    const value = fieldsOf(outcome.value);
    const path = value["path"] ?? (isObject(args) ? args["path"] : undefined);
    if (typeof path !== "string") continue;
    const file = files.get(path) ?? { path, added: 0, removed: 0, isDeleted: false };
    files.set(path, {
      path,
      added: file.added + (count(value["linesAdded"]) || count(value["linesCreated"])),
      removed: file.removed + count(value["linesRemoved"]),
      isDeleted: tool === "delete",
    });
  }
  return [...files.values()];
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** Returns the latest state of the todo list. */
export function latestTodos(blocks: readonly Block[]): JsonObject[] {
  const block = blocks.findLast((each) => each.type === "call" && each.call.tool === "updateTodos");
  if (block?.type !== "call") return [];
  const { outcome, args } = block.call;
  const value = isObject(outcome?.value) ? outcome.value : fieldsOf(args);
  return objectsIn(value["todos"]);
}

/** Merges turns that are only on disk, as they are not loaded yet, with those of the timeline, which may not be on disk yet. */
export function turnNumbers(
  shown: readonly TurnNumbers[],
  figures: readonly TurnFigures[] | undefined,
  timesNow: (now: number) => Pick<TurnNumbers, "toolMs" | "waitMs">,
): readonly TurnNumbers[] {
  const first = shown[0]?.number ?? Number.POSITIVE_INFINITY;
  const earlier = (figures ?? []).filter(({ turn }) => turn < first).map(numbersOf);
  const now = Date.now();
  const contexts = new Map((figures ?? []).map(({ turn, context }) => [turn, context]));
  return [
    ...earlier,
    ...shown.map((turn) =>
      turn.state === "running"
        ? { ...untilNow(turn, now), ...timesNow(now) }
        : withContext(turn, contexts.get(turn.number)),
    ),
  ];
}

/** Adds the context use from disk, since the stream of a run does not have it. */
function withContext(turn: TurnNumbers, context: TurnFigures["context"] | undefined): TurnNumbers {
  return context && !turn.context ? { ...turn, context } : turn;
}

function untilNow(turn: TurnNumbers, now: number): TurnNumbers {
  return { ...turn, durationMs: Math.max(0, now - (turn.startedAt ?? now)) };
}

function numbersOf(figures: TurnFigures): TurnNumbers {
  const { turn, calls, durationMs, toolMs, waitMs, usage, context, costUsd, outcome } = figures;
  return {
    number: turn,
    prompt: "",
    durationMs,
    modelMs: Math.max(0, durationMs - toolMs - waitMs),
    toolMs,
    waitMs,
    calls,
    changed: [],
    ...(usage && { usage }),
    ...(context && { context }),
    ...(costUsd !== null && { costUsd }),
    state: outcome === "fail" ? "failed" : "done",
  };
}
