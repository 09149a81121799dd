// Finds the folders for commands about chats, without loading settings, model or trust.
import { usageError } from "../../../protocol/error-codes.ts";
import { realDirectory } from "../../../run/real-directory.ts";
import { findChat } from "../../../store/chats/find-chat.ts";
import { configDir } from "../../../store/config-dir.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";

export type SessionsContext = { configDir: string; workspace: string };

export function contextOf({ env, line }: Invocation): SessionsContext {
  return {
    configDir: configDir(env),
    workspace: realDirectory(flagText(line.flags, "workspace") ?? ".", "--workspace"),
  };
}

/** Returns the folder of the one chat that the command names. */
export function findChatFolder(invocation: Invocation, words: readonly string[], command: string): string {
  const [id, second] = words;
  if (id === undefined || second !== undefined) {
    const why = id === undefined ? "needs the id of a chat" : `takes one id, not ${words.length} words`;
    throw usageError(
      `'sessions ${command}' ${why}: ${invocation.name} sessions ${command} <id>. To list the chats: ${invocation.name} ls`,
    );
  }
  const context = contextOf(invocation);
  return findChat(context.configDir, id, context.workspace, invocation.name);
}
