// Extracts the searchable text of a chat: its title, the conversation, and the arguments and results of tools.
import type { Message } from "../../protocol/message.ts";
import type { ChatMetadata } from "./chat.ts";
import { readChat } from "./read-chat.ts";

export type SearchText = {
  title: string;
  body: string;
  /** Parts of camel-case names, so that a prefix search finds `CommandLine` and `Line` in `parseCommandLine`. */
  parts: string;
};

/** The limit for one tool result: its beginning identifies it, and whole files are better searched on disk. */
const longestResult = 4_000;
/** The maximum length of the indexed text of one chat. Tool results come last, so they are cut first. */
const longestBody = 4_000_000;

export function searchTextOf(folder: string): { metadata: ChatMetadata; text: SearchText } {
  const { metadata, messages } = readChat(folder);
  const texts: string[] = [];
  const results: string[] = [];
  for (const { message } of messages) collect(message, texts, results);
  const body = withoutControlCharacters([...texts, ...results].join("\n").slice(0, longestBody));
  return { metadata, text: { title: withoutControlCharacters(metadata.title), body, parts: camelCaseSuffixes(body) } };
}

function collect(message: Message, spokenTexts: string[], results: string[]): void {
  for (const part of message.parts) {
    switch (part.type) {
      case "text":
        spokenTexts.push(part.text);
        break;
      case "tool_call":
        spokenTexts.push(`${part.name} ${textsIn(part.args).join(" ")}`);
        break;
      case "tool_result":
        results.push(part.text.slice(0, longestResult));
        break;
      case "thinking":
      case "image":
        break;
    }
  }
}

/** Collects every string in the arguments of a call: commands, paths, written text. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** Removes control characters: they mark matches, and a NUL would end the text. */
function withoutControlCharacters(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f]+/g, " ");
}

function camelCaseSuffixes(body: string): string {
  const parts = new Set<string>();
  for (const [name] of body.matchAll(/\b[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*\b/g)) {
    for (const { index } of name.matchAll(/(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])/g)) parts.add(name.slice(index));
  }
  return [...parts].join(" ");
}
