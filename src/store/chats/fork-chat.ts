// Copies a chat into a new one, whole or up to a turn. The source is only read, since another run may be using it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { programName } from "../../text/program-name.ts";
import { closeDatabaseHandle, storeError } from "../sqlite.ts";
import { syncFolder } from "../sync.ts";
import { copyStore } from "./carry-chat.ts";
import type { ChatMetadata, ChatWriter } from "./chat.ts";
import { withAttached } from "./connection.ts";
import { notWhole } from "./damage.ts";
import { deleteChat } from "./delete-chat.ts";
import { hasOwnTables, readMeta, setOwnState } from "./history.ts";
import { isChatId } from "./layout.ts";
import { createChat, openChat } from "./open-chat.ts";
import { lockNewChat, placeStore } from "./place-store.ts";
import { randomUuid } from "./random-uuid.ts";
import { readChat } from "./read-chat.ts";
import { writeMetadata } from "./transcript-files.ts";
import { metaText } from "./writer.ts";
import { lockHolder } from "./writer-lock.ts";

export type ForkOptions = {
  /** The id of the copy; by default a new one. */
  id?: string | undefined;
  /** The number of the last turn that is copied. */
  upToTurn?: number | undefined;
  /** Called with a message about what was not copied, because the chat is incomplete. */
  onLoss?: (message: string) => void;
};

/** Copies a chat to a new one. If its last turn is incomplete, only the complete turns are copied. */
export function forkChat(configDir: string, folder: string, { id, upToTurn, onLoss }: ForkOptions = {}): ChatMetadata {
  const record = readChat(folder, { events: false });
  const turns = record.turns.length;
  if (upToTurn !== undefined && (upToTurn < 1 || upToTurn > turns)) {
    const there = turns === 0 ? "it has no turns" : turns === 1 ? "it has one turn" : `its turns are 1 to ${turns}`;
    throw usageError(`The chat ${record.metadata.id} has no turn ${upToTurn}: ${there}.`);
  }
  const newId = id?.toLowerCase() ?? randomUuid();
  const copy = join(dirname(folder), newId);
  if (!isChatId(newId)) throw usageError(`'${id}' is not a UUID, so it cannot be the id of a chat.`);
  const wanted = upToTurn ?? turns;
  const last = Math.min(wanted, record.problems.length > 0 ? record.wholeTurns : turns);
  if (wanted > 0 && last === 0) throw notWhole(folder, record.problems, 0);
  // A copy belongs to the user, even if the source is a subagent's chat.
  const { parent: _parent, ...own } = record.metadata;
  const metadata = { ...own, id: newId, folder: copy, createdAt: Date.now() };
  try {
    const chat = record.problems.length > 0 ? replay(configDir, metadata) : openCopy(folder, metadata);
    try {
      if (record.problems.length > 0)
        for (const { turn, message } of record.messages) if (turn <= last) chat.append(message);
      if (chat.turn > last) chat.rewindTo(last + 1);
      keepSnapshots(configDir, folder, newId);
      chat.close();
    } catch (error) {
      // Remove only what this process created, never a chat that another process created with the same id.
      chat.close();
      deleteChat(configDir, copy);
      throw error;
    }
    if (last < wanted) {
      const problemText = record.problems.map((problem) => problem.message).join(" ");
      onLoss?.(`The chat ${record.metadata.id} is incomplete; ${last} of ${wanted} turns were copied. ${problemText}`);
    }
    return chat.metadata;
  } catch (error) {
    throw storeError(error, copy);
  }
}

/** Copies the whole store in its current state, including the compacted conversation, the todo list and the mode. */
function openCopy(folder: string, metadata: ChatMetadata): ChatWriter {
  const lock = lockNewChat(metadata.folder);
  try {
    const placed = placeStore(metadata.folder, "copied", (file) => {
      copyStore(folder, file);
      makeOwn(file, metadata);
    });
    if (!placed.kept) closeDatabaseHandle(placed.handle);
    writeMetadata(metadata);
    return openChat(metadata.folder, {}, { lock });
  } catch (error) {
    lock.releaseAndRemoveFolder();
    throw error;
  }
}

/** Gives the copied store its own id, before the chat becomes visible to others. */
function makeOwn(file: string, metadata: ChatMetadata): void {
  withAttached(file, (store) => {
    const meta = readMeta(store);
    store.exec("BEGIN");
    store
      .statement("UPDATE meta SET value = ? WHERE key = '0'")
      .run(metaText(meta, metadata, meta.latestRootBlobId ?? ""));
    // Mark it like an interrupted run, so that opening it rewrites the transcript.
    if (hasOwnTables(store)) {
      store.statement("DELETE FROM courser_state WHERE key = '.parent'").run();
      setOwnState(store, ".writer", lockHolder());
    }
    store.exec("COMMIT; PRAGMA chat.journal_mode = WAL");
  });
}

/** Creates an empty chat, into which the messages of a damaged one are then copied without the damage. */
function replay(configDir: string, metadata: ChatMetadata): ChatWriter {
  if (metadata.workspace === undefined)
    throw new UserError(
      "STORE_CORRUPT",
      `The chat is incomplete, and its workspace is not known, so it cannot be copied. Save what is left: ${programName()} sessions export`,
    );
  const { id, mode, model, title } = metadata;
  return createChat({ configDir, workspace: metadata.workspace }, { id, mode, title, ...(model && { model }) });
}

/** Registers the snapshots for the copy as well, so that it can be rewound. */
function keepSnapshots(configDir: string, folder: string, id: string): void {
  const lists = join(configDir, "courser", "snapshots", basename(dirname(folder)), "chats");
  if (!existsSync(join(lists, basename(folder)))) return;
  writeFileSync(join(lists, id), readFileSync(join(lists, basename(folder))), { mode: 0o600, flush: true });
  syncFolder(lists);
}
