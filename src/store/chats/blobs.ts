// Encodes messages as blobs, in the AI SDK's JSON style that readers of such stores know, and decodes them without loss.
import { isObject, tryParse } from "../../json/object.ts";
import type { Message, Part } from "../../protocol/message.ts";

/** Our own data about a message, inside its blob. Other programs that read chats ignore it. */
type BlobMark = {
  /** A running number that makes every blob unique, even if its content repeats. */
  sequence: number;
  /** The number of the message; all blobs of one message have the same. */
  message: number;
  provider?: string;
  /** `query`: the first text is wrapped as a prompt. `reminder`: every text is wrapped as a reminder. */
  wrapped?: "query" | "reminder";
};

type BlobPart = Record<string, unknown> & { type?: unknown };
export type BlobMessage = {
  id?: string;
  role?: unknown;
  content?: unknown;
  providerOptions?: { courser?: BlobMark };
};

export type BlobPosition = {
  message: number;
  firstSequence: number;
  toolName(callId: string): string;
};

/** Writes one blob for each tool result, as the original CLI does, and one for the other parts. */
export function encodeMessage(message: Message, position: BlobPosition): string[] {
  const mark = { message: position.message, ...(message.provider !== undefined && { provider: message.provider }) };
  let sequence = position.firstSequence;
  const blob = (role: string, content: BlobPart[], wrapped?: BlobMark["wrapped"], id?: string) =>
    JSON.stringify({
      ...(id !== undefined && { id }),
      role,
      content,
      providerOptions: { courser: { sequence: sequence++, ...mark, ...(wrapped && { wrapped }) } },
    });
  const encode = (part: Part) => encodePart(part, position);
  if (message.role === "assistant") return [blob("assistant", message.parts.map(encode), undefined, "1")];

  const hasResults = message.parts.some((part) => part.type === "tool_result");
  if (!hasResults) return [wrappedAsQuery(message.parts.map(encode), blob)];
  const blobs: string[] = [];
  let rest: Part[] = [];
  const flush = () => {
    if (rest.length > 0) blobs.push(blob("user", rest.map(encode).map(asReminder), "reminder"));
    rest = [];
  };
  for (const part of message.parts) {
    if (part.type !== "tool_result") {
      rest.push(part);
      continue;
    }
    flush();
    blobs.push(blob("tool", [encode(part)], undefined, part.id));
  }
  flush();
  return blobs;
}

function wrappedAsQuery(
  content: BlobPart[],
  blob: (role: string, content: BlobPart[], wrapped?: BlobMark["wrapped"]) => string,
): string {
  const [first, ...others] = content;
  if (first?.type !== "text") return blob("user", content);
  return blob("user", [{ ...first, text: asQuery(String(first["text"])) }, ...others], "query");
}

/** Wraps a prompt as the original CLI does. Some readers remove the tags only at the start of the text. */
export function asQuery(text: string): string {
  return wrappings.query.join(text);
}

const wrappings = {
  query: ["<user_query>\n", "\n</user_query>"],
  reminder: ["<system_reminder>\n", "\n</system_reminder>"],
} as const;

function asReminder(part: BlobPart): BlobPart {
  return part.type === "text" ? { ...part, text: wrappings.reminder.join(String(part["text"])) } : part;
}

function encodePart(part: Part, position: BlobPosition): BlobPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "thinking":
      return { type: "reasoning", text: part.text, ...opaqueOf(part) };
    case "image":
      return { type: "image", image: part.base64, mimeType: part.mime };
    case "tool_call":
      return { type: "tool-call", toolCallId: part.id, toolName: part.name, args: part.args, ...opaqueOf(part) };
    case "tool_result":
      return {
        type: "tool-result",
        toolName: position.toolName(part.id),
        toolCallId: part.id,
        result: part.text,
        ...(part.isError && { isError: true }),
        ...(part.images?.length && {
          experimental_content: [
            { type: "text", text: part.text },
            ...part.images.map(({ mime, base64 }) => ({ type: "image", data: base64, mimeType: mime })),
          ],
        }),
      };
  }
}

function opaqueOf(part: { opaque?: unknown }): object {
  return part.opaque === undefined ? {} : { providerOptions: { courser: { opaque: part.opaque } } };
}

/** Parses a message, or returns undefined if the JSON is not a message. */
export function parseBlob(text: string): BlobMessage | undefined {
  const value = tryParse(text);
  return isObject(value) && "role" in value ? value : undefined;
}

/** Returns whether two blobs belong to one message: by Courser's number, or else as consecutive tool results. */
export function belongTogether(before: BlobMessage, next: BlobMessage): boolean {
  const [left, right] = [before.providerOptions?.courser, next.providerOptions?.courser];
  if (left || right) return left?.message === right?.message;
  return before.role === "tool" && next.role === "tool";
}

