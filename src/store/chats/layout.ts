// Where a chat lies: its folder, its store, its transcript.
import { basename, join, resolve, sep } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { projectDir } from "../project.ts";
import { md5 } from "./md5.ts";

const chatId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Only such names ever become part of a path. */
export function isChatId(text: string): boolean {
  return chatId.test(text);
}

export function chatsDir(configDir: string): string {
  return join(configDir, "chats");
}

/** The name of the folder that holds a workspace's chats. `workspace`: its real path, without a slash at the end. */
export function projectId(workspace: string): string {
  return md5(workspace);
}

export function chatFolder(configDir: string, workspace: string, id: string): string {
  if (!isChatId(id))
    throw new UserError("SESSION_NOT_FOUND", `Session not found: ${JSON.stringify(id)} is not a chat id.`);
  return join(chatsDir(configDir), projectId(workspace), id);
}

/** The id of the chat in a folder, and the configuration directory that it belongs to. */
export function chatIdentity(folder: string): { id: string; configDir: string } {
  return { id: basename(folder), configDir: resolve(folder, "../../..") };
}

/** Put together by hand, as the next: for thousands of chats `join` takes longer than the disk. */
export function storeFile(folder: string): string {
  return `${folder}${sep}store.db`;
}

/** Facts for listings, beside the store. */
export function metadataFile(folder: string): string {
  return `${folder}${sep}meta.json`;
}

/** The conversation as lines of JSON, for hooks and for programs that list chats. Of a subagent below that of its parent. */
export function transcriptFile(configDir: string, workspace: string, id: string, parent?: string): string {
  const all = join(projectDir(configDir, workspace), "agent-transcripts");
  return parent !== undefined && isChatId(parent)
    ? join(all, parent, "subagents", `${id}.jsonl`)
    : join(all, id, `${id}.jsonl`);
}
