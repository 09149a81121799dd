// Amazon Bedrock: the Converse API, with a bearer key or with signed requests.
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { judgesForItself } from "../efforts.ts";
import type { ModelRequest } from "../provider.ts";
import { anthropicVendor } from "./anthropic.ts";
import type { Vendor, VendorSettings } from "./vendor.ts";

export function bedrockVendor(settings: VendorSettings): Vendor {
  const { baseUrl: baseURL, key, headers, env = {} } = settings;
  const isSigned = key !== undefined && key === env["AWS_ACCESS_KEY_ID"]?.trim();
  const access = isSigned
    ? {
        accessKeyId: key,
        secretAccessKey: env["AWS_SECRET_ACCESS_KEY"]?.trim() ?? "",
        // Set this even if undefined, since the package would otherwise look for a token itself.
        sessionToken: env["AWS_SESSION_TOKEN"]?.trim() || undefined,
      }
    : { apiKey: key ?? "none" };
  const claude = anthropicVendor(settings);
  const isClaude = /claude/.test(settings.model ?? "");
  return {
    ...claude,
    open: (modelId, fetch) =>
      createAmazonBedrock({ baseURL, region: regionIn(baseURL, env), ...access, headers: { ...headers }, fetch })(
        modelId,
      ),
    options: (request) => ({
      ...(isClaude && { maxOutputTokens: settings.outputTokens ?? 32_000 }),
      providerOptions: { bedrock: reasoning(claude, request, isClaude) },
    }),
    returnsThinking: isClaude,
    // Models other than Claude and Nova accept images only in messages of the user.
    imagesInResults: /claude|nova/.test(settings.model ?? ""),
    // Nova accepts only a type, properties and required fields at the top of a schema.
    flatSchemas: !isClaude,
    // The body is signed, so it must not be changed.
    isSealed: true,
    cacheMark: isClaude ? { bedrock: { cachePoint: { type: "default" } } } : undefined,
  };
}

function regionIn(url: string, env: Readonly<Record<string, string | undefined>>): string {
  return /bedrock-runtime\.([a-z0-9-]+)\./.exec(url)?.[1] ?? env["AWS_REGION"] ?? "us-east-1";
}

/** Translates options of the Messages API to those of this API. */
// biome-ignore lint/suspicious/noExplicitAny: the options of the vendor's package have no exported type
function reasoning(claude: Vendor, request: ModelRequest, isClaude: boolean): Record<string, any> {
  const { effort, model } = request;
  if (!effort || !isClaude) return {};
  if (judgesForItself(model))
    return {
      reasoningConfig: effort === "none" ? { type: "disabled" } : { type: "adaptive", maxReasoningEffort: effort },
    };
  const { thinking } = (claude.options(request).providerOptions?.["anthropic"] ?? {}) as { thinking?: object };
  return thinking ? { reasoningConfig: thinking } : {};
}
