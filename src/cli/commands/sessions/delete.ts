// `sessions delete`: deletes chats for good, after a question on a terminal or with --yes in scripts.
import { deleteChats } from "../../../run/delete-chats.ts";
import type { ChatMetadata } from "../../../store/chats/chat.ts";
import { metadataAtAGlance, shownTitle, withSubagents } from "../../../store/chats/list-chats.ts";
import { homeDir } from "../../../store/config-dir.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { askToConfirm } from "../confirm.ts";
import { chatLines, printableLine } from "./chat-lines.ts";
import { contextOf, findChatFolder } from "./context.ts";

export async function deleteSessions(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { flags } = invocation.line;
  // Look up all chats before deleting any, so that a wrong id deletes nothing.
  const ids = words.length === 0 ? [findChatFolder(invocation, words, "delete")] : words;
  const folders = new Set(ids.map((id) => findChatFolder(invocation, [id], "delete")));
  const named = [...folders].map((folder) => metadataAtAGlance(folder));
  const chats = withSubagents(contextOf(invocation).configDir, named);
  const sure = flags.has("force") || (await askFirst(invocation, chats));
  if (!sure) return answer("Nothing was deleted.\n");
  const { configDir } = contextOf(invocation);
  await deleteChats(configDir, chats, (message) => writeStderr(`Warning: ${printableLine(message)}\n`));
  return answer(chats.map((chat) => `✓ Deleted ${chat.id} ${printableLine(shownTitle(chat))}\n`).join(""));
}

function askFirst(invocation: Invocation, chats: readonly ChatMetadata[]): Promise<boolean> {
  const { rows } = chatLines(chats, { home: homeDir(invocation.env), now: Date.now() });
  const question = `Delete ${chats.length === 1 ? "this chat" : `these ${chats.length} chats`}?`;
  const sure = `sessions delete ${chats.map((chat) => chat.id).join(" ")} --yes`;
  return askToConfirm(invocation, question, sure, `${rows.join("\n")}\n`);
}
