// Resolves the user's choice to one model, its server and its key. Pure and fast: `init` is printed right after it.

import { UserError, usageError } from "../protocol/error-codes.ts";
import { type EndpointType, reasoningEfforts } from "../protocol/run.ts";
import { distanceBetween, nearestNames } from "../text/nearest.ts";
import { programName } from "../text/program-name.ts";
import { withAwsProfile } from "./aws-profile.ts";
import {
  autoModel,
  defaultModelOf,
  findModel,
  findVendor,
  type ModelLine,
  models,
  offlineModel,
  vendors,
  type WireKind,
} from "./catalog.ts";
import { checkEffort, defaultEffort } from "./efforts.ts";
import {
  endpointRow,
  headersOf,
  isLocal,
  movedUrl,
  ownEndpoint,
  type ServerRow,
  vendorRow,
  wireOfEndpoint,
} from "./endpoint.ts";
import { isHouseModel, modelOfFamily } from "./families.ts";
import { firstText, foreignKey, givenSource, hasOwnKey, type KeyList, keyAdvice, keyList, ownKey } from "./keys.ts";
import {
  hostedContext,
  type KnownModelInfo,
  knownAs,
  type ModelSettings,
  modelLimits,
  withSettings,
} from "./limits.ts";
import type { ProviderOptions } from "./open.ts";
import type { PriceTable } from "./price-list.ts";
import type { Price } from "./prices.ts";
import type { Effort, Provider } from "./provider.ts";

/** An endpoint of the user from courser.json. `keyEnv` and `keys` name variables; `models` lists ids. */
export type EndpointSettings = {
  type?: string;
  baseUrl?: string;
  keyEnv?: string;
  headers?: Readonly<Record<string, string>>;
  models?: readonly string[];
  keys?: readonly string[];
  tokenCommand?: string;
  textChannels?: boolean;
};

export type ModelChoice = {
  /** The value of the --model flag. */
  flag?: string;
  effortFlag?: string;
  /** The model that is saved in the configuration. */
  configModel?: string;
  env: Readonly<Record<string, string | undefined>>;
  endpoints?: Readonly<Record<string, EndpointSettings>>;
  /** The keys saved by `login`, by vendor. */
  keys?: Readonly<Record<string, string>>;
  endpointFlag?: string;
  /** The wire format that the flag `--endpoint-type` selects. */
  endpointType?: EndpointType;
  /** The program that `--token-command` names; it prints a bearer token. */
  tokenCommandFlag?: string;
  headerFlags?: readonly string[];
  /** Settings for individual models, by name. */
  models?: Readonly<Record<string, ModelSettings>>;
  /** Prices that are newer than the built-in table. */
  prices?: PriceTable | undefined;
  apiKeyFlag?: string;
  /** The name this program was started as, for advice on what to type. */
  program?: string;
};

export type ApiKeySource = "none" | "login" | "env" | "flag";

export type ResolvedModel = {
  kind: WireKind | "offline" | "script" | "replay";
  /** The name of the vendor or of the user's endpoint. */
  vendor: string;
  /** The name of the vendor for display. */
  vendorLabel: string;
  /** The value of --model that selects this model. */
  id: string;
  /** The vendor's own id of the model. For `script:` and `replay:` it is the path of a file. */
  modelId: string;
  displayName: string;
  key?: string;
  /** All keys that may be used, best first; `key` is the first. */
  keys: readonly string[];
  apiKeySource: ApiKeySource;
  contextTokens: number;
  /** The maximum number of tokens in one answer, if known. */
  outputTokens?: number;
  price?: Price;
  effort?: Effort;
  /** Whether the model runs on this machine. */
  local: boolean;
  baseUrl?: string;
  headers: Readonly<Record<string, string>>;
  /** A command that prints a bearer token for the server. */
  tokenCommand?: string;
  /** Whether an OpenAI-compatible server expects thinking to be sent back. */
  takesThinking?: boolean;
  /** Whether tags in its text mark thinking and calls; if undefined, they count until the server is seen to have channels for them. */
  textChannels?: boolean;
  /** A notice for the user that another model is used. */
  notice?: string;
  /** Advice for the case that the key is refused: what to type. */
  keyAdvice: string;
  /** Environment variables, which may configure proxies. */
  env: ModelChoice["env"];
  /** Resolves another model under the same choice, for fallbacks. */
  other(name: string): ResolvedModel;
};

