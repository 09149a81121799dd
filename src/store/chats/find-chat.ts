// Finds a chat by its id, by a prefix of the id, or counted from the newest.

import { basename, join } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { shortened } from "../../text/one-line.ts";
import { programName } from "../../text/program-name.ts";
import { chatsDir, isChatId } from "./layout.ts";
import {
  ageAtAGlance,
  closedFolder,
  folders,
  isChat,
  metadataAtAGlance,
  newestFirst,
  projects,
  shownTitle,
} from "./list-chats.ts";

export { forkChat } from "./fork-chat.ts";
export { listChats } from "./list-chats.ts";

/**
 * Returns the folder of a chat. `wanted` is a UUID, a prefix of one (4 hex digits or more), or `-N`: the N-th from the newest.
 * The current project is searched first, then all. Text that cannot be an id never becomes part of a path. `program` is the
 * command name used in messages.
 */
export function findChat(configDir: string, wanted: string, workspace: string, program = programName()): string {
  const id = wanted.trim().toLowerCase();
  if (isNumber(id)) return nthChat(configDir, workspace, Number(id.slice(1)), program);
  if (!isBeginning(id))
    throw new UserError(
      "SESSION_NOT_FOUND",
      `Session not found: ${whyNoId(wanted)}. To list the chats: ${program} ls --all`,
    );
  const unread: string[] = [];
  const places = (workspaceOnly?: string) =>
    isChatId(id)
      ? projects(configDir, workspaceOnly).map((project) => join(project, id))
      : folders(configDir, workspaceOnly, (problem) => unread.push(problem)).filter((folder) =>
          basename(folder).toLowerCase().startsWith(id),
        );
  const here = places(workspace).filter(isChat);
  const found = here.length > 0 ? here : places().filter(isChat);
  if (found.length === 1) return found[0]!;
  // If the configuration was copied, the same chat may exist twice: take the newest.
  if (found.length > 1 && isChatId(id)) return found.map(ageAtAGlance).sort(newestFirst)[0]!.folder;
  if (found.length > 1) throw ambiguousPrefixError(id, found);
  // List the folders of this workspace first, since the chat is most likely in one of them.
  const closed = [...places(workspace), ...places()].flatMap((folder) => closedFolder(folder) ?? [])[0];
  if (closed !== undefined) throw unreadableFolderError(id, closed);
  if (unread.length > 0) throw new UserError("FILE_UNREADABLE", `No readable chat starts with ${id}. ${unread[0]}`);
  throw new UserError(
    "SESSION_NOT_FOUND",
    isChatId(id)
      ? `Session not found: the chat ${id} was not found in ${chatsDir(configDir)}. To list the chats: ${program} ls --all`
      : `Session not found: no chat starts with ${id} in ${chatsDir(configDir)}. To list the chats: ${program} ls --all`,
  );
}

/**
 * Returns the N-th chat from the newest, where 1 is the newest: of this workspace, or of all if it has none. Chats without a
 * conversation count only if there are no others: a program may have created one ahead of time.
 */
export function nthChat(configDir: string, workspace: string, number: number, program = programName()): string {
  const main = (workspaceOnly?: string) =>
    folders(configDir, workspaceOnly)
      .filter(isChat)
      .map(ageAtAGlance)
      .filter((chat) => !chat.isSubagent);
  const here = main(workspace);
  const all = here.length > 0 ? here : main();
  const spoken = all.filter((chat) => chat.hasConversation);
  const chats = (spoken.length > 0 ? spoken : all).sort(newestFirst);
  const chat = chats[number - 1];
  if (chat) return chat.folder;
  const closed = chats.length > 0 ? undefined : folders(configDir).find((folder) => closedFolder(folder) !== undefined);
  if (closed !== undefined) throw unreadableFolderError(basename(closed), closed);
  const count = chats.length === 1 ? "is one chat" : `are ${chats.length} chats`;
  throw new UserError(
    "SESSION_NOT_FOUND",
    chats.length === 0
      ? `Session not found: no chat to resume in ${chatsDir(configDir)}. To start one: ${program} "…"`
      : `Session not found: there ${count} ${here.length > 0 ? `of ${workspace}` : "in all"}, so there is no -${number}. To see them: ${program} ls${here.length > 0 ? "" : " --all"}`,
  );
}

