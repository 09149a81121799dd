// Lists chats, without opening their stores where possible.
import { accessSync, existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { systemErrorText } from "../../text/system-error.ts";
import { storeError } from "../sqlite.ts";
import type { ChatMetadata } from "./chat.ts";
import { chatsDir, isChatId, projectId, storeFile } from "./layout.ts";
import { changedAt, readMetadata } from "./read-chat.ts";
import { metadataFields, readMetadataFile } from "./transcript-files.ts";

/** `onUnreadable` is called with the reason if a folder of chats cannot be read. Without it, the listing throws. */
export type ListOptions = { workspace?: string; parent?: string; onUnreadable?: (problem: string) => void };

/** Lists the chats of one workspace, or all, newest first. Chats of subagents are listed only by their parent. */
export function listChats(configDir: string, { workspace, parent, onUnreadable }: ListOptions = {}): ChatMetadata[] {
  const found: ChatMetadata[] = [];
  for (const folder of folders(configDir, workspace, onUnreadable)) {
    // Try the fast path first, since there may be thousands of chats.
    const metadata = readMetadataFile(folder) ?? (isChat(folder) ? metadataAtAGlance(folder) : undefined);
    if (!metadata || metadata.parent !== parent) continue;
    if (workspace !== undefined) metadata.workspace ??= workspace;
    found.push(metadata);
  }
  return found.sort(newestFirst);
}

/** Adds the chats of subagents, which are deleted with their parent. */
export function withSubagents(configDir: string, chats: readonly ChatMetadata[]): ChatMetadata[] {
  const all = new Map(chats.map((chat) => [chat.id, chat]));
  for (const { id, workspace } of all.values()) {
    for (const child of listChats(configDir, { parent: id, ...(workspace !== undefined && { workspace }) }))
      all.set(child.id, child);
  }
  return [...all.values()];
}

/** Returns the folders of one workspace, or of all. */
export function projects(configDir: string, workspace?: string): string[] {
  const chats = chatsDir(configDir);
  if (workspace !== undefined) return [join(chats, projectId(workspace))];
  return unlessMissing(chats, () => readdirSync(chats, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory()) // do not follow links
    .map((entry) => join(chats, entry.name));
}

/** Returns the ids of the chats in a project folder. Other entries are skipped: other programs keep files there too. */
export function idsIn(project: string, onUnreadable?: ListOptions["onUnreadable"]): string[] {
  try {
    return unlessMissing(project, () => readdirSync(project)).filter(isChatId);
  } catch (error) {
    if (!onUnreadable || !(error instanceof UserError)) throw error;
    onUnreadable(error.message);
    return [];
  }
}

/** Returns every folder named like a chat. Concatenated by hand, since `join` takes longer than the disk access. */
export function folders(configDir: string, workspace?: string, onUnreadable?: ListOptions["onUnreadable"]): string[] {
  return projects(configDir, workspace).flatMap((project) =>
    idsIn(project, onUnreadable).map((id) => `${project}${sep}${id}`),
  );
}

/** Reads a chat's metadata for a list from the small file next to its store; opens the store only if that says too little. */
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

/** Reads the title that some programs store next to a chat. It saves opening the store for a list. */
function titledMetadata(folder: string): ChatMetadata | undefined {
  const { title, cwd, isSubagent } = metadataFields(folder);
  if (typeof title !== "string" || title === "" || title === "New Agent") return undefined;
  const workspace = typeof cwd === "string" ? { workspace: cwd } : {};
  const parent = isSubagent === true ? { parent: "" } : {};
  return { ...ageAtAGlance(folder), id: basename(folder), ...workspace, ...parent, title, mode: "default" };
}

/** Returns the title to show for a chat, which is its first prompt if it has no title. */
export function shownTitle({ title, prompt }: ChatMetadata): string {
  return title === "New Agent" ? (prompt ?? title) : title;
}

export type ChatAge = Pick<ChatMetadata, "folder" | "createdAt" | "updatedAt" | "hasConversation"> & {
  isSubagent?: boolean;
};

/** Returns enough to order chats by age without opening a store, including chats of the original CLI. */
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

/** Returns whether any workspace has a chat with this id. */
export function isTaken(configDir: string, id: string): boolean {
  return projects(configDir)
    .map((project) => join(project, id))
    .some((folder) => isChat(folder) || closedFolder(folder) === folder);
}

/** Returns whether a folder is a chat. Its database is created last, so a folder without one is not. */
export function isChat(folder: string): boolean {
  return existsSync(storeFile(folder));
}

/** Returns the folder that this user may not read: the chat's or its parent; undefined if both are accessible. */
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
