// OpenAI: the Responses API. Nothing is stored on the server; encrypted reasoning is received and sent back.
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
          // Summaries only with an effort: accounts that are not verified are refused if they request them.
          ...(effort && { reasoningEffort: effort, ...(effort !== "none" && { reasoningSummary: "auto" }) }),
        },
      },
    }),
    imagesInResults: true,
    saysNotStrict: true,
    // An assistant message without an id is an input message, whose content must be plain text.
    rewrite(body: { input: InputItem[] }) {
      for (const item of body.input) {
        if (item.role === "assistant" && item.id === undefined && Array.isArray(item.content))
          item.content = item.content.map(({ text }) => text).join("");
      }
    },
    maxTools: 128,
    callIdRule: () => ({ legal: /^[\x21-\x7e]{1,64}$/, length: 24 }),
    returnsThinking: true,
  };
}
