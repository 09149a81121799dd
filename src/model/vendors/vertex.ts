// Google Vertex AI: Gemini and Claude models in the user's own project. A Google token comes from a token command.
import { AnthropicMessagesLanguageModel } from "@ai-sdk/anthropic/internal";
import { createVertex } from "@ai-sdk/google-vertex/edge";
import type { Fetch } from "../../net/fetch.ts";
import { anthropicVendor } from "./anthropic.ts";
import { googleVendor } from "./google.ts";
import type { Vendor, VendorSettings } from "./vendor.ts";

export function vertexVendor(settings: VendorSettings): Vendor {
  const { baseUrl: baseURL, key = "none", headers } = settings;
  if (/claude/.test(settings.model ?? ""))
    return { ...anthropicVendor(settings), open: (modelId, fetch) => claudeModel(modelId, settings, fetch) };
  return {
    ...googleVendor(settings),
    open: (modelId, fetch) => createVertex({ baseURL, apiKey: key, headers: { ...headers }, fetch })(modelId),
  };
}

function claudeModel(modelId: string, settings: VendorSettings, fetch: Fetch): AnthropicMessagesLanguageModel {
  const { baseUrl, key = "none", headers } = settings;
  return new AnthropicMessagesLanguageModel(modelId, {
    provider: "vertex.anthropic.messages",
    baseURL: baseUrl.replace(/\/google$/, "/anthropic/models"),
    headers: () => ({ "x-goog-api-key": key, ...headers }),
    fetch,
    buildRequestUrl: (base, isStreaming) => `${base}/${modelId}:${isStreaming ? "streamRawPredict" : "rawPredict"}`,
    transformRequestBody: ({ model: _inTheAddress, ...rest }) => ({ ...rest, anthropic_version: "vertex-2023-10-16" }),
    supportedUrls: () => ({}),
    supportsNativeStructuredOutput: false,
    supportsStrictTools: false,
  });
}
