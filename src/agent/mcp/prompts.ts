// Expands MCP prompts as commands: `/server:prompt words` stands for the messages that the server returns.
import type { PromptMessage } from "@modelcontextprotocol/client";
import type { Part } from "../../protocol/message.ts";
import { oneLine } from "../../text/one-line.ts";
import type { CallOptions, Connection } from "./connection.ts";
import { shownResult } from "./content.ts";

/** Replaces `/server:prompt` with the prompt of an MCP server; undefined if there is none. Throws ServerProblem if the server fails. */
export async function expandServerPrompt(
  text: string,
  connections: readonly Connection[],
  options: CallOptions,
): Promise<Part[] | undefined> {
  const [whole, server, name] = /^\s*\/([\w.-]+):([\w.-]+)(?=\s|$)/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const connection = connections.find((each) => typedName(each.name) === server);
  const prompt = connection?.prompts.find((each) => typedName(each.name) === name);
  if (!connection || !prompt) return undefined;
  const words = text.slice(whole.length).trim();
  const args = parsePromptArguments(words, prompt.arguments?.map((argument) => argument.name) ?? []);
  const { messages } = await connection.getPrompt(prompt.name, args, options);
  return messages.flatMap(messageParts);
}

/** Lists the prompts as they are called: `server:prompt`. */
export function serverPrompts(connections: readonly Connection[]): { name: string; description?: string }[] {
  return connections.flatMap(({ name: server, prompts }) =>
    prompts.map(({ name, description }) => ({
      name: `${typedName(server)}:${typedName(name)}`,
      ...(description !== undefined && { description: oneLine(description, 200) }),
    })),
  );
}

/** Converts a name to the form that the user types, since names may contain blanks. */
export function typedName(name: string): string {
  return name.replace(/[^\w.-]+/g, "_");
}

/** Parses `name=value` anywhere; other words fill the remaining arguments in order, and the last one takes the rest. */
function parsePromptArguments(text: string, names: readonly string[]): Record<string, string> {
  const args: Record<string, string> = {};
  const plain: string[] = [];
  for (const [word] of text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)) {
    const [, name, value] = /^([\w.-]+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && names.includes(name)) args[name] = unquote(value!);
    else plain.push(unquote(word));
  }
  const open = names.filter((name) => !(name in args));
  for (const [index, name] of open.entries()) {
    const words = index === open.length - 1 ? plain.slice(index) : plain.slice(index, index + 1);
    if (words.length > 0) args[name] = words.join(" ");
  }
  return args;
}

function unquote(word: string): string {
  return word.replace(/^(["'])(.*)\1$/s, "$2");
}

/** Quotes assistant messages as text, since the model does not start a conversation. */
function messageParts({ role, content }: PromptMessage): Part[] {
  const { text, images } = shownResult({ content: [content] }, 100_000);
  const promptText = role === "assistant" ? `You said before: ${text}` : text;
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text: promptText }]),
    ...images.map((image) => ({ type: "image" as const, ...image })),
  ];
}
