// Copies a chat into a new one. Prints the new id and nothing else, as create-chat does.
import { UserError } from "../../../protocol/error-codes.ts";
import { forkChat } from "../../../store/chats/fork-chat.ts";
import { printable } from "../../call-line.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { chatOf, contextOf } from "./context.ts";

export async function forkSession(invocation: Invocation, words: readonly string[]): Promise<number> {
  const at = flagText(invocation.line.flags, "at");
  if (at !== undefined && !/^[1-9]\d{0,8}$/.test(at))
    throw new UserError("USAGE", `--at '${at}' is not a turn number. Example: --at 3`);
  const folder = chatOf(invocation, words, "fork");
  const { configDir } = contextOf(invocation);
  const fork = forkChat(configDir, folder, {
    ...(at !== undefined && { upToTurn: Number(at) }),
    onLoss: (message) => writeStderr(`Warning: ${printable(message)}\n`),
  });
  return answer(`${fork.id}\n`);
}
