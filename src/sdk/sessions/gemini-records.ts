// Converts Gemini CLI's messages to unified messages. A call includes its own result, which often appears a second time.

import { isObject, type JsonObject, objectsIn, textIn } from "../../json/object.ts";
import type { Usage } from "../../protocol/event.ts";
import { unifiedToolName } from "../tool-names.ts";
import {
  imageBlock,
  type UnifiedContent,
  type UnifiedImageBlock,
  type UnifiedMessage,
  type UnifiedToolResultBlock,
} from "../unified.ts";
import { countAt, type Losses, parseTimestamp, pictureKinds } from "./session.ts";

export type MessageRecord = JsonObject & { id: string };

export function isSpoken({ type }: MessageRecord): boolean {
  return type === "user" || type === "gemini";
}

export function geminiMessages(records: readonly MessageRecord[], losses: Losses): UnifiedMessage[] {
  const messages: UnifiedMessage[] = [];
  /** Calls that already have their result. Later answers reuse ids. */
  const answered = new Set<string>();
  let afterNote = false;
  for (const record of records) {
    const timestamp = parseTimestamp(record.timestamp) ?? messages.at(-1)?.timestamp ?? 0;
    const common = { id: record.id, timestamp, tool: "gemini" as const, _original: record };
    const isNote: boolean =
      record.type === "user" ? noteIn(contentText(record.content)) : afterNote && isThanks(record);
    afterNote = isNote;
    if (record.type === "user") {
      const text = contentText(record.content).trimStart();
      if (isNote) losses.add("context");
      else if (/^[/?]\w*(\s|$)/.test(text)) losses.add("command");
      else addText(common, "user", userBlocks(record, answered, losses));
    } else if (record.type === "gemini") {
      if (isNote) continue;
      const { content, results } = parseAnswer(record, losses);
      for (const block of content) if (block.type === "tool_use") answered.delete(block.id);
      const usage = parseTokens(record.tokens);
      const model = textIn(record, "model");
      addText({ ...common, ...(model && { model }), ...(usage && { usage }) }, "assistant", content);
      for (const result of results) answered.add(result.tool_use_id);
      addText({ ...common, id: `${record.id}-results`, timestamp: resultTime(record) ?? timestamp }, "user", results);
    } else {
      losses.add(/^(info|error|warning)$/.test(String(record.type)) ? "notice" : "unknown");
    }
  }
  return messages;

  function addText(
    common: Omit<UnifiedMessage, "role" | "content">,
    role: UnifiedMessage["role"],
    content: UnifiedContent[],
  ): void {
    if (content.length > 0) messages.push({ ...common, role, content });
  }
}

/** Returns whether a text is what the CLI tells the model before the first prompt. */
function noteIn(text: string): boolean {
  return /^\s*(<(session_context|hook_context)>|This is the Gemini CLI\b)/.test(text);
}

/** Returns whether a record is the model's acknowledgement of the initial context, which older versions contain. */
function isThanks(record: MessageRecord): boolean {
  return contentText(record.content).startsWith("Got it. Thanks for the context");
}

function contentParts(content: unknown): JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  const list = Array.isArray(content) ? content : [content];
  return list.map((part) => (typeof part === "string" ? { text: part } : part)).filter(isObject);
}

function contentText(content: unknown): string {
  return contentParts(content)
    .map((part) => textIn(part, "text") ?? "")
    .join("");
}

function userBlocks(record: MessageRecord, answered: Set<string>, losses: Losses): UnifiedContent[] {
  const blocks: UnifiedContent[] = [];
  /** The result that images belong to; null if that result was already known. */
  let result: UnifiedToolResultBlock | null | undefined;
  for (const part of contentParts(record.content)) {
    if (isObject(part.functionResponse)) {
      const id = String(part.functionResponse.id);
      result = answered.has(id) ? null : resultBlock(id, part.functionResponse);
      answered.add(id);
      if (result) blocks.push(result);
    } else if (typeof part.text === "string") {
      if (part.text !== "") blocks.push({ type: "text", text: part.text });
    } else {
      const picture = pictureIn(part);
      if (result && picture) addPicture(result, picture);
      else if (picture && result === undefined) blocks.push(picture);
      else if (!picture) losses.add("attachment");
    }
  }
  return blocks;
}

type AnswerRecord = { content: UnifiedContent[]; results: UnifiedToolResultBlock[] };

