// Converts messages to the AI SDK's prompt. Whatever a session contains, the result is one that vendors accept.
import type {
  LanguageModelV3FilePart,
  LanguageModelV3Prompt,
  LanguageModelV3TextPart,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import { perObject } from "../json/per-object.ts";
import { wellFormed } from "../json/well-formed.ts";
import type { Message, Part, ToolResultPart } from "../protocol/message.ts";
import { sha256 } from "../store/chats/sha256.ts";
import { isBlankText } from "../text/blank.ts";
import { imageProblem, withNewestImages } from "./image-limits.ts";
import type { ModelRequest } from "./provider.ts";
import type { Vendor } from "./vendors/vendor.ts";

/** A vendor's own part of a message. `from` is that vendor; the part is sent to no other. */
export type Opaque = { from: string; metadata?: SharedV3ProviderOptions };

type UserContent = (LanguageModelV3TextPart | LanguageModelV3FilePart)[];
type AssistantMessage = Extract<LanguageModelV3Prompt[number], { role: "assistant" }>;

export function toPrompt(request: ModelRequest, vendor: Vendor): LanguageModelV3Prompt {
  const prompt: LanguageModelV3Prompt = [];
  const to: Recipient = { vendor, model: request.model, usedIds: new Set() };
  if (!isBlankText(request.system)) prompt.push({ role: "system", content: wellFormed(request.system) });
  let open: OpenCalls = new Map();
  for (const group of groups(withNewestImages(request.messages, vendor.maxImages ?? 20))) {
    if (group.role === "assistant") {
      answer(prompt, open, [], vendor);
      open = new Map();
      const message = assistantMessage(group, open, to);
      if (message.content.length > 0) prompt.push(message);
      continue;
    }
    const pictures = answer(prompt, open, group.parts, vendor);
    const content = [...pictures, ...userContent(group.parts, vendor)];
    // Replace an empty message by an empty text instead of dropping it: a conversation begins with the user, and roles
    // alternate.
    if (content.length === 0 && open.size === 0) content.push({ type: "text", text: "(empty message)" });
    open = new Map();
    const last = prompt.at(-1);
    // Join two messages of the user if the reply between them contains nothing that is sent.
    if (last?.role === "user") last.content.push(...content);
    else if (content.length > 0) prompt.push({ role: "user", content });
  }
  answer(prompt, open, [], vendor);
  if (prompt.at(-1)?.role === "assistant")
    prompt.push({ role: "user", content: [{ type: "text", text: "Continue." }] });
  return vendor.cacheMark ? marked(prompt, vendor.cacheMark) : prompt;
}

/** The vendor and model to ask, and the call ids already sent to it. */
type Recipient = { vendor: Vendor; model: string; usedIds: Set<string> };
/** Calls without a result, by their id in the session: the tool's name, and the id that was sent. */
type OpenCalls = Map<string, { name: string; sentId: string }>;
type Group = { role: Message["role"]; parts: Part[]; providers: (string | undefined)[] };

/** Merges consecutive messages of one role, since most vendors take them as one. */
function groups(messages: readonly Message[]): Group[] {
  const found: Group[] = [];
  for (const { role, parts, provider } of messages) {
    const last = found.at(-1);
    const providers = parts.map(() => provider);
    if (last?.role === role) {
      last.parts.push(...parts);
      last.providers.push(...providers);
    } else {
      found.push({ role, parts: [...parts], providers });
    }
  }
  return found;
}

function assistantMessage({ parts, providers }: Group, open: OpenCalls, to: Recipient): AssistantMessage {
  const { vendor } = to;
  const content: AssistantMessage["content"] = [];
  const beside: SharedV3ProviderOptions[] = [];
  for (const [index, part] of parts.entries()) {
    switch (part.type) {
      case "text":
        if (!isBlankText(part.text)) content.push({ type: "text", text: wellFormed(part.text) });
        break;
      case "thinking":
        if (!ownOpaque(part.opaque, vendor)) break;
        if (vendor.messageOptions && part.opaque.metadata) beside.push(part.opaque.metadata);
        if (vendor.returnsThinking)
          content.push({ type: "reasoning", text: wellFormed(part.text), ...providerOptions(part.opaque, vendor) });
        break;
      case "tool_call": {
        if (open.has(part.id)) break;
        const sentId = legalId(part.id, to, providers[index] === vendor.name);
        const toolName = legalName(part.name);
        open.set(part.id, { name: toolName, sentId });
        content.push({
          type: "tool-call",
          toolCallId: sentId,
          toolName,
          input: objectArguments(part.args),
          ...providerOptions(part.opaque, vendor),
        });
        break;
      }
      case "image":
      case "tool_result":
        break; // assistant messages contain neither images nor results
    }
  }
  // Drop thinking at the end of an interrupted reply: some vendors refuse it, and none reads it.
  while (content.at(-1)?.type === "reasoning") content.pop();
  const options = vendor.messageOptions?.(beside);
  return { role: "assistant", content, ...(options && { providerOptions: options }) };
}

/** Returns the id itself if the server accepts it and has not seen it yet; otherwise one that is the same in every request. */
function legalId(id: string, { vendor, model, usedIds }: Recipient, own: boolean): string {
  const { legal, length } = vendor.callIdRule(model, own);
  let sent = id;
  for (let time = 1; !legal.test(sent) || usedIds.has(sent); time++)
    sent = sha256(time === 1 ? id : `${id} ${time}`).slice(0, length);
  usedIds.add(sent);
  return sent;
}

/** Makes a tool's name valid for vendors, since models also call tools by names with dots or blanks, by too long ones, or by none. */
function legalName(name: string): string {
  const legal = name.replace(/[^a-zA-Z0-9_-]/g, "_").replace(/^(?![a-zA-Z_])/, "_");
  return legal.slice(0, 64);
}

/** Gives every call exactly one result, since vendors refuse a conversation with open calls. Returns images that must follow. */
function answer(prompt: LanguageModelV3Prompt, open: OpenCalls, parts: readonly Part[], vendor: Vendor): UserContent {
  if (open.size === 0) return [];
  const pictures: UserContent = [];
  const content = [...open].map(([id, { name, sentId }]): LanguageModelV3ToolResultPart => {
    const result = parts.find((part): part is ToolResultPart => part.type === "tool_result" && part.id === id);
    if (result && !vendor.imagesInResults)
      for (const image of result.images ?? []) pictures.push(...picture(image, vendor));
    return { type: "tool-result", toolCallId: sentId, toolName: name, output: toolResultOutput(result, vendor) };
  });
  prompt.push({ role: "tool", content });
  if (pictures.length > 0) pictures.unshift({ type: "text", text: "The images of the results above:" });
  return pictures;
}

const outputText = perObject(({ text }: ToolResultPart) => (isBlankText(text) ? "(no output)" : wellFormed(text)));

function toolResultOutput(result: ToolResultPart | undefined, vendor: Vendor): LanguageModelV3ToolResultPart["output"] {
  if (!result) return { type: "error-text", value: "There is no result: the call was interrupted." };
  const output = outputText(result);
  if (result.isError) return { type: "error-text", value: output };
  const images = vendor.imagesInResults ? (result.images ?? []) : [];
  const seen = images.filter((image) => !unseen(image, vendor));
  const text = [output, ...images.flatMap((image) => unseen(image, vendor) ?? [])].join("\n");
  if (seen.length === 0) return { type: "text", value: text };
  const shown = seen.map(({ mime, base64 }) => ({ type: "image-data" as const, data: base64, mediaType: mime }));
  return { type: "content", value: [{ type: "text", text }, ...shown] };
}

function userContent(parts: readonly Part[], vendor: Vendor): UserContent {
  return parts.flatMap((part): UserContent => {
    if (part.type === "text" && !isBlankText(part.text)) return [{ type: "text", text: wellFormed(part.text) }];
    if (part.type === "image") return picture(part, vendor);
    return [];
  });
}

function picture(image: { mime: string; base64: string }, vendor: Vendor): UserContent {
  const note = unseen(image, vendor);
  if (note) return [{ type: "text", text: note }];
  return [{ type: "file", data: image.base64, mediaType: image.mime, providerOptions: ownDetail }];
}

/** The Responses API requires this field. Other vendors only read options under their own name. */
const ownDetail = { openai: { imageDetail: "auto" }, azure: { imageDetail: "auto" } };

/** Returns a note for the model about an image that cannot be sent. */
function unseen(image: { mime: string; base64: string }, { imageKinds }: Vendor): string | undefined {
  const isTaken = imageKinds?.test(image.mime) ?? true;
  const problem = isTaken ? imageProblem(image) : "the model takes no images of this kind";
  return problem && `[an image (${image.mime}): ${problem}]`;
}

/** Arguments that were not a JSON object are stored as text; vendors require an object. */
function objectArguments(args: unknown): unknown {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return wellFormed(isObject ? args : { malformed_arguments: args ?? null });
}

function ownOpaque(opaque: unknown, vendor: Vendor): opaque is Opaque {
  return typeof opaque === "object" && opaque !== null && (opaque as Opaque).from === vendor.name;
}

function providerOptions(opaque: unknown, vendor: Vendor): { providerOptions?: SharedV3ProviderOptions } {
  if (!ownOpaque(opaque, vendor) || !opaque.metadata) return {};
  return { providerOptions: vendor.restore ? vendor.restore(opaque.metadata) : opaque.metadata };
}

/** Marks the ends of the prefixes that the next request repeats: the system prompt and the newest message. */
function marked(prompt: LanguageModelV3Prompt, mark: SharedV3ProviderOptions): LanguageModelV3Prompt {
  const last = prompt.findLastIndex((message) => message.role === "user" || message.role === "tool");
  return prompt.map((message, index) =>
    message.role === "system" || index === last ? { ...message, providerOptions: mark } : message,
  );
}
