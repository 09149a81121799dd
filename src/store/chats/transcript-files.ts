// Writes the files next to a store for other programs: metadata for lists, a transcript, the log that names the workspace. A
// failure here never fails a run, unless the disk is full.
import { closeSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fieldsOf } from "../../json/object.ts";
import type { Message } from "../../protocol/message.ts";
import { tryOr } from "../../text/try-or.ts";
import { projectDir } from "../project.ts";
import { storeError } from "../sqlite.ts";
import { asQuery } from "./blobs.ts";
import type { ChatMetadata, StoredMessage } from "./chat.ts";
import { metadataFile, transcriptFile } from "./layout.ts";
import { makeFolder, openPrivate, writePrivate } from "./private-files.ts";

const schemaVersion = 1;

/** The content of meta.json; `courser` contains additional fields for our lists. */
type MetadataFields = {
  createdAtMs?: number;
  updatedAtMs?: number;
  hasConversation?: boolean;
  title?: string;
  cwd?: string;
  isSubagent?: boolean;
  courser?: { title?: string; mode?: string; model?: string; prompt?: string; parent?: string };
};

export function writeMetadata(metadata: ChatMetadata): void {
  const isNamed = metadata.title !== "New Agent";
  const title = isNamed ? metadata.title : metadata.prompt;
  const text = JSON.stringify({
    schemaVersion,
    createdAtMs: metadata.createdAt,
    hasConversation: metadata.hasConversation,
    updatedAtMs: metadata.updatedAt,
    ...(metadata.workspace !== undefined && { cwd: metadata.workspace }),
    ...(title !== undefined && { title }),
    ...(metadata.parent !== undefined && { isSubagent: true }),
    courser: {
      title: metadata.title,
      mode: metadata.mode,
      model: metadata.model,
      prompt: metadata.prompt,
      parent: metadata.parent,
    },
  });
  const file = metadataFile(metadata.folder);
  ignoreErrors(file, () => replace(file, text));
}

/** Created once: given the encoding as a string, Node creates such an object for every file. */
const asText = { encoding: "utf8", flag: "r" } as const;

/** Reads the metadata file next to a store, whichever program wrote it. */
export function metadataFields(folder: string): MetadataFields {
  return fieldsOf(tryOr(() => JSON.parse(readFileSync(metadataFile(folder), asText)), undefined));
}

/** Returns the metadata of a chat written by Courser; undefined if it is missing or of another program. */
export function readMetadataFile(folder: string): ChatMetadata | undefined {
  const { createdAtMs, updatedAtMs, hasConversation, cwd, courser } = metadataFields(folder);
  if (!courser || createdAtMs === undefined || updatedAtMs === undefined) return undefined;
  return {
    id: basename(folder),
    folder,
    ...(cwd !== undefined && { workspace: cwd }),
    title: courser.title ?? "New Agent",
    mode: courser.mode ?? "default",
    createdAt: createdAtMs,
    updatedAt: updatedAtMs,
    ...(courser.model !== undefined && { model: courser.model }),
    ...(courser.prompt !== undefined && { prompt: courser.prompt }),
    hasConversation: hasConversation === true,
    ...(courser.parent !== undefined && { parent: courser.parent }),
  };
}

export interface TranscriptFile {
  add(message: Message, at: number): void;
  endTurn(status: string): void;
  /** Rewrites the whole file, after a rewind or an interrupted run. `endings` maps turn numbers to how they ended. */
  rewrite(messages: readonly StoredMessage[], endings: ReadonlyMap<number, string>): void;
  close(): void;
}

export function openTranscript(configDir: string, { workspace, id, parent }: ChatMetadata): TranscriptFile {
  if (workspace === undefined) return { add() {}, endTurn() {}, rewrite() {}, close() {} };
  const file = transcriptFile(configDir, workspace, id, parent);
  let handle: number | undefined;
  let isUsable = true;
  const guarded = (work: () => void) => {
    if (isUsable && !ignoreErrors(file, work)) isUsable = false;
  };
  const makePlace = () => {
    makeFolder(dirname(file));
    nameWorkspace(projectDir(configDir, workspace), workspace);
  };
  const writeLine = (line: object) => {
    if (handle === undefined) {
      makePlace();
      handle = openPrivate(file, "a");
    }
    writeSync(handle, `${JSON.stringify(line)}\n`);
  };
  const close = () => {
    if (handle !== undefined) closeSync(handle);
    handle = undefined;
  };
  return {
    add(message, at) {
      const line = transcriptLine(message, at);
      if (line) guarded(() => writeLine(line));
    },
    endTurn: (status) => guarded(() => writeLine({ type: "turn_ended", status })),
    rewrite: (messages, endings) =>
      guarded(() => {
        close();
        makePlace();
        replace(file, transcriptText(messages, endings));
      }),
    close: () => guarded(close),
  };
}

function transcriptText(messages: readonly StoredMessage[], endings: ReadonlyMap<number, string>): string {
  const lines: object[] = [];
  for (const [index, { message, turn, at = 0 }] of messages.entries()) {
    const line = transcriptLine(message, at);
    if (line) lines.push(line);
    const status = messages[index + 1]?.turn === turn ? undefined : endings.get(turn);
    if (status !== undefined) lines.push({ type: "turn_ended", status });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Formats a message as a line of the transcript, which contains no tool results or thinking. */
function transcriptLine(message: Message, at: number): object | undefined {
  const isQuery = message.role === "user" && !message.parts.some((part) => part.type === "tool_result");
  if (message.role === "user" && !isQuery) return undefined;
  const content = message.parts.flatMap((part, index): object[] => {
    if (part.type === "text")
      return [{ type: "text", text: isQuery && index === 0 ? withTime(asQuery(part.text), at) : part.text }];
    if (part.type === "tool_call") return [{ type: "tool_use", name: part.name, input: part.args }];
    return [];
  });
  return content.length > 0 ? { role: message.role, message: { content } } : undefined;
}

function withTime(text: string, at: number): string {
  return `<timestamp>${new Date(at).toISOString()}</timestamp>\n${text}`;
}

/** Records the workspace of a project, where programs that list chats look for it. */
function nameWorkspace(folder: string, workspace: string): void {
  const file = join(folder, "worker.log");
  const line = `workspacePath=${workspace}\n`;
  const text = tryOr(() => readFileSync(file, "utf8"), "");
  if (!text.includes(line)) writePrivate(file, "a", line);
}

/** Replaces a file atomically. It is not synced to disk, since it can be rebuilt from the store. */
function replace(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writePrivate(temporary, "wx", text);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function ignoreErrors(file: string, work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    const failure = storeError(error, file);
    if (failure.code === "STORE_FULL") throw failure;
    return false;
  }
}
