// Carries a chat to another machine: its whole store as one file, which another workspace can go on with.
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

/** The store as it is at this moment, in one file that only its owner can read. Another process may be writing to it. */
export function copyStore(folder: string, file: string): void {
  withStore(folder, (store) => {
    // Into an empty file, so that nobody else may read it. This may be tried twice.
    writeFileSync(file, "", { mode: 0o600 });
    store.rollBack();
    store.exec(`VACUUM chat INTO ${quoted(file)}`);
  });
}

export type TakenChat = {
  /** The chat in the folder is at this point or later, and was left as it is. */
  isKept: boolean;
  /** Where a different state of the chat is kept, which was in the folder. */
  aside?: string;
};

/** A store that came from elsewhere becomes the chat `id` of this workspace. What it was left in the middle of is marked when it is opened. */
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
      lock.freeFolder();
    }
  } catch (error) {
    throw storeError(error, folder);
  }
}
