// Opens a model behind a server: loads the vendor's code and adds retries, keys and fallbacks.

import { createFetch } from "../net/fetch.ts";
import { programName } from "../text/program-name.ts";
import { aiSdkProvider } from "./ai-sdk.ts";
import { findVendor, type WireKind } from "./catalog.ts";
import { withContinuation } from "./continue.ts";
import { type ModelCandidate, withRetries } from "./fallback.ts";
import { priceOf } from "./limits.ts";
import type { ProviderOptions } from "./open.ts";
import type { Provider } from "./provider.ts";
import type { ResolvedModel } from "./resolve.ts";
import type { Vendor, VendorSettings } from "./vendors/vendor.ts";

/** Opens a built-in model that is used as a fallback. */
type OpenBuiltIn = (resolved: ResolvedModel, options: ProviderOptions) => Promise<Provider>;

export async function openServer(
  resolved: ResolvedModel,
  options: ProviderOptions,
  openBuiltIn: OpenBuiltIn,
): Promise<Provider> {
  const primary = candidateOf(resolved, options, openBuiltIn);
  await primary.open(); // load the code now, so that the first request does not wait for it
  const retried = withRetries(primary, {
    ...(options.retries !== undefined && { retries: options.retries }),
    ...(options.sleep && { sleep: options.sleep }),
    ...(options.timeLeft && { timeLeft: options.timeLeft }),
    fallbacks: (options.fallbackModels ?? []).map((name) => ({
      name,
      resolve: () => candidateOf(resolved.other(name), options, openBuiltIn),
    })),
  });
  return withContinuation(retried);
}

function candidateOf(resolved: ResolvedModel, options: ProviderOptions, openBuiltIn: OpenBuiltIn): ModelCandidate {
  let opened: Promise<readonly Provider[]> | undefined;
  const price = priceOf(resolved);
  const isServer = resolved.kind !== "offline" && resolved.kind !== "script" && resolved.kind !== "replay";
  const open = async (): Promise<readonly Provider[]> =>
    isServer ? openKeys(resolved, options) : [await openBuiltIn(resolved, {})];
  return {
    id: resolved.vendor,
    displayName: resolved.displayName,
    modelId: resolved.modelId,
    ...(resolved.effort && { effort: resolved.effort }),
    modelInfo: { contextTokens: resolved.contextTokens, ...(price && { price }) },
    open: () => (opened ??= open()),
  };
}

async function openKeys(resolved: ResolvedModel, options: ProviderOptions): Promise<Provider[]> {
  const openVendor = await vendorLoaders[resolved.kind as WireKind]();
  const ask = createFetch({
    env: resolved.env,
    // A model on this machine may read a long conversation for many minutes before its first word.
    responseMs: options.timeoutMs ?? (resolved.local ? 30 * 60_000 : 120_000),
    idleMs: options.idleMs ?? 120_000,
    // Request uncompressed events, since compressed ones would arrive in bursts.
    acceptEncoding: "identity",
    ...(options.insecure && { tls: { rejectUnauthorized: false } }),
  });
  const signing = [resolved.env["AWS_SECRET_ACCESS_KEY"], resolved.env["AWS_SESSION_TOKEN"]];
  const beside = [...Object.values(resolved.headers), ...signing].filter((value) => value !== undefined);
  const secrets = [...resolved.keys, ...beside.filter((value) => value.length >= 8)];
  const { tokenCommand: command } = resolved;
  const { runCommand: run } = options;
  const token = command !== undefined && run && { command, run, onToken: (text: string) => void secrets.push(text) };
  const authorised = token ? (await import("./token.ts")).withBearerToken(ask, token) : ask;
  // Vendors have channels for everything; the user's own servers may not.
  const mayTag = resolved.textChannels ?? (resolved.kind === "openai-compatible" && !isHosted(resolved.vendor));
  const tagged = mayTag ? (await import("./text-channels.ts")).withTextChannels : undefined;
  const keys = resolved.keys.length > 0 && !token ? resolved.keys : [undefined];
  return keys.map((key) => {
    const vendor = openVendor({
      name: resolved.vendor,
      baseUrl: resolved.baseUrl!,
      ...(key !== undefined && { key }),
      headers: resolved.headers,
      ...(options.sessionId && { sessionId: options.sessionId }),
      ...((resolved.takesThinking || isThinker(resolved)) && { takesThinking: true }),
      ...(resolved.outputTokens && { outputTokens: resolved.outputTokens }),
      model: resolved.modelId,
      env: resolved.env,
    });
    const asked = {
      vendorLabel: resolved.vendorLabel,
      model: resolved.modelId,
      local: resolved.local,
      keyAdvice: resolved.keyAdvice,
      isLogin: resolved.apiKeySource === "login",
      secrets,
      program: options.program ?? programName(),
    };
    const provider = aiSdkProvider(vendor, asked, authorised);
    return tagged ? tagged(provider, resolved.textChannels === true) : provider;
  });
}

/** Returns whether a model requires thinking to be sent back. Vendors in the catalog have their own entry for this. */
function isThinker({ vendor, modelId }: ResolvedModel): boolean {
  return !isHosted(vendor) && /kimi|deepseek/i.test(modelId);
}

function isHosted(vendor: string): boolean {
  const row = findVendor(vendor);
  return row !== undefined && !row.local;
}

const vendorLoaders: Record<WireKind, () => Promise<(settings: VendorSettings) => Vendor>> = {
  anthropic: async () => (await import("./vendors/anthropic.ts")).anthropicVendor,
  openai: async () => (await import("./vendors/openai.ts")).openaiVendor,
  google: async () => (await import("./vendors/google.ts")).googleVendor,
  azure: async () => (await import("./vendors/azure.ts")).azureVendor,
  bedrock: async () => (await import("./vendors/bedrock.ts")).bedrockVendor,
  vertex: async () => (await import("./vendors/vertex.ts")).vertexVendor,
  "openai-compatible": async () => (await import("./vendors/openai-compatible.ts")).openaiCompatibleVendor,
};
