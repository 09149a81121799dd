// Servers with OpenAI's chat completions API: most vendors, and all local servers.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { openrouter } from "./openrouter.ts";
import { type CallIdRule, claudeRules, type Vendor, type VendorSettings } from "./vendor.ts";

/** Limits of certain OpenAI-compatible servers. `server` matches the name or the host. */
type Limits = Pick<Vendor, "imageKinds" | "maxImages"> & { countsUnasked?: true; switchesThinking?: true };

const limits: readonly [server: RegExp, Limits][] = [
  [/^deepseek$|\.deepseek\.com$/, { imageKinds: /^none$/, switchesThinking: true }],
  [/^zai$|\.z\.ai$|^moonshot$|\.moonshot\.(?:ai|cn)$/, { switchesThinking: true }],
  [/^groq$|\.groq\.com$/, { maxImages: 5 }],
  [/^mistral$|\.mistral\.ai$/, { maxImages: 8, countsUnasked: true }],
  [/^xai$|\.x\.ai$/, { imageKinds: /^image\/(png|jpeg)$/ }],
];

function isAt(server: RegExp, { name, baseUrl }: VendorSettings): boolean {
  const [, host = ""] = /^https?:\/\/(?:[^@/]*@)?([^/:]+)/.exec(baseUrl) ?? [];
  return server.test(name) || server.test(host);
}

export function openaiCompatibleVendor(settings: VendorSettings): Vendor {
  const router: Partial<Vendor> = isAt(/^openrouter$|openrouter\.ai$/, settings) ? openrouter : {};
  const { countsUnasked, switchesThinking, ...images } = limits.find(([server]) => isAt(server, settings))?.[1] ?? {};
  // OpenRouter passes on errors of the models' makers.
  const isThinker = (model: string) => router === openrouter && /kimi|deepseek/i.test(model);
  const isOpenAi = /(?:^|\/)(?:gpt-\d|chatgpt|o\d)/.test(settings.model ?? "");
  return {
    name: settings.name,
    open: (modelId, fetch) =>
      createOpenAICompatible({
        name: "openaiCompatible",
        baseURL: settings.baseUrl,
        ...(settings.key && { apiKey: settings.key }),
        headers: { ...settings.headers },
        includeUsage: !countsUnasked,
        fetch,
      }).chatModel(modelId),
    options: ({ effort }) => ({ providerOptions: { openaiCompatible: effort ? { reasoningEffort: effort } : {} } }),
    imagesInResults: false,
    ...images,
    maxTools: 128,
    ...(isOpenAi && { maxDescription: 1024 }),
    ...(/claude/i.test(settings.model ?? "") && claudeRules),
    ...(/kimi|moonshot/i.test(`${settings.name}/${settings.model}`) && { typedSchemas: true }),
    returnsThinking: settings.takesThinking === true,
    callIds,
    ...router,
    rewrite(body: ChatBody, request) {
      joinTexts(body.messages);
      if (switchesThinking && request.effort === "none") {
        delete body.reasoning_effort;
        body.thinking = { type: "disabled" };
      }
      if (settings.takesThinking || isThinker(request.model)) fillThinking(body.messages);
      if (isMistral(`${settings.name}/${request.model}`)) bridgeResults(body.messages);
      router.rewrite?.(body, request);
    },
    callIdRule: (model, own) => callIdRule(`${settings.name}/${model}`, own),
    // Gemini behind such a server: the package writes its signature under `openaiCompatible` and reads it under `google`.
    restore: ({ openaiCompatible, ...rest }) =>
      openaiCompatible?.["thoughtSignature"] ? { ...rest, google: openaiCompatible } : rest,
  };
}

const safeId: CallIdRule = { legal: /^[a-zA-Z0-9_-]{1,40}$/, length: 24 };
const mistralId: CallIdRule = { legal: /^[a-zA-Z0-9]{9}$/, length: 9 };
const anyId: CallIdRule = { legal: /./, length: 24 };

/** Returns the rule for call ids. A server's own ids are sent back unchanged; others may be replaced. */
function callIdRule(model: string, own: boolean): CallIdRule {
  if (isMistral(model)) return mistralId;
  // A server may offer several models, so one model may receive the ids of another.
  return own && !/claude|anthropic|openai\/(gpt|o\d)/i.test(model) ? anyId : safeId;
}

function isMistral(model: string): boolean {
  return /mistral|ministral|devstral|codestral|magistral|pixtral/i.test(model);
}

type ChatMessage = { role: string; content?: unknown; reasoning_content?: string | null; reasoning_details?: unknown };
type ChatBody = { messages: ChatMessage[]; reasoning_effort?: string; thinking?: { type: "disabled" } };

/** Joins the texts of each message, since models without vision often accept a message only as one string. */
function joinTexts(messages: ChatMessage[]): void {
  for (const message of messages) {
    const { content } = message;
    if (Array.isArray(content) && content.every(({ type }) => type === "text"))
      message.content = content.map(({ text }) => text).join("\n\n");
  }
}

/** Adds thinking before calls that have none, since these servers refuse such calls, and some empty thinking. */
function fillThinking(messages: ChatMessage[]): void {
  for (const message of messages)
    if (message.role === "assistant" && !message.reasoning_content?.trim() && !message.reasoning_details)
      message.reasoning_content = ".";
}

/** Mistral's models refuse a user's message right after a result, as after an interrupt. */
function bridgeResults(messages: ChatMessage[]): void {
  for (let at = messages.length - 1; at > 0; at--)
    if (messages[at]!.role === "user" && messages[at - 1]!.role === "tool")
      messages.splice(at, 0, { role: "assistant", content: "Understood." });
}

type StreamChunk = {
  choices?: { delta?: { tool_calls?: { id?: string | null; function?: { name?: string | null } }[] } }[];
};

/** Returns call ids in an event. Only the delta with the function's name starts a call. */
function callIds(event: unknown): (string | undefined)[] {
  const calls = (event as StreamChunk | null)?.choices?.[0]?.delta?.tool_calls;
  if (!Array.isArray(calls)) return [];
  return calls.filter((call) => call?.function?.name).map((call) => call.id || undefined);
}
