// Collects the pictures of a session, which its events do not have: those of prompts, and those that calls returned.
import type { Message } from "../protocol/message.ts";
import { splitTurns } from "../sdk/rebuild-events.ts";
import { loadSession } from "../sdk/sessions/library.ts";
import { groupMessages, type UnifiedTool } from "../sdk/unified.ts";
import { findChat } from "../store/chats/find-chat.ts";
import { readChat } from "../store/chats/read-chat.ts";
import { configDir } from "../store/config-dir.ts";

/** `callId` is undefined for the pictures of the turn's prompt. */
export type SessionPictures = { turn: number; callId?: string; pictures: { mime: string; base64: string }[] };

/** The maximum number of characters of pictures in a reply; the oldest ones are omitted. */
const most = 16 * 1024 * 1024;

/** Returns the pictures of a session, newest first. */
export async function sessionPictures(env: NodeJS.ProcessEnv, tool: UnifiedTool, id: string) {
  const found: SessionPictures[] = [];
  let length = 0;
  for (const { turn, message } of (await messagesOf(env, tool, id)).toReversed())
    for (const { pictures, ...whose } of picturesIn(message)) {
      length += pictures.reduce((sum, { base64 }) => sum + base64.length, 0);
      if (length > most) return found;
      found.push({ turn, ...whose, pictures });
    }
  return found;
}

async function messagesOf(env: NodeJS.ProcessEnv, tool: UnifiedTool, id: string) {
  if (tool === "cursor") return readChat(findChat(configDir(env), id, "")).messages;
  const { messages } = await loadSession({ tool, sessionId: id, env });
  return splitTurns(groupMessages(messages)).flatMap((group, index) =>
    group.map(({ message }) => ({ turn: index + 1, message })),
  );
}

function picturesIn({ role, parts }: Message): Omit<SessionPictures, "turn">[] {
  if (role !== "user") return [];
  const images = parts.flatMap((part) => (part.type === "image" ? [{ mime: part.mime, base64: part.base64 }] : []));
  const results = parts.flatMap((part) =>
    part.type === "tool_result" && part.images ? [{ callId: part.id, pictures: part.images }] : [],
  );
  return [...results, ...(images.length > 0 ? [{ pictures: images }] : [])];
}