export function resolveModel(choice: ModelChoice): ResolvedModel {
  if (choice.endpointType !== undefined && !choice.endpointFlag)
    throw usageError(
      "--endpoint-type says what the server of --endpoint speaks: pass --endpoint <url> as well. For a server in courser.json, set its type there.",
    );
  const configModel = choice.endpointFlag ? undefined : choice.configModel;
  const named = [choice.flag, choice.env["COURSER_MODEL"], configModel].flatMap((each) => firstText(each) ?? []);
  const isHouse = (each: string) => isHouseModel(readName(choice, each).name);
  // `auto`, and models that only Cursor's own service has, mean the default model: the one used if none is named.
  const wanted = named.find((each) => !isAuto(each) && !isHouse(each));
  const [first] = named;
  const found = choice.endpointFlag
    ? atEndpoint(choice, choice.endpointFlag, wanted ?? first)
    : wanted === undefined
      ? byKeys(choice, first)
      : byName(choice, wanted);
  const set = withSettings(choice, found);
  checkEffort(set);
  const effort = set.effort ?? defaultEffort(set);
  const model: ResolvedModel = { ...set, ...(effort && { effort }) };
  if (first === undefined || !isHouse(first) || model.modelId === first) return model;
  const notice = `${first} is a model of the original's own service. The default model answers: ${model.displayName}.`;
  return { ...model, notice };
}

/** Opens the provider with retries, key rotation and fallbacks. Loads the vendor's code. */
export async function createProvider(resolved: ResolvedModel, options: ProviderOptions = {}): Promise<Provider> {
  const { openProvider } = await import("./open.ts");
  return openProvider(resolved, options);
}

/** Lists the models of endpoints that the user configured. */
export function endpointModels(endpoints: ModelChoice["endpoints"]): ModelLine[] {
  return Object.entries(endpoints ?? {}).flatMap(([name, endpoint]) =>
    (endpoint.models ?? []).map((model) => ({ id: `${name}/${model}`, name: `${model} (${name})` })),
  );
}

function isAuto(name: string): boolean {
  return name.toLowerCase() === autoModel.id || name.toLowerCase() === "default";
}

function atEndpoint(choice: ModelChoice, url: string, named: string | undefined): ResolvedModel {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw usageError(
      `--endpoint '${url}' is not an http or https address. Example: --endpoint http://127.0.0.1:11434/v1`,
    );
  }
  if (!named) {
    throw usageError("--endpoint also needs a model name. Example: --endpoint http://127.0.0.1:11434/v1 --model qwen3");
  }
  const { name, effort } = readName(choice, named);
  if (name === offlineModel.id || /^(script|replay):/.test(name)) return byName(choice, named);
  // Keys of vendors are sent only to their vendors: an unknown server gets only a key given for this run.
  const keys = keyList(choice, { variables: [], vendor: undefined });
  return {
    ...common(choice, keys),
    kind: wireOfEndpoint(choice.endpointType),
    vendor: new URL(url).host,
    vendorLabel: new URL(url).host,
    id: named,
    modelId: name,
    displayName: name,
    ...modelLimits(choice, {
      server: { name: "" },
      model: name,
      row: knownAs("", name, effort).row,
      local: isLocal(url),
    }),
    ...(effort && { effort }),
    local: isLocal(url),
    baseUrl: url.replace(/\/+$/, ""),
    headers: headersOf(choice, {}),
    ...(choice.tokenCommandFlag && { tokenCommand: choice.tokenCommandFlag }),
    keyAdvice: "Give the server's key with --api-key <key>.",
  };
}

