// Creates all providers: for the run itself, its hooks, reviewers and subagents, and for `auto`.
import type { AgentModel } from "../agent/agent.ts";
import { checkEffort } from "../model/efforts.ts";
import { priceOf } from "../model/limits.ts";
import type { ProviderOptions } from "../model/open.ts";
import type { Effort, Provider } from "../model/provider.ts";
import { createProvider, type ModelChoice, type ResolvedModel } from "../model/resolve.ts";
import type { RunCommand } from "../model/token.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import type { RunRequest } from "../protocol/run.ts";
import type { Waiting } from "../protocol/waiting.ts";
import { readKeys } from "../store/auth.ts";
import { readPrices } from "../store/model-prices.ts";
import type { Settings } from "../store/settings.ts";
import type { RunHost } from "./host.ts";
import type { Setup } from "./setup.ts";

/** The fields of a request and its host that select the model. */
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

/** Throws when --max-cost cannot be enforced for the model or one of its fallbacks, because its price is unknown. */
export function checkPrice(model: ResolvedModel, maxCost: number | undefined, fallbacks: readonly string[] = []): void {
  if (maxCost === undefined) return;
  for (const name of fallbacks) {
    const fallback = otherModel(model, name);
    if (fallback) checkPrice(fallback, maxCost);
  }
  if (priceOf(model)) return;
  throw usageError(
    `--max-cost cannot be enforced: the price of ${model.displayName} is not known. Give it in dollars for a million tokens, --price 3,15, or use --max-turns or --max-time.`,
  );
}

/** Resolves the name of another model. Returns undefined if it is unavailable, which is reported when it is needed. */
function otherModel(model: ResolvedModel, name: string): ResolvedModel | undefined {
  try {
    return model.other(name);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

export function priceWarning(model: ResolvedModel): string[] {
  if (priceOf(model)) return [];
  return [
    `The price of ${model.displayName} is not known, and neither is the cost of this run. Give it with --price, in dollars for a million tokens: --price 3,15`,
  ];
}

export function tokenRunner(env: NodeJS.ProcessEnv): RunCommand {
  return async (command, signal) =>
    (await import("./token-command.ts")).runTokenCommand(command, { env, ...(signal && { signal }) });
}

/** Opens a provider with the retries, limits and fallbacks of the run. */
export async function openProvider(
  { settings, host, request, model: own, limits: { maxTimeMs } }: Setup,
  model: ResolvedModel,
  options: Pick<ProviderOptions, "sessionId" | "repliesGiven" | "scriptPlace"> = {},
): Promise<Provider> {
  const { retries, timeoutMs, idleMs, fallbackModels } = settings.courser;
  const { openProvider: open = createProvider, wrapProvider = (provider: Provider) => provider } = host.seams ?? {};
  // The first use of `performance` costs a millisecond, which would delay the first line of output.
  const openedAt = process.uptime();
  const opened = await open(model, {
    retries,
    timeoutMs,
    idleMs,
    fallbackModels: givenFallbacks(request, own) ?? fallbackModels,
    program: host.program,
    version: host.version,
    ...(host.insecure && { insecure: true }),
    runCommand: tokenRunner(host.env),
    ...(maxTimeMs !== undefined && { timeLeft: () => maxTimeMs - (process.uptime() - openedAt) * 1000 }),
    ...(host.timeLeft && { timeLeft: host.timeLeft }),
    ...options,
  });
  const provider = wrapProvider(opened, model);
  return host.waiting ? withWaiting(provider, model.displayName, host.waiting) : provider;
}

function withWaiting(provider: Provider, name: string, waiting: Waiting): Provider {
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

/** A model by name. `by` says who named it: the user, or a file or another model, which must not extend permissions. */
type NamedModel = { name: string; by: "user" | "agent"; effort?: Effort };

/** Opens another model under the same rules as at the start. */
export async function openNamedModel(setup: Setup, { name, by, effort }: NamedModel): Promise<OpenedModel> {
  const { model: own, limits } = setup;
  const named = own.other(name);
  const chosen = effort === undefined ? named : { ...named, effort };
  checkEffort(chosen);
  const isBuiltIn = own.kind === "offline" || own.kind === "script";
  // Do not switch to another vendor for a user of a local model, who has not agreed to send data elsewhere.
  if (own.local && !chosen.local && !(by === "user" && isBuiltIn))
    throw usageError(`The model of the run is on this machine, and ${chosen.displayName} is not.`);
  checkPrice(chosen, limits.maxCost);
  return { provider: await openProvider(setup, chosen), model: agentModel(chosen, setup) };
}

export function agentModel(model: ResolvedModel, { settings, model: own }: Setup): AgentModel {
  const { modelId: id, displayName, effort } = model;
  const price = priceOf(model);
  const contextTokens = (model === own ? settings.courser.contextTokens : undefined) ?? model.contextTokens;
  return { id, displayName, contextTokens, effort, price };
}

/** Returns the fallback models that the request names. Throws if one of them is unavailable. */
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
