// Deletes chats that were not used for a long time: on request, or automatically if a setting asks for it.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../protocol/error-codes.ts";
import type { ChatMetadata } from "../store/chats/chat.ts";
import { deleteChat } from "../store/chats/delete-chat.ts";
import { bytesIn } from "../store/chats/disk-use.ts";
import { chatsDir } from "../store/chats/layout.ts";
import { listChats, withSubagents } from "../store/chats/list-chats.ts";
import { programName } from "../text/program-name.ts";
import { sweepDeleted } from "./delete-chats.ts";

export const dayMs = 24 * 60 * 60 * 1000;

/** Which chats to delete; `keepNamed` keeps those that have a title. */
export type PruneOptions = { olderThanMs: number; keepNamed: boolean };

/** Returns the chats to delete, newest first. A chat's age is that of its last message. */
export function chatsToPrune(configDir: string, { olderThanMs, keepNamed }: PruneOptions): ChatMetadata[] {
  const before = Date.now() - olderThanMs;
  return listChats(configDir, { onUnreadable: () => {} }).filter(
    ({ updatedAt, title }) => updatedAt < before && !(keepNamed && title !== "New Agent"),
  );
}

/** Returns the deleted chats, including those of subagents. A chat in use by a run is kept. */
export async function pruneChats(
  configDir: string,
  chats: readonly ChatMetadata[],
  warn: (message: string) => void,
): Promise<ChatMetadata[]> {
  const deleted: ChatMetadata[] = [];
  for (const chat of withSubagents(configDir, chats)) {
    try {
      deleteChat(configDir, chat.folder);
      deleted.push(chat);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      warn(error.message);
    }
  }
  await sweepDeleted(configDir, deleted, warn);
  return deleted;
}

/** The size of all chats, in bytes, above which the user is notified. */
const muchBytes = 1_000_000_000;

/** Runs at most once a day. With `days`, deletes older unnamed chats. Otherwise `notice` is called once when the chats take much space. */
export async function pruneDaily(
  configDir: string,
  { days, notice }: { days: number | undefined; notice: ((message: string) => void) | undefined },
): Promise<void> {
  const note = join(configDir, "courser", days === undefined ? "chats-measured" : "chats-pruned");
  const last = statSync(note, { throwIfNoEntry: false });
  // A marker file that is not empty means that the user was already informed.
  if (last && (last.size > 0 || Date.now() - last.mtimeMs < dayMs)) return;
  mkdirSync(join(configDir, "courser"), { recursive: true, mode: 0o700 });
  writeFileSync(note, "", { mode: 0o600 });
  if (days !== undefined) {
    await pruneChats(configDir, chatsToPrune(configDir, { olderThanMs: days * dayMs, keepNamed: true }), () => {});
    return;
  }
  const bytes = bytesIn(chatsDir(configDir));
  if (bytes < muchBytes) return;
  writeFileSync(note, `${bytes}\n`);
  const command = `${programName()} sessions prune --older-than 30d --keep-named --dry-run`;
  notice?.(
    `The chats take ${(bytes / muchBytes).toFixed(1)} GB. To see which could be deleted: ${command}. "pruneAfterDays" in courser.json deletes them by itself.`,
  );
}
