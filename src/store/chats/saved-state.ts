// What a chat was left with, for a run that reads it and keeps nothing.
import { hasOwnTables, ownState } from "./history.ts";
import { withStore } from "./read-chat.ts";

/** The values of `ChatWriter.state`, by their keys. Chats of others have none. */
export function readState(folder: string, keys: readonly string[]): Map<string, unknown> {
  return withStore(folder, (store) => {
    if (!hasOwnTables(store)) return new Map();
    return new Map(keys.map((key) => [key, ownState(store, key)]));
  });
}
