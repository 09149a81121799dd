// UnifiedMessage: a message of any agent CLI, in one shape.

import { isObject } from "../json/object.ts";
import type { Usage } from "../protocol/event.ts";
import { type Message, messageText, type Part } from "../protocol/message.ts";
import type { ChatRecord, StoredMessage } from "../store/chats/chat.ts";
import { ownCallOf, unifiedToolName } from "./tool-names.ts";

const builtInTools = ["cursor", "claude", "codex", "gemini", "opencode", "pi"] as const;

/** The agent CLIs that this package knows by itself. */
export type BuiltInTool = (typeof builtInTools)[number];

/**
 * The CLI that a message comes from: one that this package knows, or the name of one that `defineAgent` was told about. Chats
 * of this package's CLI are `cursor`, as it takes the place of cursor-agent.
 */
export type UnifiedTool = BuiltInTool | (string & {});

export function isBuiltIn(tool: UnifiedTool): tool is BuiltInTool {
  return (builtInTools as readonly string[]).includes(tool);
}

/** A message of any agent CLI, in one shape. */
export interface UnifiedMessage {
  id: string;
  /** Tool results are `user`, as the model receives them; in a live stream they are `system`. */
  role: "user" | "assistant" | "system";
  content: UnifiedContent[];
  /** Milliseconds since 1970. If the source has no time, the nearest known one. */
  timestamp: number;
  tool: UnifiedTool;
  model?: string;
  usage?: UnifiedUsage;
  /** The source's own record, unchanged. */
  _original: unknown;
}

/** Token counts under unified names, along with the vendor's own fields: `input_tokens`, `reasoning_output_tokens`, … */
export type UnifiedUsage = Usage & { readonly [vendorField: string]: unknown };

/** A block of a unified message. */
export type UnifiedContent =
  | UnifiedTextBlock
  | UnifiedThinkingBlock
  | UnifiedToolUseBlock
  | UnifiedToolResultBlock
  | UnifiedImageBlock;

/** A block of text in a unified message. */
export interface UnifiedTextBlock {
  type: "text";
  text: string;
}
/** A block of the model's reasoning. */
export interface UnifiedThinkingBlock {
  type: "thinking";
  thinking: string;
  /** Vendor data that only the same vendor can read. */
  opaque?: unknown;
}
/** A tool call in a unified message. */
export interface UnifiedToolUseBlock {
  type: "tool_use";
  id: string;
  /** The unified tool name: Read, Edit, Bash, …; other tools keep the CLI's own name. */
  name: string;
  /** The input with the CLI's own field names. */
  input: unknown;
  opaque?: unknown;
}
/** The result of a tool call. */
export interface UnifiedToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  /** A list of blocks only if the result has images. */
  content: string | (UnifiedTextBlock | UnifiedImageBlock)[];
  is_error: boolean;
}
/** An image, as base64, in the message format that is the same for every CLI. */
export interface UnifiedImageBlock {
  type: "image";
  source: { type: "base64"; media_type: string; data: string };
}

/** Converts a whole chat to unified messages, in order. The usage of a turn is on its last answer. */
export function unifiedChat(record: ChatRecord): UnifiedMessage[] {
  const { metadata, messages } = record;
  const eventTimes = timesOfEvents(record);
  let timestamp = metadata.createdAt;
  const unified = messages.map((stored) => {
    timestamp = eventTimes.get(stored) ?? stored.at ?? timestamp;
    return unifyMessage(stored.message, { id: `${metadata.id}-${stored.sequence}`, timestamp, model: metadata.model });
  });
  const answers = new Map<number, UnifiedMessage[]>();
  for (const [index, { turn }] of messages.entries()) {
    const message = unified[index]!;
    if (message.role === "assistant") answers.set(turn, [...(answers.get(turn) ?? []), message]);
  }
  for (const { turn, event } of record.events) {
    if (event.type === "init") for (const answer of answers.get(turn) ?? []) answer.model = event.model ?? answer.model;
    const last = answers.get(turn)?.at(-1);
    if (last && (event.type === "done" || event.type === "fail") && event.usage) last.usage = { ...event.usage };
  }
  return unified;
}

