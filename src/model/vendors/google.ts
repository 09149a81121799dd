// Google: the Gemini API.
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import type { Effort } from "../provider.ts";
import type { Vendor, VendorSettings } from "./vendor.ts";

const budgets: Partial<Record<Effort, number>> = { none: 0, low: 2_048, medium: 8_192, high: 24_576 };

export function googleVendor(settings: VendorSettings): Vendor {
  return {
    name: settings.name,
    open: (modelId, fetch) =>
      createGoogleGenerativeAI({
        baseURL: settings.baseUrl,
        apiKey: settings.key ?? "none",
        headers: { ...settings.headers },
        fetch,
      })(modelId),
    options: ({ model, effort }) => ({ providerOptions: { google: thinking(model, effort) } }),
    imagesInResults: true,
    imageKinds: /^image\/(png|jpeg|webp)$/,
    callIdRule: () => ({ legal: /^[\x21-\x7e]{1,64}$/, length: 24 }),
    writesTools: true,
    // The package writes only the small subset of schemas that `parameters` accepts, and drops the rest.
    rewrite(body, { tools }) {
      if (tools.length === 0) return;
      const functionDeclarations = tools.map(({ name, description, parameters }) => ({
        name,
        description,
        parametersJsonSchema: parameters,
      }));
      body.tools = [{ functionDeclarations }];
    },
    returnsThinking: true,
  };
}

/** Gemini 2.5 takes a budget, later models a level; older ones refuse the setting. */
// biome-ignore lint/suspicious/noExplicitAny: the options of the vendor's package have no exported type
function thinking(model: string, effort: Effort | undefined): Record<string, any> {
  const version = Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0);
  if (version < 2.5) return {};
  const amount = !effort ? {} : version < 3 ? { thinkingBudget: budgets[effort] } : { thinkingLevel: effort };
  return { thinkingConfig: { includeThoughts: true, ...amount } };
}
