// Describes a request for recording and comparison: system, tools and messages, each with a digest of what is the same on every machine.
import { basePrompt } from "../agent/instructions/system-prompt.ts";
import type { ModelRequest } from "../model/provider.ts";
import type { Message, Part } from "../protocol/message.ts";
import { digestOf } from "../text/digest.ts";
import { type Normaliser, normaliseEnvironment } from "./normalise.ts";
import type { KeptMessage, KeptPart, SystemPart } from "./recording.ts";

export type DescribedMessage = { role: Message["role"]; digest: string; parts: KeptPart[] };

export type DescribedRequest = {
  digest: string;
  purpose?: string;
  system: SystemPart[];
  tools: Record<string, string>;
  messages: DescribedMessage[];
};

export type Describer = {
  request(request: Pick<ModelRequest, "system" | "tools" | "messages" | "purpose">): DescribedRequest;
  message(message: Message): DescribedMessage;
};

type Redact = ((text: string) => string) | undefined;

/** Creates a function that describes requests for a recording. Descriptions are cached, because a conversation only grows. */
export function createDescriber(normalise: Normaliser, redact: Redact): Describer {
  const messages = new WeakMap<Message, DescribedMessage>();
  const systems = new Map<string, SystemPart[]>();
  const tools = new WeakMap<object, string>();
  const message = (given: Message): DescribedMessage => {
    const existing = messages.get(given);
    if (existing) return existing;
    const parts = redacted(given.parts.map(describePart), redact);
    const described = { role: given.role, digest: digestOfParts(parts, normalise), parts };
    messages.set(given, described);
    return described;
  };
  const toolDigest = (tool: ModelRequest["tools"][number]): string => {
    const { name, description, parameters } = tool;
    const existing =
      tools.get(tool) ?? digestOf(normalise(JSON.stringify({ name, description, parameters }))).slice(0, 6);
    tools.set(tool, existing);
    return existing;
  };
  return {
    message,
    request(given) {
      const system = systems.get(given.system) ?? describeSystem(given.system, normalise, redact);
      systems.set(given.system, system);
      const described = {
        ...(given.purpose !== undefined && { purpose: given.purpose }),
        system,
        tools: Object.fromEntries(given.tools.map((tool) => [tool.name, toolDigest(tool)])),
        messages: given.messages.map(message),
      };
      return { digest: digestOfRequest(described), ...described };
    },
  };
}

export function digestOfRequest({ purpose, system, tools, messages }: Omit<DescribedRequest, "digest">): string {
  const whole = [purpose ?? "", system.map(({ digest }) => digest), tools, messages.map(({ digest }) => digest)];
  return digestOf(JSON.stringify(whole));
}

/** Ignores ids and what only a vendor can read, which do not affect the meaning. */
export function digestOfParts(parts: readonly (KeptPart | Part)[], normalise: Normaliser): string {
  const partTexts = parts.map((part) => {
    switch (part.type) {
      case "tool_call":
        return [part.type, part.name, part.args];
      case "tool_result":
        return [part.type, part.text, part.isError, part.images ?? []];
      case "image":
        return [part.type, part.mime, "digest" in part ? part.digest : digestOf(part.base64)];
      default:
        return [part.type, part.text];
    }
  });
  return digestOf(normalise(JSON.stringify(partTexts)));
}

function describePart(part: Part): KeptPart {
  if (part.type === "image") return keptPicture(part);
  if (part.type !== "tool_result") return part;
  const { images, ...rest } = part;
  return images
    ? { ...rest, images: images.map(keptPicture).map(({ mime, digest }) => ({ mime, digest })) }
    : { ...rest };
}

function keptPicture({ mime, base64 }: { mime: string; base64: string }) {
  return { type: "image" as const, mime, digest: digestOf(base64) };
}

const modes = ["default", "force", "plan", "ask"] as const;

/** Describes a system prompt. Built-in text is stored by its name, all other text verbatim. */
function describeSystem(system: string, normalise: Normaliser, redact: Redact): SystemPart[] {
  const clean = redact ?? ((text: string) => text);
  const userPrompt = ownPromptOf(system);
  if (!userPrompt) return [describeText(clean(system), normalise)];
  const rest = system.slice(userPrompt.text.length).replace(/^\n+/, "");
  return [
    { builtIn: userPrompt.name, digest: digestOf(userPrompt.text) },
    ...(rest === "" ? [] : [describeText(clean(rest), normalise)]),
  ];
}

/** Returns the built-in prompt that a text is. If two modes have the same text, the first one's name is used. */
function ownPromptOf(system: string): { name: string; text: string } | undefined {
  for (const mode of modes)
    for (const headless of [true, false]) {
      const text = basePrompt({ mode, headless });
      if (system.startsWith(text)) return { name: `${mode}, ${headless ? "headless" : "attended"}`, text };
    }
  return undefined;
}

function describeText(text: string, normalise: Normaliser): SystemPart {
  return { digest: digestOf(normalise(normaliseEnvironment(text))), text };
}

/** Replaces secrets in all texts of a value. */
export function redacted<Value>(value: Value, redact: Redact): Value {
  if (!redact) return value;
  const text = JSON.stringify(value);
  const clean = redact(text);
  if (clean === text) return value;
  try {
    return JSON.parse(clean) as Value;
  } catch {
    return JSON.parse(text, (_key, each: unknown) => (typeof each === "string" ? redact(each) : each)) as Value;
  }
}

/** Returns the parts of a message, resolving a reference to a reply. */
export function expandParts(
  message: KeptMessage,
  reply: (number: number) => readonly Part[],
): readonly (KeptPart | Part)[] {
  return "parts" in message ? message.parts : reply(message.reply);
}
