// Everybody who speaks OpenAI's chat completions: most vendors, and all local servers.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Vendor, VendorSettings } from "./vendor.ts";

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
    // Gemini behind such a server: its signature is written under our name and read under Google's.
    restore: ({ openaiCompatible, ...rest }) =>
      openaiCompatible?.["thoughtSignature"] ? { ...rest, google: openaiCompatible } : rest,
  };
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
