// `sessions rename`: changes the title of a chat.
import { usageError } from "../../../protocol/error-codes.ts";
import { openChat } from "../../../store/chats/open-chat.ts";
import { collapsed } from "../../../text/one-line.ts";
import type { Invocation } from "../../main.ts";
import { answer } from "../answer.ts";
import { printableLine } from "./chat-lines.ts";
import { findChatFolder } from "./context.ts";

export async function renameSession(invocation: Invocation, words: readonly string[]): Promise<number> {
  const [id, ...rest] = words;
  const title = collapsed(rest.join(" "));
  if (title === "") {
    throw usageError(`'sessions rename' needs an id and a title: ${invocation.name} sessions rename <id> <title…>`);
  }
  const chat = openChat(findChatFolder(invocation, [id!], "rename"));
  try {
    chat.rename(title);
  } finally {
    chat.close();
  }
  return answer(`✓ ${chat.metadata.id} is now called ${printableLine(title)}\n`);
}
