// OpenAI: the Responses API. Nothing is kept on the server; reasoning comes back encrypted and is handed back.
import { createOpenAI } from "@ai-sdk/openai";
import type { Vendor, VendorSettings } from "./vendor.ts";

type InputItem = { role?: string; id?: string; content?: string | { text: string }[] };

export function openaiVendor(settings: VendorSettings): Vendor {
  return {
    name: settings.name,
    open: (modelId, fetch) =>
      createOpenAI({
        baseURL: settings.baseUrl,
        apiKey: settings.key ?? "none",
        headers: { ...settings.headers },
        fetch,
      }).responses(modelId),
    options: ({ effort }) => ({
      providerOptions: {
        openai: {
          store: false,
          parallelToolCalls: true,
          ...(settings.sessionId && { promptCacheKey: settings.sessionId }),
          // Summaries only on request: accounts that are not verified are refused when they ask for them.
          ...(effort && { reasoningEffort: effort, ...(effort !== "none" && { reasoningSummary: "auto" }) }),
        },
      },
    }),
    imagesInResults: true,
    saysNotStrict: true,
    // A message without an id is one that is put in, and its content is not that of an answer.
    rewrite(body: { input: InputItem[] }) {
      for (const item of body.input) {
        if (item.role === "assistant" && item.id === undefined && Array.isArray(item.content))
          item.content = item.content.map(({ text }) => text).join("");
      }
    },
    mostTools: 128,
    callIdRule: () => ({ legal: /^[\x21-\x7e]{1,64}$/, length: 24 }),
    returnsThinking: true,
  };
}