/** Returns the number of a message that we wrote; 0 for messages of other programs. */
export function messageNumber(blob: BlobMessage): number {
  return blob.providerOptions?.courser?.message ?? 0;
}

/**
 * Decodes the message in these blobs; undefined for content that is not sent to a model again: system prompts and environment
 * information.
 */
export function decodeMessage(blobs: readonly BlobMessage[]): Message | undefined {
  const [first] = blobs;
  if (!first) return undefined;
  const mark = first.providerOptions?.courser;
  if (!mark) return decodeForeign(blobs);
  const parts: Part[] = [];
  for (const blob of blobs) {
    const wrapped = blob.providerOptions?.courser?.wrapped;
    const content = parseBlobParts(blob.content);
    for (let index = 0; index < content.length; index++) {
      const part = decodePart(content[index]!);
      if (!part) continue;
      const isWrapped = part.type === "text" && (wrapped === "reminder" || (wrapped === "query" && index === 0));
      if (isWrapped) part.text = unwrapText(part.text, wrappings[wrapped]);
      parts.push(part);
    }
  }
  const role = first.role === "assistant" ? "assistant" : "user";
  return mark.provider === undefined ? { role, parts } : { role, parts, provider: mark.provider };
}

function unwrapText(text: string, [open, close]: readonly [string, string]): string {
  return text.startsWith(open) && text.endsWith(close) ? text.slice(open.length, -close.length) : text;
}

function decodeForeign(blobs: readonly BlobMessage[]): Message | undefined {
  const role = blobs[0]!.role;
  if (role !== "user" && role !== "assistant" && role !== "tool") return undefined;
  let parts = blobs.flatMap((blob) => parseBlobParts(blob.content).flatMap((part) => decodePart(part) ?? []));
  if (role === "user")
    parts = parts.flatMap((part): Part[] => {
      if (part.type !== "text") return [part];
      const text = withoutWrapping(part.text);
      return text === undefined ? [] : [{ type: "text", text }];
    });
  return parts.length > 0 ? { role: role === "assistant" ? "assistant" : "user", parts } : undefined;
}

/** Returns what the user typed; undefined for text that the original CLI added itself. */
function withoutWrapping(text: string): string | undefined {
  if (/^\s*<(user_info|system_reminder)>/.test(text)) return undefined;
  const bare = text.replace(/^\s*<timestamp>[^<]*<\/timestamp>\s*/, "");
  return /^\s*<user_query>\n?([\s\S]*?)\n?<\/user_query>\s*$/.exec(bare)?.[1] ?? bare;
}

function parseBlobParts(content: unknown): BlobPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter((part) => typeof part === "object" && part !== null) : [];
}

function decodePart(part: BlobPart): Part | undefined {
  const text = (key: string) => (typeof part[key] === "string" ? part[key] : "");
  switch (part.type) {
    case "text":
      return { type: "text", text: text("text") };
    case "reasoning":
      return { type: "thinking", text: text("text"), ...opaqueIn(part) };
    case "image": {
      const base64 = part["image"] ?? part["data"];
      if (typeof base64 !== "string") return undefined;
      return { type: "image", mime: text("mimeType") || text("mediaType"), base64 };
    }
    case "tool-call":
      return {
        type: "tool_call",
        id: text("toolCallId"),
        name: text("toolName"),
        args: "args" in part ? part["args"] : part["input"],
        ...opaqueIn(part),
      };
    case "tool-result":
      return {
        type: "tool_result",
        id: text("toolCallId"),
        text: resultText(part),
        isError: part["isError"] === true,
        ...imagesOf(part),
      };
    default:
      return undefined;
  }
}

function opaqueIn(part: BlobPart): { opaque?: unknown } | undefined {
  if (part["providerOptions"] === undefined) return undefined;
  const { opaque } = (part["providerOptions"] as { courser?: { opaque?: unknown } }).courser ?? {};
  return opaque === undefined ? undefined : { opaque };
}

function resultText(part: BlobPart): string {
  const output = part["output"] as { value?: unknown } | undefined;
  const result = part["result"] ?? output?.value ?? "";
  if (typeof result === "string") return result;
  const texts = parseBlobParts(result).map((each) => each["text"]);
  const areTexts = texts.length > 0 && texts.every((each) => typeof each === "string");
  return areTexts ? texts.join("\n") : JSON.stringify(result);
}

function imagesOf(part: BlobPart): { images: { mime: string; base64: string }[] } | undefined {
  if (!Array.isArray(part["experimental_content"])) return undefined;
  const images = parseBlobParts(part["experimental_content"])
    .filter((each) => each.type === "image" && typeof each["data"] === "string")
    .map((each) => ({ mime: String(each["mimeType"] ?? each["mediaType"] ?? ""), base64: each["data"] as string }));
  return images.length > 0 ? { images } : undefined;
}
