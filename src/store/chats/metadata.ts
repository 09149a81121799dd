// Reads the metadata of a chat from its store: id, folder, title, times.

import { isPrompt, type Message } from "../../protocol/message.ts";
import { decodeMessage, parseBlob } from "./blobs.ts";
import type { ChatMetadata } from "./chat.ts";
import type { StoreConnection } from "./connection.ts";
import { hasOwnTables, ownState, type StoreMeta } from "./history.ts";
import { chatIdentity } from "./layout.ts";
import { metadataFields } from "./transcript-files.ts";

/** The number of blobs searched for the first prompt: the original CLI puts environment information before it. */
const maxBlobs = 8;
const longestPrompt = 200;

export function metadataOf(store: StoreConnection, folder: string, meta: StoreMeta, changedAt = 0): ChatMetadata {
  const isOurs = hasOwnTables(store);
  const { cwd } = metadataFields(folder); // read the workspace from the field that other programs write
  const workspace = (isOurs ? ownState(store, ".workspace") : undefined) ?? cwd;
  const parent = isOurs ? ownState(store, ".parent") : undefined;
  const prompt = firstPrompt(store);
  const createdAt = meta.createdAt ?? changedAt;
  const written = isOurs ? lastWritten(store) : changedAt;
  return {
    id: chatIdentity(folder).id,
    folder,
    ...(typeof workspace === "string" && { workspace }),
    title: meta.name || "New Agent",
    mode: meta.mode ?? "default",
    createdAt,
    updatedAt: Math.max(createdAt, written),
    ...(meta.lastUsedModel !== undefined && { model: meta.lastUsedModel }),
    ...(prompt !== undefined && { prompt }),
    hasConversation: prompt !== undefined,
    ...(typeof parent === "string" && { parent }),
  };
}

export function firstText(message: Message): string {
  return message.parts.find((part) => part.type === "text")?.text ?? "";
}

/** Returns the first line of a prompt, shortened for lists. */
export function firstLine(prompt: string): string {
  const [line = ""] = prompt.trim().split(/\r?\n/, 1);
  // Do not split a character that takes two UTF-16 units.
  return line.slice(0, longestPrompt).replace(/[\ud800-\udbff]$/, "");
}

function firstPrompt(store: StoreConnection): string | undefined {
  const rows = store
    .statement(
      "SELECT CAST(data AS TEXT) AS text FROM blobs WHERE hex(substr(data, 1, 1)) = '7B' ORDER BY rowid LIMIT ?",
    )
    .all(maxBlobs);
  for (const row of rows) {
    const blob = parseBlob(String(row["text"]));
    const message = blob && decodeMessage([blob]);
    if (message && isPrompt(message) && message.parts.some((part) => part.type === "text"))
      return firstLine(firstText(message));
  }
  return undefined;
}

function lastWritten(store: StoreConnection): number {
  const times = ["events", "messages"].map((table) => {
    const row = store.statement(`SELECT at FROM courser_${table} ORDER BY sequence DESC LIMIT 1`).get();
    return Number(row?.["at"] ?? 0);
  });
  return Math.max(...times);
}
