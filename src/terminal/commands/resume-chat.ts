// Resumes a chat or a copy of it in place of the current one, or reopens the current one with other options.
import type { RunRequest } from "../../protocol/run.ts";
import type { Desk } from "../desk.ts";

export async function resumeChat(desk: Desk, id: string | undefined, { fork }: { fork?: true } = {}): Promise<void> {
  const { mode: _mode, ...request } = desk.conversation.request;
  await desk.switchTo({ ...request, chat: { type: "resume", id: id ?? "-1", ...(fork && { fork }) } });
}

/**
 * Reopens the same chat with another request, for options that cannot change while a run is open. Returns false after reporting
 * why it could not.
 */
export async function reopen(desk: Desk, request: RunRequest): Promise<boolean> {
  const { info, turn } = desk.conversation;
  if (request.ephemeral && turn > 0) {
    desk.complain("This needs to reopen the chat, but it is not saved. Start without --no-persist.");
    return false;
  }
  const mode = info.mode === "plan" || info.mode === "ask" ? info.mode : undefined;
  const { mode: _before, force: _force, ...rest } = request;
  const chat: RunRequest["chat"] = turn === 0 ? { type: "new" } : { type: "resume", id: info.chatId ?? "-1" };
  return desk.switchTo(
    { ...rest, chat, ...(mode && { mode }), ...(info.mode === "force" && { force: true }) },
    "quietly",
  );
}
