// Our messages as the AI SDK's prompt. Whatever a session holds, the result is one that vendors accept.
import type {
  LanguageModelV3FilePart,
  LanguageModelV3Prompt,
  LanguageModelV3TextPart,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import type { Message, Part, ToolResultPart } from "../protocol/message.ts";
import type { ModelRequest } from "./provider.ts";
import type { Vendor } from "./vendors/vendor.ts";

/** Who made an opaque part; nobody else gets to see it. */
export type Opaque = { from: string; metadata?: SharedV3ProviderOptions };

type UserContent = (LanguageModelV3TextPart | LanguageModelV3FilePart)[];
type AssistantContent = Extract<LanguageModelV3Prompt[number], { role: "assistant" }>["content"];

export function toPrompt(request: ModelRequest, vendor: Vendor): LanguageModelV3Prompt {
  const prompt: LanguageModelV3Prompt = [];
  if (request.system) prompt.push({ role: "system", content: request.system });
  let open = new Map<string, string>();
  for (const group of groups(request.messages)) {
    if (group.role === "assistant") {
      answer(prompt, open, [], vendor);
      open = new Map();
      const content = assistantContent(group.parts, open, vendor);
      if (content.length > 0) prompt.push({ role: "assistant", content });
      continue;
    }
    const pictures = answer(prompt, open, group.parts, vendor);
    open = new Map();
    const content = [...pictures, ...userContent(group.parts)];
    if (content.length > 0) prompt.push({ role: "user", content });
  }
  answer(prompt, open, [], vendor);
  return vendor.cacheMark ? marked(prompt, vendor.cacheMark) : prompt;
}

/** Neighbours of one role are one message to most vendors. */
function groups(messages: readonly Message[]): { role: Message["role"]; parts: Part[] }[] {
  const found: { role: Message["role"]; parts: Part[] }[] = [];
  for (const { role, parts } of messages) {
    const last = found.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else found.push({ role, parts: [...parts] });
  }
  return found;
}

function assistantContent(parts: readonly Part[], open: Map<string, string>, vendor: Vendor): AssistantContent {
  const content: AssistantContent = [];
  for (const part of parts) {
    switch (part.type) {
      case "text":
        if (part.text) content.push({ type: "text", text: part.text });
        break;
      case "thinking":
        if (vendor.returnsThinking && ownOpaque(part.opaque, vendor)) {
          content.push({ type: "reasoning", text: part.text, ...providerOptions(part.opaque, vendor) });
        }
        break;
      case "tool_call":
        if (open.has(part.id)) break;
        open.set(part.id, part.name);
        content.push({
          type: "tool-call",
          toolCallId: part.id,
          toolName: part.name,
          input: objectArguments(part.args),
          ...providerOptions(part.opaque, vendor),
        });
        break;
      case "image":
      case "tool_result":
        break; // an assistant says neither
    }
  }
  return content;
}

/** Every call gets exactly one result: vendors refuse a conversation with calls left open. Returns pictures that must follow. */
function answer(
  prompt: LanguageModelV3Prompt,
  open: Map<string, string>,
  parts: readonly Part[],
  vendor: Vendor,
): UserContent {
  if (open.size === 0) return [];
  const pictures: UserContent = [];
  const content = [...open].map(([id, name]): LanguageModelV3ToolResultPart => {
    const result = parts.find((part): part is ToolResultPart => part.type === "tool_result" && part.id === id);
    if (result && !vendor.imagesInResults) for (const image of result.images ?? []) pictures.push(file(image));
    return { type: "tool-result", toolCallId: id, toolName: name, output: outputOf(result, vendor) };
  });
  prompt.push({ role: "tool", content });
  if (pictures.length > 0) pictures.unshift({ type: "text", text: "The images of the results above:" });
  return pictures;
}

function outputOf(result: ToolResultPart | undefined, vendor: Vendor): LanguageModelV3ToolResultPart["output"] {
  if (!result) return { type: "error-text", value: "There is no result: the call was interrupted." };
  const text = result.text || "(no output)";
  if (result.isError) return { type: "error-text", value: text };
  if (!result.images?.length || !vendor.imagesInResults) return { type: "text", value: text };
  const images = result.images.map((image) => ({
    type: "image-data" as const,
    data: image.base64,
    mediaType: image.mime,
  }));
  return { type: "content", value: [{ type: "text", text }, ...images] };
}

function userContent(parts: readonly Part[]): UserContent {
  return parts.flatMap((part): UserContent => {
    if (part.type === "text" && part.text) return [{ type: "text", text: part.text }];
    if (part.type === "image") return [file(part)];
    return [];
  });
}

function file(image: { mime: string; base64: string }): LanguageModelV3FilePart {
  return { type: "file", data: image.base64, mediaType: image.mime };
}

/** Arguments that were not a JSON object are kept as text; vendors want an object back. */
function objectArguments(args: unknown): unknown {
  return typeof args === "object" && args !== null && !Array.isArray(args)
    ? args
    : { malformed_arguments: args ?? null };
}

function ownOpaque(opaque: unknown, vendor: Vendor): opaque is Opaque {
  return typeof opaque === "object" && opaque !== null && (opaque as Opaque).from === vendor.name;
}

function providerOptions(opaque: unknown, vendor: Vendor): { providerOptions?: SharedV3ProviderOptions } {
  if (!ownOpaque(opaque, vendor) || !opaque.metadata) return {};
  return { providerOptions: vendor.restore ? vendor.restore(opaque.metadata) : opaque.metadata };
}

/** The system prompt and the newest message end stretches that the next request repeats. */
function marked(prompt: LanguageModelV3Prompt, mark: SharedV3ProviderOptions): LanguageModelV3Prompt {
  const last = prompt.findLastIndex((message) => message.role === "user" || message.role === "tool");
  return prompt.map((message, index) =>
    message.role === "system" || index === last ? { ...message, providerOptions: mark } : message,
  );
}
