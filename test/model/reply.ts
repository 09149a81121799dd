// One reply of a provider, gathered for a test.

import type { ProviderOptions } from "../../src/model/open.ts";
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "../../src/model/provider.ts";
import { createProvider, type ModelChoice, resolveModel } from "../../src/model/resolve.ts";
import type { Usage } from "../../src/protocol/event.ts";
import type { Message, Part } from "../../src/protocol/message.ts";

export type Reply = {
  text: string;
  thinking: string;
  parts: Part[];
  usage: Usage | undefined;
  chunks: ModelChunk[];
  error: ModelError | undefined;
};

export const shell = {
  name: "Shell",
  description: "Run a command.",
  parameters: {
    type: "object",
    properties: { command: { type: "string" } },
    required: ["command"],
    additionalProperties: false,
  },
};

export function userSays(text: string): Message {
  return { role: "user", parts: [{ type: "text", text }] };
}

export function requestFor(model: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model,
    system: "Be brief.",
    messages: [userSays("hi")],
    tools: [shell],
    signal: new AbortController().signal,
    ...more,
  };
}

/** What a reader ends up with: a retry voids what came before it. */
export async function replyOf(provider: Provider, request: ModelRequest): Promise<Reply> {
  const reply: Reply = { text: "", thinking: "", parts: [], usage: undefined, chunks: [], error: undefined };
  try {
    for await (const chunk of provider.stream(request)) {
      reply.chunks.push(chunk);
      if (chunk.type === "text") reply.text += chunk.text;
      if (chunk.type === "thinking") reply.thinking += chunk.text;
      if (chunk.type === "part") reply.parts.push(chunk.part);
      if (chunk.type === "usage") reply.usage = chunk.usage;
      if (chunk.type === "retry") Object.assign(reply, { text: "", thinking: "", parts: [] });
    }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    reply.error = error;
  }
  return reply;
}

export type Kind = "anthropic" | "openai" | "google" | "openai-compatible";
export const kinds: readonly Kind[] = ["anthropic", "openai", "google", "openai-compatible"];
export const modelOf: Record<Kind, string> = {
  anthropic: "claude-sonnet-4-5",
  openai: "gpt-5",
  google: "gemini-2.5-pro",
  "openai-compatible": "qwen3-coder",
};

/** A provider of this wire at a loopback server, with the key `test-key-1`. No retries unless asked for. */
export async function providerAt(
  url: string,
  kind: Kind,
  options: ProviderOptions & { keys?: string[]; choice?: Partial<ModelChoice> } = {},
): Promise<Provider> {
  const { keys = ["test-key-1"], choice, ...rest } = options;
  const variables = keys.map((_, index) => `TEST_KEY_${index + 1}`);
  const env = Object.fromEntries(keys.map((key, index) => [variables[index]!, key]));
  const resolved = resolveModel({
    flag: `test/${modelOf[kind]}`,
    env,
    endpoints: { test: { type: kind, baseUrl: `${url}/v1`, keys: variables } },
    ...choice,
  });
  return createProvider(resolved, { retries: 0, ...rest });
}