/** Chooses a model if the user named none: of the first vendor with a key, otherwise the offline model. */
function byKeys(choice: ModelChoice, wanted: string | undefined): ResolvedModel {
  const byFlag = ownKey(choice.apiKeyFlag);
  const apiKey = byFlag ?? foreignKey(choice);
  const row = vendors.find((vendor) => defaultModelOf(vendor) && hasOwnKey(choice, vendorRow(choice, vendor.name)!));
  const guessed =
    apiKey &&
    vendors.find((vendor) => defaultModelOf(vendor) && vendor.keyPrefix && apiKey.startsWith(vendor.keyPrefix));
  const chosen = (byFlag && guessed) || row || guessed || (apiKey ? findVendor("anthropic") : undefined);
  if (chosen) return byName(choice, defaultModelOf(chosen)!);
  const endpoint = Object.entries(choice.endpoints ?? {}).find(
    ([, each]) => (each.models?.length ?? 0) > 0 && isUsable(choice, each),
  );
  if (endpoint) return byName(choice, `${endpoint[0]}/${endpoint[1].models![0]}`);
  return { ...offline(choice), ...(wanted && { id: wanted }) };
}

function isUsable(choice: ModelChoice, endpoint: EndpointSettings): boolean {
  const variables = [endpoint.keyEnv, ...(endpoint.keys ?? [])].filter((name) => name !== undefined);
  return variables.length === 0 || variables.some((name) => firstText(choice.env[name]));
}

function byName(choice: ModelChoice, wanted: string): ResolvedModel {
  const { name, effort } = readName(choice, wanted);
  if (name.toLowerCase() === offlineModel.id) return offline(choice);
  const [, kind, file] = /^(script|replay):(.+)$/s.exec(name) ?? [];
  if (kind && file) return fromFile(choice, kind as "script" | "replay", file);

  const slash = name.indexOf("/");
  const prefix = slash > 0 ? name.slice(0, slash) : "";
  const rest = name.slice(slash + 1);
  const ownSettings = ownEndpoint(choice, prefix);
  const catalogModel = findModel(name);
  const vendor =
    prefix &&
    rest &&
    (ownSettings ? endpointRow(prefix, ownSettings) : catalogModel ? undefined : vendorRow(choice, prefix));
  if (vendor) return atVendor(choice, vendor, rest, { id: name, effort, ...knownAs(vendor.name, rest, effort) });
  if (catalogModel)
    return atVendor(choice, vendorRow(choice, catalogModel.row.vendor)!, catalogModel.row.model, {
      id: name,
      effort,
      ...knownAs(catalogModel.row.vendor, name, effort),
    });

  const listed = Object.entries(choice.endpoints ?? {}).find(([, endpoint]) => endpoint.models?.includes(name));
  if (listed) {
    const details = { id: `${listed[0]}/${name}`, effort, ...knownAs(listed[0], name, effort) };
    return atVendor(choice, endpointRow(...listed), name, details);
  }
  const ofFamily = modelOfFamily(name);
  if (ofFamily && !isMisspelt(name))
    return atVendor(choice, vendorRow(choice, ofFamily.vendor)!, ofFamily.model, {
      id: name,
      effort: effort ?? ofFamily.effort,
    });
  throw unknownModel(choice, name);
}

type Details = { id: string; effort?: Effort | undefined } & KnownModelInfo;

function atVendor(baseChoice: ModelChoice, vendor: ServerRow, named: string, details: Details): ResolvedModel {
  const choice = vendor.kind === "bedrock" ? { ...baseChoice, env: withAwsProfile(baseChoice.env) } : baseChoice;
  const modelId = details.model ?? named;
  const keys = keyList(choice, { variables: vendor.keyVariables, vendor: vendor.moved ? undefined : vendor.name });
  const baseUrl = movedUrl(vendor, choice);
  const local = vendor.local === true || isLocal(baseUrl);
  const advice = keyAdvice(choice, vendor);
  const tokenCommand = choice.tokenCommandFlag ?? vendor.tokenCommand;
  if (keys.all.length === 0 && tokenCommand === undefined && vendor.keyVariables.length > 0 && !local) {
    const what = details.name ?? modelId;
    throw new UserError("NOT_AUTHENTICATED", `Not authenticated: no ${vendor.label} key for ${what}. ${advice}`);
  }
  return {
    ...common(choice, keys),
    kind: vendor.kind,
    vendor: vendor.name,
    vendorLabel: vendor.label,
    id: details.id,
    modelId,
    displayName: details.name ?? modelId,
    ...modelLimits(choice, { server: vendor, model: modelId, row: details.row, local }),
    ...(details.effort && { effort: details.effort }),
    local,
    baseUrl,
    headers: headersOf(choice, vendor.headers ?? {}),
    ...(tokenCommand && { tokenCommand }),
    ...(vendor.takesThinking && { takesThinking: true }),
    ...(vendor.textChannels !== undefined && { textChannels: vendor.textChannels }),
    keyAdvice: advice,
  };
}

