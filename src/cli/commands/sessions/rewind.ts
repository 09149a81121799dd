// `sessions rewind`: restores a chat and the files of its workspace to the state before a turn.
import { resolve } from "node:path";
import type { LeftPath, RestoreStep } from "../../../agent/snapshots/plan.ts";
import { openRewind, type RestoreResult, type Rewind } from "../../../agent/snapshots/rewind.ts";
import { shownPath } from "../../../policy/paths.ts";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import type { ChatTurn, ChatWriter } from "../../../store/chats/chat.ts";
import { openChat } from "../../../store/chats/open-chat.ts";
import { openReadOnly, readChat } from "../../../store/chats/read-chat.ts";
import { firstLines, firstOf } from "../../../text/first-of.ts";
import { visible } from "../../../text/visible.ts";
import { cut } from "../../../text/width.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { printableLine } from "./chat-lines.ts";
import { contextOf, findChatFolder, type SessionsContext } from "./context.ts";

/** What a rewind restores, according to the flags. */
type RewindOptions = {
  files: boolean;
  conversation: boolean;
  dryRun: boolean;
  undo: boolean;
  sure: boolean;
  to?: number;
  file?: string;
};

type RewoundChat = Pick<ChatWriter, "metadata" | "state" | "saveState" | "turn" | "rewindTo" | "close">;

type RewindTask = {
  invocation: Invocation;
  options: RewindOptions;
  chat: RewoundChat;
  turns: readonly ChatTurn[];
  rewind: Rewind;
};

const maxShown = 20;

export async function rewindSession(invocation: Invocation, words: readonly string[]): Promise<number> {
  const options = rewindOptions(invocation);
  const folder = findChatFolder(invocation, words, "rewind");
  const { turns, problems } = readChat(folder, { events: true });
  for (const { message } of problems) writeStderr(`Warning: ${visible(message)}\n`);
  const context = contextOf(invocation);
  const chat = options.dryRun ? onlyLooked(folder) : openChat(folder);
  try {
    if (options.files) checkWorkspace(invocation, chat, context);
    const task = { invocation, options, chat, turns, rewind: openRewind({ ...context, chat }) };
    return await (options.undo ? undoRewind(task) : rewindTo(task, turnToRewind(task)));
  } finally {
    chat.close();
  }
}

/** Opens a chat read-only for a dry run, since merely opening it for writing would change it. */
function onlyLooked(folder: string): RewoundChat {
  const refuse = () => {
    throw new Error("nothing is written in a dry run");
  };
  return { ...openReadOnly(folder), saveState: refuse, rewindTo: refuse, close: () => {} };
}

async function rewindTo(task: RewindTask, turn: ChatTurn): Promise<number> {
  const { options, chat, turns, rewind, invocation } = task;
  const named = `turn ${turn.number} “${cut(printableLine(turn.prompt), 50)}”`;
  const which = options.file === undefined ? {} : { file: resolve(chat.metadata.workspace ?? "/", options.file) };
  const planned = options.files ? await rewind.restore(turn.number, { ...which, dryRun: true }) : nothing;
  const gaps = options.files ? rewind.gaps(turn.number) : [];
  for (const gap of gaps) writeStderr(`Warning: the files were not saved in turn ${gap.turn}: ${gap.why}\n`);
  const going = turns.length - turn.number + 1;
  const conversation = options.conversation ? [`${countText(going, "turn")} of the conversation`] : [];
  const files = planned.steps.length > 0 ? [countText(planned.steps.length, "file change")] : [];
  const what = [...files, ...conversation].join(" and ") || "nothing";
  if (options.dryRun)
    return answer(`Rewinding to before ${named}: ${what} would be undone.\n${listRestoredPaths(planned, task)}`);
  if (!(await isSure(task, planned, `Rewind to before ${named}, undoing ${what}?`)))
    return answer("Nothing was changed.\n");

  const done = options.files ? await rewind.restore(turn.number, which) : nothing;
  const report = options.files ? reportOf(done, task) : "";
  const undo =
    done.steps.length > 0
      ? `To restore the files: ${invocation.name} sessions rewind ${chat.metadata.id} --undo\n`
      : "";
  if (done.failed.length > 0) {
    await answer(report + undo);
    throw new UserError("STORE_IO", `${failures(done.failed, task)} The conversation was not changed.`);
  }
  if (options.conversation)
    rewind.takeBack(turn.number, { files: options.files }, (state) => chat.rewindTo(turn.number, state));
  const left = options.conversation ? `✓ Rewound the conversation to before ${named}\n` : "";
  return answer(report + left + undo);
}

async function undoRewind(task: RewindTask): Promise<number> {
  const { options, rewind, invocation, chat } = task;
  const planned = await rewind.undo({ dryRun: true });
  if (!planned) {
    throw usageError(
      `No rewind of the chat ${chat.metadata.id} has changed files, so there is nothing to undo. Its turns: ${invocation.name} sessions show ${chat.metadata.id}`,
    );
  }
  const what = countText(planned.steps.length, "file change");
  if (options.dryRun)
    return answer(`Undoing the last rewind: ${what} would be undone.\n${listRestoredPaths(planned, task)}`);
  if (!(await isSure(task, planned, `Undo the last rewind, with ${what}?`))) return answer("Nothing was changed.\n");
  const done = (await rewind.undo())!;
  await answer(reportOf(done, task));
  if (done.failed.length > 0) throw new UserError("STORE_IO", failures(done.failed, task));
  return 0;
}