/** Returns when each message happened, according to its events: an import may have stored the message much later. */
function timesOfEvents({ events, messages }: ChatRecord): Map<StoredMessage, number> {
  const prompts = new Map<number, StoredMessage>();
  const calls = new Map<string, StoredMessage>();
  const results = new Map<string, StoredMessage>();
  const answers = new Map<string, StoredMessage[]>();
  for (const stored of messages) {
    const { turn, message } = stored;
    if (message.role === "user" && !prompts.has(turn)) prompts.set(turn, stored);
    const text = message.role === "assistant" ? messageText(message) : "";
    if (text !== "") answers.set(`${turn}:${text}`, [...(answers.get(`${turn}:${text}`) ?? []), stored]);
    for (const part of message.parts) {
      if (part.type === "tool_call") calls.set(part.id, stored);
      if (part.type === "tool_result") results.set(part.id, stored);
    }
  }
  const times = new Map<StoredMessage, number>();
  for (const { turn, event } of events) {
    const stored =
      event.type === "user"
        ? prompts.get(turn)
        : event.type === "tool_start"
          ? calls.get(event.callId)
          : event.type === "tool_end"
            ? results.get(event.callId)
            : event.type === "text_end"
              ? answers.get(`${turn}:${event.text}`)?.shift()
              : undefined;
    if (stored && event.at !== undefined && !times.has(stored)) times.set(stored, event.at);
  }
  return times;
}

export function unifyMessage(
  message: Message,
  info: { id: string; timestamp: number; model?: string | undefined },
): UnifiedMessage {
  return {
    id: info.id,
    role: message.role,
    content: message.parts.map(blockOf),
    timestamp: info.timestamp,
    tool: "cursor",
    ...(message.role === "assistant" && info.model !== undefined && { model: info.model }),
    _original: message,
  };
}

function blockOf(part: Part): UnifiedContent {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "thinking":
      return { type: "thinking", thinking: part.text, ...opaqueOf(part) };
    case "image":
      return imageBlock(part);
    case "tool_call":
      return {
        type: "tool_use",
        id: part.id,
        name: unifiedToolName("cursor", part.name),
        input: part.args,
        ...opaqueOf(part),
      };
    case "tool_result":
      return {
        type: "tool_result",
        tool_use_id: part.id,
        content: part.images ? [{ type: "text", text: part.text }, ...part.images.map(imageBlock)] : part.text,
        is_error: part.isError,
      };
  }
}

export function imageBlock(image: { mime: string; base64: string }): UnifiedImageBlock {
  return { type: "image", source: { type: "base64", media_type: image.mime, data: image.base64 } };
}

function opaqueOf(part: { opaque?: unknown }): { opaque?: unknown } {
  return part.opaque === undefined ? {} : { opaque: part.opaque };
}

/**
 * Converts unified messages to the messages Courser's model gets: its tool names, each answer one message, each round of results
 * one message. Of `system` messages only tool results are kept.
 */
export function messagesOf(unified: readonly UnifiedMessage[]): Message[] {
  return groupMessages(unified).map(({ message }) => message);
}

/** Like `messagesOf`, but with the sources of each message. */
export function groupMessages(unified: readonly UnifiedMessage[]): { message: Message; from: UnifiedMessage[] }[] {
  const groups: { message: Message; from: UnifiedMessage[] }[] = [];
  for (const each of unified) {
    const parts = each.content.map((block) => partOf(block, each.tool));
    const kept = each.role === "system" ? parts.filter(isResult) : parts;
    if (kept.length === 0) continue;
    const message: Message = { role: each.role === "assistant" ? "assistant" : "user", parts: kept };
    const provider = isObject(each._original) ? each._original.provider : undefined;
    if (each.tool === "cursor" && typeof provider === "string") message.provider = provider;

    const last = groups.at(-1);
    if (last && belongsTo(last.message, message)) {
      last.message.parts.push(...message.parts);
      last.from.push(each);
    } else {
      groups.push({ message, from: [each] });
    }
  }
  return groups;
}

/** Returns whether two messages of the source are pieces of one answer, or results of the same round of calls. */
function belongsTo(last: Message, next: Message): boolean {
  if (next.role === "assistant") return last.role === "assistant";
  return last.parts.every(isResult) && next.parts.every(isResult);
}

function isResult(part: Part): boolean {
  return part.type === "tool_result";
}

function partOf(block: UnifiedContent, tool: UnifiedTool): Part {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", text: block.thinking, ...opaqueOf(block) };
    case "image":
      return { type: "image", ...pictureOf(block) };
    case "tool_use": {
      const { name, args } = ownCallOf(block, tool);
      return { type: "tool_call", id: block.id, name, args, ...opaqueOf(block) };
    }
    case "tool_result": {
      const { content } = block;
      const images = typeof content === "string" ? [] : content.filter((each) => each.type === "image").map(pictureOf);
      return {
        type: "tool_result",
        id: block.tool_use_id,
        text: textOf(block),
        isError: block.is_error,
        ...(images.length > 0 && { images }),
      };
    }
  }
}

function pictureOf({ source }: UnifiedImageBlock): { mime: string; base64: string } {
  return { mime: source.media_type, base64: source.data };
}

/** The text of a result or of a message, without thinking, tool calls and results. */
export function textOf({ content }: { content: string | readonly UnifiedContent[] }): string {
  if (typeof content === "string") return content;
  return content.map((each) => (each.type === "text" ? each.text : "")).join("");
}