function offline(choice: ModelChoice): ResolvedModel {
  return {
    ...common(choice, { all: [], source: givenSource(choice) }),
    kind: "offline",
    vendor: offlineModel.id,
    vendorLabel: offlineModel.name,
    id: offlineModel.id,
    modelId: offlineModel.id,
    displayName: offlineModel.name,
    contextTokens: hostedContext,
    local: true,
    headers: headersOf(choice, {}),
    keyAdvice: "",
  };
}

function fromFile(choice: ModelChoice, kind: "script" | "replay", file: string): ResolvedModel {
  return {
    ...offline(choice),
    kind,
    vendor: kind,
    vendorLabel: kind,
    id: `${kind}:${file}`,
    modelId: file,
    displayName: kind === "script" ? "Script" : "Replay",
  };
}

/** Parses `name[effort=high]`; --effort wins over it. */
function readName(choice: ModelChoice, wanted: string): { name: string; effort?: Effort } {
  const [, name = wanted, parameters = ""] = /^([^[\]]+)\[([^\]]*)\]$/.exec(wanted.trim()) ?? [];
  let effort: Effort | undefined;
  for (const pair of parameters
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean)) {
    const [key = "", value = ""] = pair.split("=").map((each) => each.trim());
    if (key !== "effort")
      throw usageError(`--model ${wanted}: '${key}' is not a model parameter. Write ${name}[effort=high].`);
    effort = readEffort(value, `--model ${wanted}`);
  }
  if (choice.effortFlag) effort = readEffort(choice.effortFlag, "--effort");
  return { name: name.trim(), ...(effort && { effort }) };
}

function readEffort(value: string, where: string): Effort {
  const effort = reasoningEfforts.find((each) => each === value);
  if (effort) return effort;
  throw usageError(`${where}: '${value}' is not an effort level. Choose ${reasoningEfforts.join(", ")}.`);
}

function common(
  choice: ModelChoice,
  keys: KeyList,
): Pick<ResolvedModel, "key" | "keys" | "apiKeySource" | "env" | "other"> {
  return {
    ...(keys.all[0] !== undefined && { key: keys.all[0] }),
    keys: keys.all,
    apiKeySource: keys.source,
    env: choice.env,
    // A key and an effort given for this run belong to the model named with them.
    other: (name) =>
      resolveModel({
        ...choice,
        flag: name,
        effortFlag: undefined,
        ...(choice.endpointFlag ? {} : { apiKeyFlag: undefined, tokenCommandFlag: undefined }),
      }),
  };
}

/** Reports a name one letter off a known model with the same numbers: a typo rather than a new model. */
function isMisspelt(name: string): boolean {
  const wanted = name.toLowerCase();
  const numbers = (text: string) => text.replace(/\D+/g, " ");
  return models.some(({ id, aliases }) =>
    [id, ...aliases].some((known) => numbers(known) === numbers(wanted) && distanceBetween(known, wanted) === 1),
  );
}

function unknownModel(choice: ModelChoice, name: string): UserError {
  const modelNames = [
    autoModel.id,
    ...models.map((row) => row.id),
    ...endpointModels(choice.endpoints).map((line) => line.id),
    offlineModel.id,
  ];
  const prefix = name.includes("/") ? name.slice(0, name.indexOf("/")) : "";
  const near = nearestNames(name, [...modelNames, ...models.flatMap((row) => row.aliases)], 3);
  if (prefix && findVendor(prefix))
    return new UserError(
      "MODEL_UNKNOWN",
      `Cannot use this model: ${name}. The model's name is missing: write ${prefix}/<model>.`,
    );
  const why = prefix
    ? `Unknown vendor '${prefix}'; the vendors are ${vendors.map((row) => row.name).join(", ")}.`
    : `Available models: ${near.join(", ")}, … ('${programName()} models' lists all). Write any other model as <vendor>/<model>.`;
  return new UserError("MODEL_UNKNOWN", `Cannot use this model: ${name}. ${why}`);
}
