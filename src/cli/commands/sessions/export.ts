// Writes a chat as Markdown, JSON, stream-json or HTML: to stdout, or to a file that is whole or not there.
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UserError } from "../../../protocol/error-codes.ts";
import { type ExportFormat, exporters } from "../../../sdk/export/index.ts";
import { readChat } from "../../../store/chats/reading.ts";
import { printable } from "../../call-line.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { chatOf } from "./place.ts";

/** What of a damaged chat can be read is written, and what is wrong with it is said. */
export async function exportSession(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { flags } = invocation.line;
  const folder = chatOf(invocation, words, "export");
  const format = (flagText(flags, "format") ?? "markdown") as ExportFormat;
  const target = flagText(flags, "output");
  const exporter = await exporters[format]();
  const record = readChat(folder, { events: true });
  for (const { message } of record.problems) writeStderr(`Warning: ${printable(message)}\n`);
  if (target === undefined || target === "-") return answer([...exporter(record)].join(""));
  writeWhole(resolve(target), exporter(record));
  return 0;
}

function writeWhole(path: string, pieces: Iterable<string>): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory())
    throw new UserError("USAGE", `${path} is a directory. Give the name of a file: --output ${path}/chat.html`);
  if (!existsSync(dirname(path)))
    throw new UserError("STORE_IO", `There is no folder ${dirname(path)}. Make it first: mkdir -p ${dirname(path)}`);
  // A pipe or a device is written to, never replaced by a file of its name; and a link stays a link.
  const isStream = stat !== undefined && !stat.isFile();
  const target = stat?.isFile() ? realpathSync(path) : path;
  const beside = isStream ? path : `${target}.${process.pid}.part`;
  try {
    // A conversation is nobody else's business until its owner says so.
    const file = openSync(beside, "w", 0o600);
    try {
      for (const piece of pieces) writeAll(file, Buffer.from(piece));
    } finally {
      closeSync(file);
    }
    if (!isStream) renameSync(beside, target);
  } catch (error) {
    if (!isStream) rmSync(beside, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UserError(code === "ENOSPC" ? "STORE_FULL" : "STORE_IO", `${path} cannot be written: ${message}.`);
  }
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
