// Azure OpenAI: the Responses API of the user's own resource. A model is named by its deployment.
import { createAzure } from "@ai-sdk/azure";
import { openaiVendor } from "./openai.ts";
import type { Vendor, VendorSettings } from "./vendor.ts";

export function azureVendor(settings: VendorSettings): Vendor {
  const { baseUrl: baseURL, key, headers } = settings;
  return {
    ...openaiVendor(settings),
    maxDescription: 1024,
    open: (modelId, fetch) =>
      createAzure({ baseURL, apiKey: key ?? "none", headers: { ...headers }, fetch }).responses(modelId),
  };
}
