// An empty chat, for programs that want to know its id before they send a prompt. Prints the id and nothing else.

import { createChat } from "../../store/chats/open-chat.ts";
import { randomUuid } from "../../store/chats/random-uuid.ts";
import type { Invocation } from "../main.ts";
import { answer } from "./answer.ts";
import { contextOf } from "./sessions/context.ts";

export async function createEmptyChat(invocation: Invocation): Promise<number> {
  const { flags } = invocation.line;
  const id = randomUuid();
  const mode = flags.has("force") || flags.has("yolo") ? "auto-run" : "default";
  createChat(contextOf(invocation), { id, mode }).close();
  return answer(`${id}\n`);
}
