// Reads chats in store.db, of Courser and of cursor-agent, as sessions of unified messages.
import { basename, dirname, join, resolve } from "node:path";
import { readMetadata, readWhatIsLeft } from "../../store/chats/read-chat.ts";
import { configDir } from "../../store/config-dir.ts";
import { unifiedChat } from "../unified.ts";
import { filesBelow } from "./lines.ts";
import type { Loss, ReadSession, SessionReader } from "./session.ts";

export const cursorReader: SessionReader = {
  tool: "cursor",
  folder: (env) => join(configDir(env), "chats"),
  list: (folder) => filesBelow(folder, (path) => basename(path) === "store.db", 2),
  // A chat is a database, so no JSON line can identify it.
  recognises: () => false,
  workspaceOf: (path) => readMetadata(chatFolderOf(path)).workspace,
  read,
};

/** Reads a chat. `path` is the database or its folder. */
function read(path: string): ReadSession {
  const folder = chatFolderOf(path);
  const record = readWhatIsLeft(folder, { events: true });
  const { metadata } = record;
  const losses = record.problems.map(
    ({ message, blobs }): Loss => ({ kind: "bad_line", count: blobs?.length ?? 1, message }),
  );
  return {
    tool: "cursor",
    id: metadata.id,
    path: folder,
    title: metadata.title,
    ...(metadata.workspace !== undefined && { workspace: metadata.workspace }),
    ...(metadata.model !== undefined && { model: metadata.model }),
    createdAt: metadata.createdAt,
    updatedAt: metadata.updatedAt,
    messages: unifiedChat(record),
    losses,
  };
}

function chatFolderOf(path: string): string {
  return basename(path) === "store.db" ? dirname(resolve(path)) : resolve(path);
}
