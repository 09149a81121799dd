// Deletes chats permanently, with those of their subagents and the file snapshots that only they used.
import type { ChatMetadata } from "../store/chats/chat.ts";
import { deleteChat } from "../store/chats/delete-chat.ts";

export async function deleteChats(
  configDir: string,
  chats: readonly ChatMetadata[],
  warn: (message: string) => void,
): Promise<void> {
  for (const chat of chats) deleteChat(configDir, chat.folder);
  await sweepDeleted(configDir, chats, warn);
}

/** Removes the file snapshots of deleted chats. */
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
