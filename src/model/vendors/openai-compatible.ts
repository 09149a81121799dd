// Everybody who speaks OpenAI's chat completions: most vendors, and all local servers.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { openrouter } from "./openrouter.ts";
import type { CallIdRule, Vendor, VendorSettings } from "./vendor.ts";

export function openaiCompatibleVendor(settings: VendorSettings): Vendor {
  return {
    name: settings.name,
    open: (modelId, fetch) =>
      createOpenAICompatible({
        name: "openaiCompatible",
        baseURL: settings.baseUrl,
        ...(settings.key && { apiKey: settings.key }),
        headers: { ...settings.headers },
        includeUsage: true,
        fetch,
      }).chatModel(modelId),
    options: ({ effort }) => ({ providerOptions: { openaiCompatible: effort ? { reasoningEffort: effort } : {} } }),
    imagesInResults: false,
    returnsThinking: settings.takesThinking === true,
    callIds,
    callIdRule: (model, own) => callIdRule(`${settings.name}/${model}`, own),
    ...(/^openrouter$|openrouter\.ai$/.test(settings.name) && openrouter),
    // Gemini behind such a server: its signature is written under our name and read under Google's.
    restore: ({ openaiCompatible, ...rest }) =>
      openaiCompatible?.["thoughtSignature"] ? { ...rest, google: openaiCompatible } : rest,
  };
}

const safeId: CallIdRule = { legal: /^[a-zA-Z0-9_-]{1,40}$/, length: 24 };
const mistralId: CallIdRule = { legal: /^[a-zA-Z0-9]{9}$/, length: 9 };
const anyId: CallIdRule = { legal: /./, length: 24 };

/** A server gets its own ids back as they were, since some models expect them so; those of others as everybody takes them. */
function callIdRule(model: string, own: boolean): CallIdRule {
  if (/mistral|ministral|devstral|codestral|magistral|pixtral/i.test(model)) return mistralId;
  // Behind one server there may be many: what one model said is read by another.
  return own && !/claude|anthropic|openai\/(gpt|o\d)/i.test(model) ? anyId : safeId;
}

type StreamChunk = {
  choices?: { delta?: { tool_calls?: { id?: string | null; function?: { name?: string | null } }[] } }[];
};

/** Only the delta that names the function begins a call. */
function callIds(event: unknown): (string | undefined)[] {
  const calls = (event as StreamChunk | null)?.choices?.[0]?.delta?.tool_calls;
  if (!Array.isArray(calls)) return [];
  return calls.filter((call) => call?.function?.name).map((call) => call.id || undefined);
}