const nothing: RestoreResult = { steps: [], left: [], failed: [] };

function rewindOptions({ line: { flags }, name }: Invocation): RewindOptions {
  const [only, filesOnly, undo] = ["conversation-only", "files-only", "undo"].map((flag) => flags.has(flag));
  const to = flagText(flags, "to");
  const file = flagText(flags, "file");
  if (file !== undefined && (only || undo))
    throw usageError(
      `--file takes one file back, so it goes with neither --conversation-only nor --undo. Type: ${name} help sessions rewind`,
    );
  if ([only, filesOnly, undo].filter(Boolean).length > 1 || (undo && to !== undefined)) {
    throw usageError(
      `--conversation-only, --files-only and --undo are mutually exclusive, and --undo takes no --to. Type: ${name} help sessions rewind`,
    );
  }
  if (to !== undefined && !/^[1-9]\d{0,8}$/.test(to))
    throw usageError(`--to '${to}' is not a turn number. Example: --to 3`);
  return {
    files: !only,
    conversation: !filesOnly && !undo && file === undefined,
    dryRun: flags.has("dry-run"),
    undo: undo === true,
    sure: flags.has("yes") || flags.has("force"),
    ...(to !== undefined && { to: Number(to) }),
    ...(file !== undefined && { file }),
  };
}

/** Refuses to change files unless the command runs in their workspace, so that it is clear which files change. */
function checkWorkspace({ name }: Invocation, { metadata }: RewoundChat, { workspace }: SessionsContext): void {
  if (metadata.workspace === workspace) return;
  const there = metadata.workspace;
  throw usageError(
    there === undefined
      ? `It is not known which files the chat ${metadata.id} worked on. For the conversation alone: ${name} sessions rewind ${metadata.id} --conversation-only`
      : `The chat ${metadata.id} belongs to ${there}, not to ${workspace}. Type: ${name} sessions rewind ${metadata.id} --workspace ${there}; for the conversation alone: --conversation-only`,
  );
}

function turnToRewind({ options, turns, chat, invocation }: RewindTask): ChatTurn {
  const turn = options.to === undefined ? turns.at(-1) : turns.find((each) => each.number === options.to);
  if (turn) return turn;
  const { id } = chat.metadata;
  throw usageError(
    turns.length === 0
      ? `The chat ${id} has no turns to undo.`
      : `The chat ${id} has no turn ${options.to}: its turns are 1 to ${turns.length}. To see them: ${invocation.name} sessions show ${id}`,
  );
}

async function isSure(task: RewindTask, planned: RestoreResult, question: string): Promise<boolean> {
  if (task.options.sure) return true;
  const { isatty } = await import("node:tty");
  if (!isatty(0)) return true;
  const { promptYes } = await import("../../prompt-hidden.ts");
  writeStderr(listRestoredPaths(planned, task));
  return promptYes(question);
}

function reportOf({ steps, left }: RestoreResult, task: RewindTask): string {
  return `✓ ${countSteps(steps)}\n${listRestoredPaths({ steps, left }, task)}`;
}

const outcomes: Record<RestoreStep["change"], string> = {
  write: "written",
  remove: "removed",
  make: "directories created",
  mode: "modes restored",
};

function countSteps(steps: readonly RestoreStep[]): string {
  const counts = Object.entries(outcomes).flatMap(([change, outcome]) => {
    const count = steps.filter((step) => step.change === change).length;
    return count > 0 ? [`${count} ${outcome}`] : [];
  });
  return counts.length > 0 ? `Files: ${counts.join(", ")}` : "No files changed";
}

const verbs: Record<RestoreStep["change"], string> = { write: "write", remove: "remove", make: "folder", mode: "mode" };

/** Lists what changes, and what stays although the user might expect otherwise. */
function listRestoredPaths({ steps, left }: Pick<RestoreResult, "steps" | "left">, { chat }: RewindTask): string {
  const workspace = chat.metadata.workspace ?? "/";
  const displayPath = (path: string) => visible(shownPath(path, workspace)).replaceAll("\n", "\\n");
  const changed = steps.map(({ change, path, entry }) => {
    const mode = change === "mode" && "mode" in entry ? ` (${entry.mode.toString(8)})` : "";
    return `${verbs[change].padEnd(7)} ${displayPath(path)}${mode}`;
  });
  const stays = left.map(({ path, why }) => `left    ${displayPath(path)}: ${why}`);
  return [...firstLines(changed, maxShown), ...firstLines(stays, maxShown)].map((line) => `${line}\n`).join("");
}

function countText(count: number, what: string): string {
  return count === 1 ? `one ${what}` : `${count} ${what}s`;
}

function failures(failed: readonly LeftPath[], { chat }: RewindTask): string {
  const paths = failed.map(({ path, why }) => `${shownPath(path, chat.metadata.workspace ?? "/")} (${why})`);
  return `These could not be restored: ${firstOf(paths, 5)}. Fix that and run it again.`;
}
