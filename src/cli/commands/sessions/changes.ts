// `sessions changes`: shows what a chat changed, file by file, from its edit calls and from the snapshots around its commands.
import { unifiedDiff } from "../../../agent/diff.ts";
import { type FileState, heldFiles, type TreeChange, treeChanges } from "../../../agent/snapshots/changes.ts";
import { shownPath } from "../../../policy/paths.ts";
import type { FileChange } from "../../../serve/file-changes.ts";
import { type OpenedSession, openSession, sessionChanges } from "../../../serve/sessions.ts";
import { openReadOnly } from "../../../store/chats/read-chat.ts";
import { visible } from "../../../text/visible.ts";
import { counted } from "../../../view/numbers.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { contextOf, findChatFolder } from "./context.ts";

type Step = FileChange["steps"][number];

/** The maximum number of files to list; further ones are only counted. */
const maxFiles = 300;

export async function showChanges(invocation: Invocation, words: readonly string[]): Promise<number> {
  const folder = findChatFolder(invocation, words, "changes");
  const chat = openReadOnly(folder);
  const session = await openSession(invocation.env, "cursor", chat.metadata.id);
  const files = new Map(sessionChanges(session).map((file) => [file.path, file]));
  const { workspace } = chat.metadata;
  const { configDir } = contextOf(invocation);
  const found = workspace === undefined ? [] : await treeChanges({ configDir, workspace, chat });
  const endedAt = sessionEndTime(session);
  const isWanted = invocation.line.flags.has("now");
  let more = 0;
  const since: string[] = [];
  for (const change of found) {
    const { path } = change;
    const isLater = change.now !== undefined && change.now > endedAt;
    if (isLater && !isWanted) {
      // The session had already ended, so someone else made this change.
      since.push(path);
      continue;
    }
    const file = files.get(path) ?? { path, linesAdded: 0, linesRemoved: 0, steps: [] };
    const parts = unexplainedChanges(file, change);
    if (parts.length === 0) continue;
    if (!files.has(path) && files.size >= maxFiles) {
      more++;
      continue;
    }
    files.set(path, file);
    for (const part of parts) {
      const callId = lastCommand(session, change.turn, part.next?.callId);
      const place = { turn: change.turn, callId, path: shownPath(path, workspace!) };
      await insert(file, { ...part, ...place, ...(isLater && { isLater }) });
    }
  }
  const isHeld = workspace === undefined ? () => false : heldFiles({ configDir, workspace, chat });
  const items = [...files.values()].map((file) => {
    const turn = Math.min(...file.steps.filter(({ isLater }) => !isLater).map((step) => step.turn));
    return isHeld(file.path, turn) ? { ...file, heldBefore: turn } : file;
  });
  if (wantsJson(invocation)) return answerJson({ items, more, since: since.length });
  const rest =
    since.length > 0
      ? `${counted(since.length, "file")} ${since.length === 1 ? "differs" : "differ"} since then; to compare with them: --now\n`
      : "";
  return answer(changesText(items, more, workspace) + rest);
}

/** The time of a session's last event; infinity while its last turn is running. */
function sessionEndTime({ turns }: OpenedSession): number {
  const last = turns.at(-1)?.events.at(-1);
  if (last?.type !== "done" && last?.type !== "fail") return Number.POSITIVE_INFINITY;
  // Not every stored event has a time, but turns with changes do, because tool calls have times.
  return turns.flatMap(({ events }) => events.flatMap(({ at }) => at ?? [])).at(-1) ?? Number.POSITIVE_INFINITY;
}

/** A change that no tool call reported. `next` is the first edit of the file after it. */
type Unexplained = { before: FileState; after: FileState; next?: Step; isNow?: true };

/** Returns the changes that edits do not account for: before the first edit and after the last. */
function unexplainedChanges({ steps }: FileChange, { turn, before, after, now }: TreeChange): Unexplained[] {
  const isNow = now === undefined ? undefined : (true as const);
  const edits = steps.filter(
    (step) => step.kind !== "command" && (step.turn === turn || (isNow === true && step.turn > turn)),
  );
  const [first, last] = [edits[0], edits.at(-1)];
  if (!first || !last) return [{ before, after, ...(isNow && { isNow }) }];
  const parts: Unexplained[] = [];
  const found = first.before;
  // If an edit came before the snapshot, the snapshot contains it.
  const wasSaved = before?.text !== undefined && before.text === first.after;
  if (found !== null && isText(before) && found !== (before?.text ?? "") && !wasSaved)
    parts.push({ before, after: { text: found }, next: first });
  const left: FileState = last.kind === "delete" ? null : last.after === null ? {} : { text: last.after };
  if (isText(left) && isText(after) && left?.text !== after?.text)
    parts.push({ before: left, after, ...(isNow && { isNow }) });
  return parts;
}

type Inserted = Unexplained & { turn: number; callId: string; path: string; isLater?: true };

async function insert(file: FileChange, inserted: Inserted): Promise<void> {
  const { before, after, next, isNow, isLater, turn, callId, path } = inserted;
  const step: Step = {
    ...{ turn, callId, kind: "command", diff: null, before: before?.text ?? null, after: after?.text ?? null },
    ...(after === null && { isGone: true as const }),
    ...(isNow && { isNow }),
    ...(isLater && { isLater }),
  };
  if (isText(before) && isText(after)) {
    const unified = await unifiedDiff({ path, before: before?.text, after: after?.text ?? "" });
    step.diff = unified.text;
    file.linesAdded += unified.added;
    file.linesRemoved += unified.removed;
  }
  const index = next ? file.steps.indexOf(next) : file.steps.findLastIndex((each) => each.turn <= turn || isNow) + 1;
  file.steps.splice(index, 0, step);
}

function isText(state: FileState): boolean {
  return state === null || state.text !== undefined;
}

/** Attributes a change to the last command, since it is unknown which of several made it. `before` is the call to stop at. */
function lastCommand({ turns }: OpenedSession, turn: number, before: string | undefined): string {
  const events = turns.find(({ number }) => number === turn)?.events ?? [];
  const end = events.findIndex((event) => event.type === "tool_start" && event.callId === before);
  const call = events
    .slice(0, end < 0 ? undefined : end)
    .findLast((event) => event.type === "tool_end" && !ownTools.has(event.tool));
  return call?.type === "tool_end" ? call.callId : "";
}

/** Tools that report their own changes or that change nothing. */
const ownTools = new Set([
  "read",
  "ls",
  "grep",
  "glob",
  "edit",
  "write",
  "delete",
  "updateTodos",
  "semSearch",
  "webFetch",
]);

function changesText(items: readonly FileChange[], more: number, workspace: string | undefined): string {
  if (items.length === 0) return "No file was changed.\n";
  const lines = items.map(({ path, linesAdded, linesRemoved, steps }) => {
    const by = new Set(steps.map(({ kind }) => (kind === "command" ? "a command" : "an edit")));
    const name = visible(shownPath(path, workspace ?? "/")).replaceAll("\n", "\\n");
    const last = steps.at(-1)!;
    const isCounted = steps.some(({ diff }) => diff !== null);
    const lines = isCounted ? `+${linesAdded} -${linesRemoved}` : "written";
    const counts = last.kind === "delete" || last.isGone ? "deleted" : lines;
    return `  ${counts.padEnd(12)} ${name}  (by ${[...by].join(" and ")})\n`;
  });
  return `${counted(items.length, "file")} changed:\n${lines.join("")}${more > 0 ? `  … and ${more} more\n` : ""}`;
}