/** Returns the error for a chat that cannot be read. `closed` is the unreadable folder: the chat's own or a parent. */
function unreadableFolderError(id: string, closed: string): UserError {
  const what = basename(closed).startsWith(id)
    ? `The chat ${basename(closed)} exists but cannot be read: permission denied for ${closed}.`
    : `The chat ${id} was not found, but it may be in ${closed}, which cannot be read: permission denied.`;
  return new UserError("FILE_UNREADABLE", `${what} Fix its owner and mode (chmod u+rwx), then try again.`);
}

const pattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

function isNumber(text: string): boolean {
  return /^-[1-9]\d{0,8}$/.test(text);
}

/** Returns whether a text is a UUID or a prefix of one. */
function isBeginning(text: string): boolean {
  if (!/^[0-9a-f]{4}/.test(text) || text.length > pattern.length) return false;
  return [...text].every((letter, index) => (pattern[index] === "-" ? letter === "-" : /[0-9a-f]/.test(letter)));
}

/** Finds a chat for `--resume`, where the user may have put the prompt in place of the id. */
export function findResumed(configDir: string, wanted: string, workspace: string, program: string): string {
  const id = wanted.trim().toLowerCase();
  if (!isNumber(id) && !isBeginning(id)) throw noChatId(wanted, program);
  try {
    return findChat(configDir, wanted, workspace, program);
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "SESSION_NOT_FOUND" || !isChatId(id)) throw error;
    throw new UserError(
      error.code,
      `${error.message.replace(/\.$/, "")}. To start one with this id: ${program} --resume-or-new ${id} "…"`,
    );
  }
}

/** Returns the error for a `--resume` value that cannot be an id. */
export function noChatId(wanted: string, program: string): UserError {
  const way =
    wanted.trim() === ""
      ? `Leave --resume out for a new chat; the latest one: ${program} --continue "…"`
      : `To resume the latest chat: ${program} --continue ${shortenArgument(wanted)}`;
  return new UserError(
    "SESSION_NOT_FOUND",
    `Session not found: ${whyNoId(wanted)}. ${way}. To list the chats: ${program} ls --all`,
  );
}

function whyNoId(wanted: string): string {
  if (wanted.trim() === "") return "the id is empty";
  const isShort = /^[0-9a-f]{1,3}$/i.test(wanted.trim());
  return `${shortenArgument(wanted)} is ${isShort ? "too short for a chat id: give at least its first 4 digits" : "not a chat id"}`;
}

function shortenArgument(wanted: string): string {
  return JSON.stringify(shortened(wanted, 200));
}

/** The maximum number of matching chats to list, so that they fit on a screen. */
const maxCandidates = 10;

function ambiguousPrefixError(beginning: string, folders: readonly string[]): UserError {
  const chats = folders.slice(0, maxCandidates).map((folder) => metadataAtAGlance(folder));
  const lines = chats.sort(newestFirst).map((chat) => `  ${chat.id}  ${firstLine(shownTitle(chat))}`);
  const rest = folders.length > maxCandidates ? [`  … and ${folders.length - maxCandidates} more`] : [];
  return new UserError(
    "SESSION_NOT_FOUND",
    `Session not found: ${folders.length} chats start with ${beginning}:\n${[...lines, ...rest].join("\n")}\nUse more digits of the id.`,
  );
}

function firstLine(text: string): string {
  return text.replace(/[\s\x00-\x1f\x7f-\x9f]+/g, " ").slice(0, 60);
}
