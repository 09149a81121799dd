// Renders chats as lines for people: age, title, workspace.
import type { ChatMetadata } from "../../../store/chats/chat.ts";
import { isDamagedAtAGlance } from "../../../store/chats/damage.ts";
import { shownTitle } from "../../../store/chats/list-chats.ts";
import { ageOf } from "../../../text/age.ts";
import { collapsed } from "../../../text/one-line.ts";
import { shortPath } from "../../../text/short-path.ts";
import { visible } from "../../../text/visible.ts";
import { cut } from "../../../text/width.ts";
import { byteSize } from "../../../view/numbers.ts";
import { tableLines } from "../../table.ts";

export type ChatLines = { header: string; rows: string[] };

/** The maximum length of a title in the list: a title is a prompt, which can be a page long. */
const longestTitle = 60;

/** `sizes` contains the size of each chat in bytes, if sizes are to be shown. */
type LineOptions = { home: string; now: number; sizes?: readonly number[] | undefined };

export function chatLines(chats: readonly ChatMetadata[], { home, now, sizes }: LineOptions): ChatLines {
  const cells = chats.map((chat, index) => [
    chat.id,
    ageOf(chat.updatedAt, now),
    ...(sizes ? [byteSize(sizes[index]!)] : []),
    `${isDamagedAtAGlance(chat.folder) ? "(damaged) " : ""}${cut(printableLine(shownTitle(chat)), longestTitle)}`,
    printableLine(shortPath(chat.workspace ?? "", home)),
  ]);
  const [header, ...rows] = tableLines([["ID", "AGE", ...(sizes ? ["SIZE"] : []), "TITLE", "WORKSPACE"], ...cells]);
  return { header: header!, rows };
}

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
    ...(isDamagedAtAGlance(chat.folder) && { damaged: true }),
  };
}

/** Escapes control characters, so that a title or path cannot move the cursor. */
export function printableLine(text: string): string {
  return visible(collapsed(text));
}
