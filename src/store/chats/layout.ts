// Paths of a chat: its folder, its store, its transcript.
import { basename, join, resolve, sep } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { projectDir } from "../project.ts";
import { md5 } from "./md5.ts";

const chatId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether a text is a valid chat id. Only a valid id may become part of a path. */
export function isChatId(text: string): boolean {
  return chatId.test(text);
}

export function chatsDir(configDir: string): string {
  return join(configDir, "chats");
}

/** Returns the name of the folder that holds a workspace's chats. `workspace` is its real path, without a trailing slash. */
export function projectId(workspace: string): string {
  return md5(workspace);
}

export function chatFolder(configDir: string, workspace: string, id: string): string {
  if (!isChatId(id))
    throw new UserError("SESSION_NOT_FOUND", `Session not found: ${JSON.stringify(id)} is not a chat id.`);
  return join(chatsDir(configDir), projectId(workspace), id);
}

/** Returns the id of the chat in a folder, and its configuration directory. */
export function chatIdentity(folder: string): { id: string; configDir: string } {
  return { id: basename(folder), configDir: resolve(folder, "../../..") };
}

/** Returns the path of a chat's store. Concatenated, since for thousands of chats `join` is slower than the disk. */
export function storeFile(folder: string): string {
  return `${folder}${sep}store.db`;
}

/** A small file next to the store, with the facts that lists show. */
export function metadataFile(folder: string): string {
  return `${folder}${sep}meta.json`;
}

/** The conversation as lines of JSON, for hooks and programs that list chats. That of a subagent is below its parent's. */
export function transcriptFile(configDir: string, workspace: string, id: string, parent?: string): string {
  const all = join(projectDir(configDir, workspace), "agent-transcripts");
  return parent !== undefined && isChatId(parent)
    ? join(all, parent, "subagents", `${id}.jsonl`)
    : join(all, id, `${id}.jsonl`);
}
