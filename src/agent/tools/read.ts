// Read: returns a text file or a part of it, an image, or the text of a PDF or notebook.
import type { FileHandle } from "node:fs/promises";
import * as v from "valibot";
import { imageKind, largestImage } from "../../protocol/image.ts";
import { absolutePath, describe, errorCode, type OpenFile, openFile } from "../files.ts";
import { decodeText, encodingOf, singleByteNote, singleByteText, startsAsText, startsAsUtf8 } from "../text-file.ts";
import { pathArgument, pathSpellings, tool } from "./define.ts";
import { failure, type ToolContext, ToolFailure, type ToolResult } from "./tool.ts";

const defaultLines = 2000;
const maxDecodedBytes = 32 * 1024 * 1024;

const positive = v.pipe(v.number(), v.integer(), v.minValue(1));

export const read = tool({
  name: "Read",
  wire: "read",
  aliases: ["read_file"],
  description: `Read a text file, image, PDF or notebook. Returns up to ${defaultLines} lines; continue with offset.`,
  readOnly: true,
  args: v.object({
    path: pathArgument(),
    offset: v.optional(v.pipe(positive, v.description("First line, from 1"))),
    limit: v.optional(v.pipe(positive, v.description("Lines"))),
  }),
  spellings: pathSpellings,
  wireArgs: (args, context) => ({ ...args, path: absolutePath(args.path, context) }),
  needs: (args, context) => [{ kind: "Read", target: absolutePath(args.path, context) }],
  async run(args, context) {
    const result = await readFile(args, context);
    // The rules for a file are sent to the model elsewhere. These empty lists are for programs that expect the fields
    // in the stream.
    const value = { ...(result.outcome.value as object), relatedCursorRulePaths: [], relatedCursorRules: [] };
    return { ...result, outcome: { kind: "success", value } };
  },
});

type ReadArgs = { path: string; offset?: number | undefined; limit?: number | undefined };

async function readFile(args: ReadArgs, context: ToolContext): Promise<ToolResult> {
  const path = absolutePath(args.path, context);
  const file = await openFile(path, context).catch((error) => {
    throw errorCode(error) === "ENOENT" ? notFound(path) : describe(error, path, "read");
  });
  try {
    const start = await readAt(file.handle, 0, 8192);
    const mime = imageKind(start);
    if (mime) return await imageResult(file, mime, path);
    const wanted = { first: args.offset ?? 1, most: args.limit ?? defaultLines, characters: context.resultLimit };
    const document = await documentText(file, start, path, context);
    if (document) {
      const part = { ...selectLines(document.text, wanted), note: document.note };
      return textResult({ part, wanted, limit: args.limit, path, size: file.stat.size }, context);
    }
    if (!startsAsText(start, file.stat.size)) {
      throw failure(
        `${path} is a binary file (${file.stat.size} bytes): Read shows text and images. Look at it with Shell, for example: file, strings or xxd.`,
        { path },
      );
    }
    const open = await context.buffers?.read(file.real);
    if (open !== undefined) {
      const size = Buffer.byteLength(open);
      return textResult({ part: selectLines(open, wanted), wanted, limit: args.limit, path, size }, context);
    }
    const part =
      encodingOf(start) === "utf8" ? await readLines(file, wanted, context) : await decodeLines(file, wanted, path);
    return textResult({ part, wanted, limit: args.limit, path, size: file.stat.size }, context);
  } finally {
    await file.handle.close();
  }
}

type LineWindow = { first: number; most: number; characters: number };

/** A part of a file: `text` contains the requested lines, or only their beginning when `isCut`. */
type FilePart = { text: string; totalLines: number; isCut: boolean; note?: string };

function notFound(path: string): ToolFailure {
  return new ToolFailure(
    "error",
    { errorMessage: "File not found", message: "File not found", path },
    `File not found: ${path}. Find it with Glob or LS.`,
  );
}

type ReadPart = { part: FilePart; wanted: LineWindow; limit: number | undefined; path: string; size: number };

function textResult(readPart: ReadPart, { numbersLines }: ToolContext): ToolResult {
  const { part, wanted, limit, path, size } = readPart;
  const { totalLines } = part;
  if (wanted.first > totalLines) {
    throw failure(`offset ${wanted.first} is past the end of ${path}: it has ${totalLines} lines.`, { path });
  }
  const { text: content, isLineCut } = part.isCut ? wholeLines(part.text) : { text: part.text, isLineCut: false };
  const endLine = wanted.first + lineFeeds(content);
  const exceededLimit = part.isCut || (limit === undefined && endLine < totalLines);
  const value = {
    content,
    isEmpty: size === 0 || (totalLines === 1 && content === ""),
    exceededLimit,
    totalLines,
    fileSize: size,
    path,
    readRange: { startLine: wanted.first, endLine },
  };
  // Without line numbers, text can be copied into an edit unchanged and costs fewer tokens.
  const numberedText = numbersLines
    ? content
        .split("\n")
        .map((line, index) => `${wanted.first + index}|${line}`)
        .join("\n")
    : content;
  const note = part.note === undefined ? "" : `\n\n${part.note}`;
  return { outcome: { kind: "success", value }, text: textForModel(numberedText) + note };

  function textForModel(content: string): string {
    if (value.isEmpty) return "(The file is empty.)";
    const readOn = endLine < totalLines ? ` Continue with offset ${endLine + 1}.` : "";
    if (isLineCut) {
      const range = `${value.content.length + 1}-${value.content.length * 2}`;
      return `${content}\n\n[Line ${endLine} of ${totalLines} is too long for one result; this is its start. For more of it use Shell: sed -n ${endLine}p FILE | cut -c ${range}.${readOn}]`;
    }
    if (wanted.first === 1 && endLine === totalLines) return content;
    return `${content}\n\n[Lines ${wanted.first}-${endLine} of ${totalLines}.${readOn}]`;
  }
}

