// The server side of the vendors' APIs: recognises the API of a request and formats answers for it.
import type { RecordedRequest } from "../model-server.ts";
import { anthropic } from "./anthropic.ts";
import { google } from "./google.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import type { WireFormat } from "./said.ts";

/** The API of a model vendor. */
export type Wire = "anthropic" | "openai-responses" | "openai-chat" | "gemini";

export const wires: Record<Wire, WireFormat> = {
  anthropic,
  "openai-responses": openaiResponses,
  "openai-chat": openaiChat,
  gemini: google,
};

/** How the paths of requests to each API end. */
const paths: readonly [RegExp, Wire][] = [
  [/\/chat\/completions$/, "openai-chat"],
  [/\/responses$/, "openai-responses"],
  [/\/messages$/, "anthropic"],
  [/:(?:streamG|g)enerateContent$/, "gemini"],
];

export function wireForPath(path: string): Wire | undefined {
  const { pathname } = new URL(path, "http://server");
  return paths.find(([end]) => end.test(pathname))?.[1];
}

export function isStreamed({ wire, path, json }: RecordedRequest): boolean {
  return wire === "gemini" ? path.includes(":streamGenerateContent") : json?.stream === true;
}
