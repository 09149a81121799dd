// `sessions export`: writes a chat as Markdown, JSON, stream-json, HTML, ATIF or a recording, to stdout or atomically to a file.
import { resolve } from "node:path";
import { exporters } from "../../../export/index.ts";
import { readWhatIsLeft } from "../../../store/chats/read-chat.ts";
import { visible } from "../../../text/visible.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { writeWhole } from "../../whole-file.ts";
import { answer } from "../answer.ts";
import { findChatFolder } from "./context.ts";

/** The exporters, plus the recording format, which only tests of an agent need. */
const formats = {
  ...exporters,
  recording: async () => (await import("../../../testing/from-chat.ts")).recordingExport,
};

/** Writes what can be read of a damaged chat, and warns about the rest. */
export async function exportSession(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { flags } = invocation.line;
  const folder = findChatFolder(invocation, words, "export");
  const format = (flagText(flags, "format") ?? "markdown") as keyof typeof formats;
  const target = flagText(flags, "output");
  const exporter = await formats[format]();
  const record = readWhatIsLeft(folder, { events: true });
  for (const { message } of record.problems) writeStderr(`Warning: ${visible(message)}\n`);
  if (target === undefined || target === "-") return answer([...exporter(record)].join(""));
  writeWhole(resolve(target), exporter(record));
  return 0;
}
