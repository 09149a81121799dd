// Opens what resolve.ts settled: loads the vendor's chunk and puts retries, keys and fallbacks around it.
import { readFileSync } from "node:fs";
import { createFetch } from "../net/fetch.ts";
import { UserError } from "../protocol/error-codes.ts";
import { aiSdkProvider } from "./ai-sdk.ts";
import type { WireKind } from "./catalog.ts";
import { type Candidate, withRetries } from "./fallback.ts";
import type { Provider } from "./provider.ts";
import type { ResolvedModel } from "./resolve.ts";
import type { Vendor, VendorSettings } from "./vendors/vendor.ts";

export type ProviderOptions = {
  /** How often a model is asked again; default 3. */
  retries?: number;
  /** Until an answer begins; default 120 s. */
  timeoutMs?: number;
  /** Longest silence within an answer; default 120 s. */
  idleMs?: number;
  /** Models to ask, in order, when the first cannot answer. */
  fallbackModels?: readonly string[];
  /** The name we were called by. */
  program?: string;
  sessionId?: string;
};

export async function openProvider(resolved: ResolvedModel, options: ProviderOptions): Promise<Provider> {
  switch (resolved.kind) {
    case "offline":
      return (await import("./offline.ts")).offlineProvider;
    case "script": {
      const { loadScript } = await import("./scripted.ts");
      return loadScript(readScript(resolved.modelId), resolved.modelId);
    }
    case "replay":
      throw new UserError("NOT_BUILT", "--model replay:FILE is not built yet. Use --model script:FILE.");
    default:
      break;
  }
  const primary = candidateOf(resolved, options);
  await primary.open(); // so that the first request does not wait for the load
  return withRetries(primary, {
    ...(options.retries !== undefined && { retries: options.retries }),
    fallbacks: (options.fallbackModels ?? []).map((name) => ({
      name,
      resolve: () => candidateOf(resolved.other(name), options),
    })),
  });
}

function candidateOf(resolved: ResolvedModel, options: ProviderOptions): Candidate {
  let opened: Promise<readonly Provider[]> | undefined;
  const isServer = resolved.kind !== "offline" && resolved.kind !== "script" && resolved.kind !== "replay";
  const open = async (): Promise<readonly Provider[]> =>
    isServer ? openKeys(resolved, options) : [await openProvider(resolved, {})];
  return {
    id: resolved.vendor,
    displayName: resolved.displayName,
    modelId: resolved.modelId,
    ...(resolved.effort && { effort: resolved.effort }),
    open: () => (opened ??= open()),
  };
}

async function openKeys(resolved: ResolvedModel, options: ProviderOptions): Promise<Provider[]> {
  const openVendor = await vendorLoaders[resolved.kind as WireKind]();
  const ask = createFetch({
    env: resolved.env,
    responseMs: options.timeoutMs ?? 120_000,
    idleMs: options.idleMs ?? 120_000,
    // Compressed events arrive in lumps.
    acceptEncoding: "identity",
  });
  const keys = resolved.keys.length > 0 ? resolved.keys : [undefined];
  return keys.map((key) => {
    const vendor = openVendor({
      name: resolved.vendor,
      baseUrl: resolved.baseUrl!,
      ...(key !== undefined && { key }),
      headers: resolved.headers,
      ...(options.sessionId && { sessionId: options.sessionId }),
      ...(resolved.takesThinking && { takesThinking: true }),
    });
    const asked = {
      vendorLabel: resolved.vendorLabel,
      model: resolved.modelId,
      local: resolved.local,
      keyAdvice: resolved.keyAdvice,
      secrets: [...resolved.keys, ...Object.values(resolved.headers).filter((value) => value.length >= 8)],
      program: options.program ?? "courser",
    };
    return aiSdkProvider(vendor, asked, ask);
  });
}

const vendorLoaders: Record<WireKind, () => Promise<(settings: VendorSettings) => Vendor>> = {
  anthropic: async () => (await import("./vendors/anthropic.ts")).anthropicVendor,
  openai: async () => (await import("./vendors/openai.ts")).openaiVendor,
  google: async () => (await import("./vendors/google.ts")).googleVendor,
  "openai-compatible": async () => (await import("./vendors/openai-compatible.ts")).openaiCompatibleVendor,
};

function readScript(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError(
      "FILE_UNREADABLE",
      `The script ${file} cannot be read: ${(error as Error).message}. Give another with --model script:FILE.`,
    );
  }
}
