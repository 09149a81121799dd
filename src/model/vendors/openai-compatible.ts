// Servers with OpenAI's chat completions API: most vendors, and all local servers.
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
    // Gemini behind such a server: the package writes its signature under `openaiCompatible` and reads it under `google`.
    restore: ({ openaiCompatible, ...rest }) =>
      openaiCompatible?.["thoughtSignature"] ? { ...rest, google: openaiCompatible } : rest,
  };
}

const safeId: CallIdRule = { legal: /^[a-zA-Z0-9_-]{1,40}$/, length: 24 };
const mistralId: CallIdRule = { legal: /^[a-zA-Z0-9]{9}$/, length: 9 };
const anyId: CallIdRule = { legal: /./, length: 24 };

/** A server gets its own ids back unchanged, since some models expect them; ids of others take a form that all servers accept. */
function callIdRule(model: string, own: boolean): CallIdRule {
  if (/mistral|ministral|devstral|codestral|magistral|pixtral/i.test(model)) return mistralId;
  // One server may have many models, so one model may read the ids of another.
  return own && !/claude|anthropic|openai\/(gpt|o\d)/i.test(model) ? anyId : safeId;
}

type StreamChunk = {
  choices?: { delta?: { tool_calls?: { id?: string | null; function?: { name?: string | null } }[] } }[];
};

/** Only the delta that names the function starts a call. */
function callIds(event: unknown): (string | undefined)[] {
  const calls = (event as StreamChunk | null)?.choices?.[0]?.delta?.tool_calls;
  if (!Array.isArray(calls)) return [];
  return calls.filter((call) => call?.function?.name).map((call) => call.id || undefined);
}
