// A chat as JSON: its facts, its turns, and its messages in the shape that is the same for every agent CLI.

import { type UnifiedContent, type UnifiedMessage, unifiedChat } from "../sdk/unified.ts";
import type { ChatRecord } from "../store/chats/chat.ts";

/** What a vendor alone can read, and what only repeats the message, stays out. */
export type ExportedMessage = Omit<UnifiedMessage, "_original">;

export function* jsonExport(record: ChatRecord): Generator<string> {
  const { metadata, turns, problems } = record;
  const { folder: _folder, ...session } = metadata;
  const start = JSON.stringify({ session, turns, problems }, null, 2);
  yield `${start.slice(0, -2)},\n  "messages": [`;
  let separator = "\n";
  for (const message of unifiedChat(record)) {
    const text = JSON.stringify(exported(message), null, 2).replaceAll("\n", "\n    ");
    yield `${separator}    ${text}`;
    separator = ",\n";
  }
  yield "\n  ]\n}\n";
}

function exported({ _original, ...message }: UnifiedMessage): ExportedMessage {
  return { ...message, content: message.content.map(withoutOpaque) };
}

function withoutOpaque(block: UnifiedContent): UnifiedContent {
  if (!("opaque" in block)) return block;
  const { opaque: _, ...rest } = block;
  return rest;
}
