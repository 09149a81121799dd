// Which chats there are, told without opening their stores wherever that can be done.
import { accessSync, existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { systemErrorText } from "../../text/system-error.ts";
import { storeError } from "../sqlite.ts";
import type { ChatMetadata } from "./chat.ts";
import { chatsDir, isChatId, projectId, storeFile } from "./layout.ts";
import { changedAt, readMetadata } from "./read-chat.ts";
import { metadataFields, readMetadataFile } from "./transcript-files.ts";

/** `onUnreadable`: of a folder of chats, with why. Without it, one that cannot be read ends the listing. */
export type ListOptions = { workspace?: string; parent?: string; onUnreadable?: (problem: string) => void };

/** Newest first; those of one workspace, or all. Chats of subagents only where their parent is asked for. */
export function listChats(configDir: string, { workspace, parent, onUnreadable }: ListOptions = {}): ChatMetadata[] {
  const found: ChatMetadata[] = [];
  for (const folder of folders(configDir, workspace, onUnreadable)) {
    // The quick way first: thousands of chats are listed in a moment.
    const metadata = readMetadataFile(folder) ?? (isChat(folder) ? metadataAtAGlance(folder) : undefined);
    if (!metadata || metadata.parent !== parent) continue;
    if (workspace !== undefined) metadata.workspace ??= workspace;
    found.push(metadata);
  }
  return found.sort(newestFirst);
}

/** The folders of workspaces: of one, or all that there are. */
export function projects(configDir: string, workspace?: string): string[] {
  const chats = chatsDir(configDir);
  if (workspace !== undefined) return [join(chats, projectId(workspace))];
  return unlessMissing(chats, () => readdirSync(chats, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory()) // links are not followed
    .map((entry) => join(chats, entry.name));
}

/** The names of chats in one of them. What else lies there is passed over: other programs keep things there too. */
export function idsIn(project: string, onUnreadable?: ListOptions["onUnreadable"]): string[] {
  try {
    return unlessMissing(project, () => readdirSync(project)).filter(isChatId);
  } catch (error) {
    if (!onUnreadable || !(error instanceof UserError)) throw error;
    onUnreadable(error.message);
    return [];
  }
}

/** Every folder with the name of a chat. Put together by hand: `join` takes longer than looking at the disk. */
export function folders(configDir: string, workspace?: string, onUnreadable?: ListOptions["onUnreadable"]): string[] {
  return projects(configDir, workspace).flatMap((project) =>
    idsIn(project, onUnreadable).map((id) => `${project}${sep}${id}`),
  );
}

/** What a list shows of a chat: from the small file beside its store, which is opened only where that file says too little. */
export function metadataAtAGlance(folder: string): ChatMetadata {
  const metadata = readMetadataFile(folder) ?? titledMetadata(folder);
  if (metadata) return metadata;
  try {
    return readMetadata(folder);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ...ageAtAGlance(folder), id: basename(folder), title: "(this chat cannot be read)", mode: "default" };
  }
}

/** Some programs that write such chats put a title beside the store: enough for a list. */
function titledMetadata(folder: string): ChatMetadata | undefined {
  const { title, cwd, isSubagent } = metadataFields(folder);
  if (typeof title !== "string" || title === "" || title === "New Agent") return undefined;
  const workspace = typeof cwd === "string" ? { workspace: cwd } : {};
  const parent = isSubagent === true ? { parent: "" } : {};
  return { ...ageAtAGlance(folder), id: basename(folder), ...workspace, ...parent, title, mode: "default" };
}

/** A chat without a title is known by its first prompt. */
export function shownTitle({ title, prompt }: ChatMetadata): string {
  return title === "New Agent" ? (prompt ?? title) : title;
}

export type ChatAge = Pick<ChatMetadata, "folder" | "createdAt" | "updatedAt" | "hasConversation"> & {
  isSubagent?: boolean;
};

/** Enough to tell which chat is newer, without opening a store, also for chats that the original wrote. */
export function ageAtAGlance(folder: string): ChatAge {
  const { createdAtMs, updatedAtMs, hasConversation, isSubagent } = metadataFields(folder);
  const kind = isSubagent === true && { isSubagent };
  if (typeof updatedAtMs === "number") {
    const createdAt = typeof createdAtMs === "number" ? createdAtMs : updatedAtMs;
    return { folder, createdAt, updatedAt: updatedAtMs, hasConversation: hasConversation !== false, ...kind };
  }
  const updatedAt = changedAt(folder);
  return { folder, createdAt: updatedAt, updatedAt, hasConversation: true, ...kind };
}

export function newestFirst(one: ChatAge, other: ChatAge): number {
  return other.updatedAt - one.updatedAt || other.createdAt - one.createdAt || (one.folder < other.folder ? -1 : 1);
}

function unlessMissing<Entry>(folder: string, list: () => Entry[]): Entry[] {
  try {
    return list();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    if (isPermission(error))
      throw new UserError(
        "FILE_UNREADABLE",
        `The chats in ${folder} cannot be read: ${systemErrorText(error)}. Fix its owner and mode (chmod u+rwx).`,
      );
    throw storeError(error, folder);
  }
}

/** Whether any workspace has a chat with this id. */
export function isTaken(configDir: string, id: string): boolean {
  return projects(configDir)
    .map((project) => join(project, id))
    .some((folder) => isChat(folder) || closedFolder(folder) === folder);
}

/** The store comes last when a chat is made: without it there is none. */
export function isChat(folder: string): boolean {
  return existsSync(storeFile(folder));
}

/** Where this user may not look for a chat: its folder, or the one above it. Undefined where nothing is in the way. */
export function closedFolder(folder: string): string | undefined {
  return [dirname(folder), folder].find((each) => isRefused(`${each}${sep}.`));
}

function isRefused(path: string): boolean {
  try {
    accessSync(path);
    return false;
  } catch (error) {
    return isPermission(error);
  }
}

function isPermission(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "");
}
