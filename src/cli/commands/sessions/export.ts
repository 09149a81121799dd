// Writes a chat as Markdown, JSON, stream-json, HTML, ATIF or a recording: to stdout, or to a file that is whole or not there.
import { resolve } from "node:path";
import { exporters } from "../../../export/index.ts";
import { readWhatIsLeft } from "../../../store/chats/read-chat.ts";
import { visible } from "../../../text/visible.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { writeWhole } from "../../whole-file.ts";
import { answer } from "../answer.ts";
import { chatOf } from "./context.ts";

/** With what only the tests of an agent need. */
const formats = {
  ...exporters,
  recording: async () => (await import("../../../testing/from-chat.ts")).recordingExport,
};

/** What of a damaged chat can be read is written, and what is wrong with it is said. */
export async function exportSession(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { flags } = invocation.line;
  const folder = chatOf(invocation, words, "export");
  const format = (flagText(flags, "format") ?? "markdown") as keyof typeof formats;
  const target = flagText(flags, "output");
  const exporter = await formats[format]();
  const record = readWhatIsLeft(folder, { events: true });
  for (const { message } of record.problems) writeStderr(`Warning: ${visible(message)}\n`);
  if (target === undefined || target === "-") return answer([...exporter(record)].join(""));
  writeWhole(resolve(target), exporter(record));
  return 0;
}
