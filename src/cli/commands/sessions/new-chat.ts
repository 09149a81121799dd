// Creates a chat, empty or as a copy of another, and prints only its id, for programs that need it before they send a prompt.
import { usageError } from "../../../protocol/error-codes.ts";
import { forkChat } from "../../../store/chats/fork-chat.ts";
import { createChat } from "../../../store/chats/open-chat.ts";
import { randomUuid } from "../../../store/chats/random-uuid.ts";
import { visible } from "../../../text/visible.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { contextOf, findChatFolder } from "./context.ts";

export async function createEmptyChat(invocation: Invocation): Promise<number> {
  const { flags } = invocation.line;
  const id = randomUuid();
  const mode = flags.has("force") || flags.has("yolo") ? "auto-run" : "default";
  createChat(contextOf(invocation), { id, mode }).close();
  return answer(`${id}\n`);
}

export async function forkSession(invocation: Invocation, words: readonly string[]): Promise<number> {
  const at = flagText(invocation.line.flags, "at");
  if (at !== undefined && !/^[1-9]\d{0,8}$/.test(at))
    throw usageError(`--at '${at}' is not a turn number. Example: --at 3`);
  const folder = findChatFolder(invocation, words, "fork");
  const { configDir } = contextOf(invocation);
  const fork = forkChat(configDir, folder, {
    ...(at !== undefined && { upToTurn: Number(at) }),
    onLoss: (message) => writeStderr(`Warning: ${visible(message)}\n`),
  });
  return answer(`${fork.id}\n`);
}
