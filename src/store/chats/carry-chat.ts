// Carries a chat to another machine: copies its whole store to one file, and takes such a file into another workspace.
import { readFileSync, writeFileSync } from "node:fs";
import { closeDatabaseHandle, storeError } from "../sqlite.ts";
import { withAttached } from "./connection.ts";
import { hasOwnTables, readMeta, setOwnState } from "./history.ts";
import { chatFolder } from "./layout.ts";
import { metadataOf } from "./metadata.ts";
import type { ChatPaths } from "./open-chat.ts";
import { placeStore } from "./place-store.ts";
import { quoted } from "./tables.ts";
import { writeMetadata } from "./transcript-files.ts";
import { withStore } from "./with-store.ts";
import { takeWriterLock } from "./writer-lock.ts";

/** Copies the store's current state to one file that only its owner can read. Another process may be writing to the store. */
export function copyStore(folder: string, file: string): void {
  withStore(folder, (store) => {
    // Create the file empty first, to set its mode. withStore may call this twice.
    writeFileSync(file, "", { mode: 0o600 });
    store.rollBack();
    store.exec(`VACUUM chat INTO ${quoted(file)}`);
  });
}

export type TakenChat = {
  /** The existing chat is at this point or later, and was left unchanged. */
  isKept: boolean;
  /** The path of the different state that was in the folder before. */
  aside?: string;
};

/** Installs a store as the chat `id` of this workspace. Interrupted work in it is marked on opening. */
export function takeStore(file: string, paths: ChatPaths, id: string): TakenChat {
  const folder = chatFolder(paths.configDir, paths.workspace, id);
  try {
    const lock = takeWriterLock(folder, { makeFolder: true });
    try {
      const placed = placeStore(folder, "carried", (part) => {
        writeFileSync(part, readFileSync(file));
        withAttached(part, (store) => {
          if (hasOwnTables(store)) setOwnState(store, ".workspace", paths.workspace);
          store.exec("PRAGMA chat.journal_mode = WAL");
        });
      });
      if (placed.kept) return { isKept: true };
      closeDatabaseHandle(placed.handle);
      writeMetadata(withStore(folder, (store) => metadataOf(store, folder, readMeta(store))));
      return { isKept: false, ...(placed.aside !== undefined && { aside: placed.aside }) };
    } finally {
      lock.releaseAndRemoveFolder();
    }
  } catch (error) {
    throw storeError(error, folder);
  }
}