/** Removes an incomplete last line, unless it is the only line. */
function wholeLines(text: string): { text: string; isLineCut: boolean } {
  const end = text.lastIndexOf("\n");
  return end === -1 ? { text, isLineCut: true } : { text: text.slice(0, end), isLineCut: false };
}

/** Reads the requested lines of a file and counts all of its lines, in one pass. */
async function readLines(file: OpenFile, wanted: LineWindow, context: ToolContext): Promise<FilePart> {
  const last = wanted.first + wanted.most - 1;
  // The limit counts UTF-16 units, each of which takes at most three bytes of UTF-8.
  const maxBytes = wanted.characters * 3 + 4;
  const buffer = Buffer.allocUnsafe(256 * 1024);
  const chunks: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  for (let position = 0; ; ) {
    if (context.signal.aborted) throw failure("The read was cancelled.");
    const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    for (let from = 0; from < bytesRead; ) {
      const feed = chunk.indexOf(10, from);
      const end = feed === -1 ? bytesRead : feed + 1;
      if (line >= wanted.first && line <= last && keptBytes <= maxBytes) {
        const piece = Buffer.from(chunk.subarray(from, Math.min(end, from + maxBytes + 1)));
        chunks.push(piece);
        keptBytes += piece.length;
      }
      if (feed !== -1) line += 1;
      from = end;
    }
    // If the file grows while it is read, stop at the size it had when it was opened.
    if (file.stat.size > 0 && position >= file.stat.size) break;
  }
  // The line feed after the last wanted line separates it from the next one.
  const bytes = Buffer.concat(chunks);
  const isSeparator = line > last && keptBytes <= maxBytes && bytes.at(-1) === 10;
  const { text, note } = decodeFile(isSeparator ? bytes.subarray(0, -1) : bytes, keptBytes > maxBytes);
  return { ...fitText(text, wanted.characters, keptBytes > maxBytes), totalLines: line, ...(note && { note }) };
}

/** Decodes the bytes. If `isCut`, the last character may be incomplete. */
function decodeFile(bytes: Buffer, isCut: boolean): { text: string; note?: string } {
  const size = isCut ? bytes.length + 1 : bytes.length;
  const isOther = !startsAsUtf8(bytes, size) && startsAsText(bytes, size);
  if (isOther) return { text: singleByteText(bytes).text, note: singleByteNote };
  return { text: new TextDecoder().decode(bytes, { stream: isCut }) };
}

/** Extracts the text of a PDF or notebook. Returns undefined for all other files. */
async function documentText(
  file: OpenFile,
  start: Buffer,
  path: string,
  { signal, resultLimit }: ToolContext,
): Promise<{ text: string; note: string } | undefined> {
  const isPdf = start.subarray(0, 5).toString("latin1") === "%PDF-";
  if ((!isPdf && !/\.ipynb$/i.test(path)) || file.stat.size > maxDecodedBytes) return undefined;
  const bytes = await file.handle.readFile();
  if (!isPdf) {
    const text = (await import("./notebook.ts")).notebookText(bytes.toString("utf8"));
    return text === undefined ? undefined : { text, note: notebookNote };
  }
  try {
    const { pdfToText } = await import("../../web/pdf.ts");
    const { text, isCut } = await pdfToText(bytes, { signal, maxCharacters: Math.max(resultLimit, 1_000_000) });
    return {
      text: text || "(It has no text: its pages are pictures.)",
      note: `[The text of a PDF${isCut ? ", its first pages" : ""}.]`,
    };
  } catch (error) {
    throw failure(`${path} is a PDF that cannot be read: ${(error as Error).message}`, { path });
  }
}

const notebookNote = "[The cells of a notebook. Its file is JSON: Edit and Grep work on that, not on this text.]";

/** Reads UTF-16 text, whose lines can be counted only after decoding. */
async function decodeLines(file: OpenFile, wanted: LineWindow, path: string): Promise<FilePart> {
  if (file.stat.size > maxDecodedBytes) {
    throw failure(`${path} is UTF-16 text of ${file.stat.size} bytes: too large. Convert it with Shell: iconv.`, {
      path,
    });
  }
  return selectLines(decodeText(await file.handle.readFile())!.text, wanted);
}

function selectLines(whole: string, wanted: LineWindow): FilePart {
  const lines = whole.split("\n");
  const text = lines.slice(wanted.first - 1, wanted.first - 1 + wanted.most).join("\n");
  return { ...fitText(text, wanted.characters, false), totalLines: lines.length };
}

function fitText(text: string, characters: number, isCut: boolean): { text: string; isCut: boolean } {
  if (text.length <= characters) return { text, isCut };
  // Do not split a character that takes two UTF-16 units.
  const end = /[\uD800-\uDBFF]/.test(text[characters - 1]!) ? characters - 1 : characters;
  return { text: text.slice(0, end), isCut: true };
}

async function imageResult(file: OpenFile, mime: string, path: string): Promise<ToolResult> {
  const { size } = file.stat;
  if (size > largestImage) {
    throw failure(
      `${path} is an image of ${size} bytes: at most ${largestImage} can be shown. Make it smaller first.`,
      { path },
    );
  }
  const content = `[${mime}, ${size} bytes]`;
  const value = {
    content,
    isEmpty: false,
    exceededLimit: false,
    totalLines: 1,
    fileSize: size,
    path,
    readRange: { startLine: 1, endLine: 1 },
  };
  const base64 = (await readAt(file.handle, 0, size)).toString("base64");
  return { outcome: { kind: "success", value }, text: `${path}: ${content}`, images: [{ mime, base64 }] };
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function lineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
