// Carries a chat to another machine: its whole store as one file, which another workspace can go on with.
import { chmodSync, copyFileSync, renameSync, writeFileSync } from "node:fs";
import { UserError } from "../../protocol/error-codes.ts";
import { storeError } from "../sqlite.ts";
import type { ChatMetadata } from "./chat.ts";
import { openStore } from "./connection.ts";
import { hasOwnTables, readMeta, setOwnState } from "./history.ts";
import { chatFolder, storeFile } from "./layout.ts";
import { metadataOf } from "./metadata.ts";
import type { ChatPaths } from "./open-chat.ts";
import { makeFolder } from "./private-files.ts";
import { withStore } from "./read-chat.ts";
import { quoted } from "./tables.ts";
import { writeMetadata } from "./transcript-files.ts";

/** The store as it is at this moment, in one file that only its owner can read. Another process may be writing to it. */
export function copyStore(folder: string, file: string): void {
  withStore(folder, (store) => {
    // Into an empty file, so that nobody else may read it. This may be tried twice.
    writeFileSync(file, "", { mode: 0o600 });
    store.rollBack();
    store.exec(`VACUUM chat INTO ${quoted(file)}`);
  });
}

/** A store that came from elsewhere becomes the chat `id` of this workspace. What it was left in the middle of is marked when it is opened. */
export function takeStore(file: string, paths: ChatPaths, id: string): ChatMetadata {
  const folder = chatFolder(paths.configDir, paths.workspace, id);
  const part = `${storeFile(folder)}.${process.pid}.new`;
  try {
    makeFolder(folder);
    copyFileSync(file, part);
    chmodSync(part, 0o600);
    const store = openStore(part, "write");
    try {
      if (!hasOwnTables(store)) throw new UserError("STORE_CORRUPT", `What was kept of the chat ${id} is not a chat.`);
      setOwnState(store, ".workspace", paths.workspace);
      store.exec("PRAGMA chat.journal_mode = WAL");
      writeMetadata(metadataOf(store, folder, readMeta(store)));
    } finally {
      store.close();
    }
    renameSync(part, storeFile(folder));
    return withStore(folder, (copy) => metadataOf(copy, folder, readMeta(copy)));
  } catch (error) {
    throw storeError(error, folder);
  }
}
