// Goes on with a chat, or with a copy of it, in the place of the one on the screen.
import type { Desk } from "../desk.ts";

export function resumeChat(desk: Desk, id: string | undefined, { fork }: { fork?: true } = {}): Promise<void> {
  const { mode: _mode, ...request } = desk.conversation.request;
  return desk.switchTo({ ...request, chat: { type: "resume", id: id ?? "-1", ...(fork && { fork }) } });
}
