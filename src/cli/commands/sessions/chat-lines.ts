// Chats in lines, for people: how old, what about, where.
import type { ChatMetadata } from "../../../store/chats/chat.ts";
import { shownTitle } from "../../../store/chats/list-chats.ts";
import { ageOf } from "../../../text/age.ts";
import { collapsed } from "../../../text/one-line.ts";
import { shortPath } from "../../../text/short-path.ts";
import { visible } from "../../../text/visible.ts";
import { cut, padded, widthOf } from "../../../text/width.ts";

export type ChatLines = { header: string; rows: string[] };

/** Longer titles are cut; a prompt can be a page. */
const longestTitle = 60;

export function chatLines(chats: readonly ChatMetadata[], { home, now }: { home: string; now: number }): ChatLines {
  const cells = chats.map((chat) => [
    chat.id,
    ageOf(chat.updatedAt, now),
    cut(printableLine(shownTitle(chat)), longestTitle),
    printableLine(shortPath(chat.workspace ?? "", home)),
  ]);
  const table = [["ID", "AGE", "TITLE", "WORKSPACE"], ...cells];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => widthOf(row[column]!))));
  const [header, ...rows] = table.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return { header: header!, rows };
}

/** What programs are told of a chat. */
export function chatJson(chat: ChatMetadata): object {
  const { id, workspace, createdAt, updatedAt, model, mode, hasConversation } = chat;
  return {
    id,
    title: shownTitle(chat),
    workspace: workspace ?? null,
    createdAt,
    updatedAt,
    model: model ?? null,
    mode,
    hasConversation,
  };
}

/** Nothing in a title or a path may move the cursor. */
export function printableLine(text: string): string {
  return visible(collapsed(text));
}
