// `sessions prune`: deletes chats that have not been used for a long time. `--dry-run` only lists them.
import { usageError } from "../../../protocol/error-codes.ts";
import { chatsToPrune, dayMs, pruneChats } from "../../../run/prune-chats.ts";
import type { ChatMetadata } from "../../../store/chats/chat.ts";
import { bytesIn } from "../../../store/chats/disk-use.ts";
import { withSubagents } from "../../../store/chats/list-chats.ts";
import { homeDir } from "../../../store/config-dir.ts";
import { byteSize, counted } from "../../../view/numbers.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { askToConfirm } from "../confirm.ts";
import { chatLines, printableLine } from "./chat-lines.ts";
import { contextOf } from "./context.ts";

export async function pruneSessions(invocation: Invocation): Promise<number> {
  const { flags } = invocation.line;
  const { configDir } = contextOf(invocation);
  const olderThanMs = ageIn(invocation);
  const chats = chatsToPrune(configDir, { olderThanMs, keepNamed: flags.has("keep-named") });
  if (chats.length === 0) return answer("No chat is that old.\n");
  const all = withSubagents(configDir, chats);
  const bytes = all.reduce((sum, { folder }) => sum + bytesIn(folder), 0);
  const what = `${counted(chats.length, "chat")}, ${byteSize(bytes)}`;
  if (flags.has("dry-run")) return answer(`${prunedChatTable(chats, invocation)}Would delete ${what}.\n`);
  const sure = `sessions prune --older-than ${flagText(flags, "older-than")} --yes`;
  const isSure =
    flags.has("force") || (await askToConfirm(invocation, `Delete ${what}?`, sure, prunedChatTable(chats, invocation)));
  if (!isSure) return answer("Nothing was deleted.\n");
  const deleted = await pruneChats(configDir, chats, (message) => writeStderr(`Warning: ${printableLine(message)}\n`));
  const gone = chats.filter(({ id }) => deleted.some((each) => each.id === id));
  return answer(`✓ Deleted ${gone.length === chats.length ? what : `${gone.length} of ${what}`}\n`);
}

const units: Record<string, number> = { h: dayMs / 24, d: dayMs, w: 7 * dayMs };

function ageIn({ line, name }: Invocation): number {
  const ageFlag = flagText(line.flags, "older-than");
  const [, count, unit] = /^(\d{1,5})([hdw])$/.exec(ageFlag ?? "") ?? [];
  if (count !== undefined && Number(count) > 0) return Number(count) * units[unit!]!;
  const why = ageFlag === undefined ? "needs --older-than" : `takes an age such as 30d, 12h or 8w, not '${ageFlag}'`;
  throw usageError(`'sessions prune' ${why}: ${name} sessions prune --older-than 30d --dry-run`);
}

function prunedChatTable(chats: readonly ChatMetadata[], { env }: Invocation): string {
  const sizes = chats.map(({ folder }) => bytesIn(folder));
  const { header, rows } = chatLines(chats, { home: homeDir(env), now: Date.now(), sizes });
  return `${[header, ...rows].join("\n")}\n`;
}
