// Deletes chats for good, with those of their subagents, and what was kept of files for them alone.
import type { ChatMetadata } from "../store/chats/chat.ts";
import { deleteChat } from "../store/chats/delete-chat.ts";
import { listChats } from "../store/chats/list-chats.ts";

/** What its subagents did goes with a chat. */
export function withSubagents(configDir: string, chats: readonly ChatMetadata[]): ChatMetadata[] {
  const all = new Map(chats.map((chat) => [chat.id, chat]));
  for (const { id, workspace } of all.values()) {
    for (const child of listChats(configDir, { parent: id, ...(workspace !== undefined && { workspace }) }))
      all.set(child.id, child);
  }
  return [...all.values()];
}

export async function deleteChats(
  configDir: string,
  chats: readonly ChatMetadata[],
  warn: (message: string) => void,
): Promise<void> {
  for (const chat of chats) deleteChat(configDir, chat.folder);
  await sweepDeleted(configDir, chats, warn);
}

/** Removes what was kept of files for chats that are gone. */
export async function sweepDeleted(
  configDir: string,
  chats: readonly ChatMetadata[],
  warn: (message: string) => void,
): Promise<void> {
  const { sweepSnapshots } = await import("../agent/snapshots/sweep.ts");
  for (const workspace of new Set(chats.flatMap((chat) => chat.workspace ?? []))) {
    const deleted = chats.filter((chat) => chat.workspace === workspace).map((chat) => chat.id);
    try {
      await sweepSnapshots({ configDir, workspace }, { deleted });
    } catch (error) {
      warn(`snapshots of ${workspace} were left: ${(error as Error).message}`);
    }
  }
}
