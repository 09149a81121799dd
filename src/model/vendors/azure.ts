// Azure OpenAI: the Responses API of a resource of the user's own. A model is named as it was deployed.
import { createAzure } from "@ai-sdk/azure";
import { openaiVendor } from "./openai.ts";
import type { Vendor, VendorSettings } from "./vendor.ts";

export function azureVendor(settings: VendorSettings): Vendor {
  const { baseUrl: baseURL, key, headers } = settings;
  return {
    ...openaiVendor(settings),
    open: (modelId, fetch) =>
      createAzure({ baseURL, apiKey: key ?? "none", headers: { ...headers }, fetch }).responses(modelId),
  };
}
