// The one place that makes providers: for the run itself, its hooks, reviewers and subagents, and for `auto`.
import type { AgentModel } from "../agent/agent.ts";
import { checkEffort } from "../model/efforts.ts";
import { priceOf } from "../model/facts.ts";
import type { ProviderOptions } from "../model/open.ts";
import type { Effort, Provider } from "../model/provider.ts";
import { createProvider, type ModelChoice, type ResolvedModel } from "../model/resolve.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { RunRequest } from "../protocol/run.ts";
import type { Waiting } from "../protocol/waiting.ts";
import { readKeys } from "../store/auth.ts";
import { readPrices } from "../store/model-prices.ts";
import type { Settings } from "../store/settings.ts";
import type { RunHost } from "./host.ts";
import type { Setup } from "./setup.ts";

/** What of a request and its host is about the model. */
export type ModelWish = Pick<RunRequest, "model" | "effort" | "endpoint" | "endpointType"> &
  Pick<RunHost, "apiKey" | "tokenCommand" | "headers" | "env" | "program">;

export function modelChoice(wish: ModelWish, settings: Settings, configDir: string): ModelChoice {
  const { env } = wish;
  return {
    flag: wish.model,
    effortFlag: wish.effort,
    configModel: settings.model?.modelId,
    env,
    endpoints: settings.courser.providers,
    keys: readKeys(configDir),
    models: settings.courser.models,
    prices: readPrices(configDir),
    endpointFlag: wish.endpoint ?? env["CURSOR_API_ENDPOINT"],
    endpointType: wish.endpointType,
    tokenCommandFlag: wish.tokenCommand,
    headerFlags: wish.headers ?? [],
    apiKeyFlag: wish.apiKey,
    program: wish.program,
  };
}

export type OpenedModel = { provider: Provider; model: AgentModel };

/** Throws where the cost of a model, or of one that may answer for it, cannot be limited as the run wants it. */
export function checkPrice(model: ResolvedModel, maxCost: number | undefined, fallbacks: readonly string[] = []): void {
  if (maxCost === undefined) return;
  for (const name of fallbacks) {
    const fallback = otherModel(model, name);
    if (fallback) checkPrice(fallback, maxCost);
  }
  if (priceOf(model)) return;
  throw new UserError(
    "USAGE",
    `--max-cost cannot be enforced: the price of ${model.displayName} is not known. Give it in dollars for a million tokens, --price 3,15, or use --max-turns or --max-time.`,
  );
}

/** Undefined where it cannot be had, which is said when it is needed. */
function otherModel(model: ResolvedModel, name: string): ResolvedModel | undefined {
  try {
    return model.other(name);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** What whoever runs a model of unknown price should know. */
export function priceWarning(model: ResolvedModel): string[] {
  if (priceOf(model)) return [];
  return [
    `The price of ${model.displayName} is not known, and neither is the cost of this run. Give it with --price, in dollars for a million tokens: --price 3,15`,
  ];
}

/** With the retries, limits and fallbacks of the run around it. */
export async function openProvider(
  { settings, host, request, model: own, limits: { maxTimeMs } }: Setup,
  model: ResolvedModel,
  options: Pick<ProviderOptions, "sessionId" | "repliesGiven" | "scriptPlace"> = {},
): Promise<Provider> {
  const { retries, timeoutMs, idleMs, fallbackModels } = settings.courser;
  const { openProvider: open = createProvider, wrapProvider = same } = host.seams ?? {};
  // The first use of `performance` costs a millisecond, and this is on the way to the first line.
  const openedAt = process.uptime();
  const opened = await open(model, {
    retries,
    timeoutMs,
    idleMs,
    fallbackModels: givenFallbacks(request, own) ?? fallbackModels,
    program: host.program,
    version: host.version,
    ...(host.insecure && { insecure: true }),
    runCommand: async (command, signal) =>
      (await import("./token-command.ts")).printedBy(command, { env: host.env, ...(signal && { signal }) }),
    ...(maxTimeMs !== undefined && { timeLeft: () => maxTimeMs - (process.uptime() - openedAt) * 1000 }),
    ...options,
  });
  const provider = wrapProvider(opened, model);
  return host.waiting ? waitedFor(provider, model.displayName, host.waiting) : provider;
}

function same(provider: Provider): Provider {
  return provider;
}

function waitedFor(provider: Provider, name: string, waiting: Waiting): Provider {
  return {
    get id() {
      return provider.id;
    },
    async *stream(request) {
      const end = waiting.begin("model", name);
      try {
        yield* provider.stream(request);
      } finally {
        end();
      }
    },
    ...(provider.canSummarise && { canSummarise: () => provider.canSummarise!() }),
  };
}

/** `by`: the user named it, or a file or model did, which may widen nothing. */
type NamedModel = { name: string; by: "user" | "agent"; effort?: Effort };

/** Another model under the same rules as at the start. */
export async function openNamedModel(setup: Setup, { name, by, effort }: NamedModel): Promise<OpenedModel> {
  const { model: own, limits } = setup;
  const named = own.other(name);
  const chosen = effort === undefined ? named : { ...named, effort };
  checkEffort(chosen);
  const isBuiltIn = own.kind === "offline" || own.kind === "script";
  // Whoever works with a model on this machine has not agreed to send anything away.
  if (own.local && !chosen.local && !(by === "user" && isBuiltIn))
    throw new UserError("USAGE", `The model of the run is on this machine, and ${chosen.displayName} is not.`);
  checkPrice(chosen, limits.maxCost);
  return { provider: await openProvider(setup, chosen), model: agentModel(chosen, setup) };
}

export function agentModel(model: ResolvedModel, { settings, model: own }: Setup): AgentModel {
  const { modelId: id, displayName, effort } = model;
  const price = priceOf(model);
  const contextTokens = (model === own ? settings.courser.contextTokens : undefined) ?? model.contextTokens;
  return { id, displayName, contextTokens, effort, price };
}

/** Those of the request must be there to be asked. */
function givenFallbacks({ fallbackModels = [] }: RunRequest, model: ResolvedModel): readonly string[] | undefined {
  for (const name of fallbackModels) {
    try {
      model.other(name);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw new UserError(error.code, `--fallback-model ${name}: ${error.message}`);
    }
  }
  return fallbackModels.length > 0 ? fallbackModels : undefined;
}