function parseAnswer(record: MessageRecord, losses: Losses): AnswerRecord {
  const content: UnifiedContent[] = [];
  const results: UnifiedToolResultBlock[] = [];
  const thoughts = objectsIn(record.thoughts);
  for (const thought of thoughts) {
    const subject = textIn(thought, "subject") ?? "";
    const thinking = [subject && `**${subject}**`, textIn(thought, "description")].filter(Boolean).join("\n");
    if (thinking !== "") content.push({ type: "thinking", thinking });
  }
  const calls = objectsIn(record.toolCalls);
  for (const part of contentParts(record.content)) {
    if (typeof part.text === "string") {
      if (part.thought !== true) content.push({ type: "text", text: part.text });
      else if (thoughts.length === 0) content.push({ type: "thinking", thinking: part.text });
    } else if (isObject(part.functionCall)) {
      if (calls.length === 0) content.push(callBlock(part.functionCall));
    } else {
      losses.add("attachment");
    }
  }
  for (const call of calls) {
    content.push(callBlock(call));
    const result = resultOfCall(call, losses);
    if (result) results.push(result);
  }
  return { content: content.filter((block) => block.type !== "text" || block.text !== ""), results };
}

function callBlock(call: JsonObject): UnifiedContent {
  const name = String(call.name);
  return {
    type: "tool_use",
    id: String(call.id ?? name),
    name: unifiedToolName("gemini", name),
    input: call.args ?? {},
  };
}

function resultOfCall(call: JsonObject, losses: Losses): UnifiedToolResultBlock | undefined {
  if (call.result === undefined || call.result === null) return undefined;
  const id = String(call.id ?? call.name);
  const failed = call.status === "error" || call.status === "cancelled";
  let result: UnifiedToolResultBlock | undefined;
  for (const part of contentParts(call.result)) {
    if (isObject(part.functionResponse)) {
      // The list may contain results of neighbouring calls; skip those.
      if (part.functionResponse.id !== undefined && String(part.functionResponse.id) !== id) continue;
      result = resultBlock(id, part.functionResponse);
    } else if (typeof part.text === "string") {
      result ??= { type: "tool_result", tool_use_id: id, content: part.text, is_error: false };
    } else {
      const picture = pictureIn(part);
      result ??= { type: "tool_result", tool_use_id: id, content: "", is_error: false };
      if (picture) addPicture(result, picture);
      else losses.add("attachment");
    }
  }
  if (result && failed) result.is_error = true;
  return result;
}

function resultBlock(id: string, { name, response }: JsonObject): UnifiedToolResultBlock {
  const responseObject = isObject(response) ? response : { output: response };
  const error = textIn(responseObject, "error");
  const text =
    error ?? textIn(responseObject, "output") ?? JSON.stringify(responseObject.output ?? responseObject) ?? "";
  const isShell = unifiedToolName("gemini", String(name)) === "Bash";
  const printed = isShell ? shellOutput(text) : { text, failed: false };
  return {
    type: "tool_result",
    tool_use_id: id,
    content: printed.text,
    is_error: error !== undefined || printed.failed,
  };
}

/** Extracts the output of a command from its wrapper and the notes below it. */
function shellOutput(text: string): { text: string; failed: boolean } {
  const inside = /^<untrusted_context>\n?([\s\S]*?)\n?<\/untrusted_context>\s*$/.exec(text)?.[1] ?? text;
  const [, printed = "", notes = ""] =
    /^(?:[\s\S]*\n)?(?:Output|Stdout): ([\s\S]*?)((?:\n(?:Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID): .*)*)$/.exec(
      inside,
    ) ?? [undefined, inside, ""];
  const exit = /^Exit Code: (-?\d+)$/m.exec(notes)?.[1];
  const failed = exit !== undefined && exit !== "0";
  const outputText = printed === "(empty)" ? "" : printed;
  return { text: failed ? `${outputText}\n[exit code ${exit}]` : outputText, failed };
}

function pictureIn(part: JsonObject): UnifiedImageBlock | undefined {
  const mime = textIn(part.inlineData, "mimeType");
  const base64 = textIn(part.inlineData, "data");
  return mime && base64 && pictureKinds.has(mime) ? imageBlock({ mime, base64 }) : undefined;
}

function addPicture(result: UnifiedToolResultBlock, picture: UnifiedImageBlock): void {
  const { content } = result;
  result.content = [...(typeof content === "string" ? [{ type: "text" as const, text: content }] : content), picture];
}

function resultTime(record: MessageRecord): number | undefined {
  const calls = Array.isArray(record.toolCalls) ? record.toolCalls : [];
  return parseTimestamp(isObject(calls.at(-1)) ? calls.at(-1).timestamp : undefined);
}

function parseTokens(tokens: unknown): Usage | undefined {
  if (!isObject(tokens)) return undefined;
  const cacheReadTokens = countAt(tokens, "cached");
  return {
    inputTokens: Math.max(0, countAt(tokens, "input") + countAt(tokens, "tool") - cacheReadTokens),
    outputTokens: countAt(tokens, "output") + countAt(tokens, "thoughts"),
    cacheReadTokens,
    cacheWriteTokens: 0,
  };
}
