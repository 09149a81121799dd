// The adapter's configuration: models and auth profiles, passed as an object or read from openclaw.json.
import { readFileSync } from "node:fs";
import { isObject, type JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { nearestName } from "../text/nearest.ts";
import { shownValue } from "../text/one-line.ts";
import { systemErrorText } from "../text/system-error.ts";

/** An entry of `models`, as written in the configuration. */
export type AdapterModel = {
  provider: string;
  command: string;
  args?: readonly string[];
  /** Pass the prompt as the last argument. Otherwise one line of turn JSON is written to stdin. */
  promptAsArg?: boolean;
  /** Flags placed before a prompt that is passed as an argument. */
  headlessFlags?: readonly string[];
  /** The time limit from the start of the CLI to its result. */
  timeoutMs?: number;
  /** The longest silence allowed. Default: no limit but `timeoutMs`. */
  idleMs?: number;
  /** How long each stage of stopping waits for the CLI to exit: after the cancel message, after SIGTERM, after its own result. */
  stopMs?: { cancel?: number; term?: number; result?: number };
  /** How frames are separated. "auto": detected from the first line of the stream. */
  framing?: "auto" | "ndjson" | "sentinel";
  /** Closes the CLI's stdin after this much silence, because some CLIs read it to its end before they begin. */
  closeStdinAfterMs?: number;
  authProfiles?: readonly string[];
  fallbackModels?: readonly string[];
  enabled?: boolean;
  /** Whether another model may repeat a turn in which the CLI used its own tools that change things. */
  fallbackAfterOwnTools?: boolean;
};

/** An auth profile. `env` is added to this process's environment for the CLI; null removes a variable. */
export type ProfileEntry = { env?: Readonly<Record<string, string | null>> };

/** The configuration of the adapter. */
export type AdapterConfig = {
  models: Readonly<Record<string, AdapterModel>>;
  profiles?: Readonly<Record<string, ProfileEntry>>;
  /** The model for sessions that name none. Default: the first that is enabled. */
  defaultModel?: string;
};

const configKeys: readonly string[] = ["models", "profiles", "defaultModel"] satisfies (keyof AdapterConfig)[];

/** A model entry with all defaults filled in. */
export type Model = Required<Omit<AdapterModel, "idleMs" | "stopMs">> & {
  name: string;
  idleMs?: number;
  stopMs: { cancel: number; term: number; result: number };
};

export type CheckedConfig = {
  models: ReadonlyMap<string, Model>;
  profiles: ReadonlyMap<string, Readonly<Record<string, string | null>>>;
  defaultModel: string;
  /** What was ignored: unknown fields, models of other providers. */
  warnings: string[];
};

/** The only provider that this adapter supports. */
const provider = "cursor-agent-cli";

/** A profile that leaves the environment unchanged. It need not be configured. */
export const plainProfile = "default";

type FieldCheck = (value: unknown) => string | undefined;

const isText: FieldCheck = (value) =>
  typeof value === "string" && value.trim() !== "" ? undefined : "must be a string";
const isSwitch: FieldCheck = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const isList: FieldCheck = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? undefined : "must be a list of strings";
const isSpan: FieldCheck = (value) =>
  typeof value === "number" && Number.isFinite(value) && value > 0
    ? undefined
    : "must be a positive number of milliseconds";
const isFraming: FieldCheck = (value) =>
  ["auto", "ndjson", "sentinel"].includes(value as string) ? undefined : 'must be "auto", "ndjson" or "sentinel"';
const isStopMs: FieldCheck = (value) => {
  if (!isObject(value)) return 'must be an object such as { "cancel": 1000, "term": 1000 }';
  const wrong = Object.entries(value).find(([key, ms]) => !Object.hasOwn(usualStopMs, key) || isSpan(ms));
  return wrong && `must give milliseconds for ${Object.keys(usualStopMs).join(", ")}; "${wrong[0]}" is not valid`;
};

const modelFields: Record<keyof AdapterModel, FieldCheck> = {
  provider: isText,
  command: isText,
  args: isList,
  promptAsArg: isSwitch,
  headlessFlags: isList,
  timeoutMs: isSpan,
  idleMs: isSpan,
  stopMs: isStopMs,
  framing: isFraming,
  closeStdinAfterMs: isSpan,
  authProfiles: isList,
  fallbackModels: isList,
  enabled: isSwitch,
  fallbackAfterOwnTools: isSwitch,
};

const usualStopMs = { cancel: 1000, term: 1000, result: 2000 };

const usual = {
  args: [],
  promptAsArg: false,
  headlessFlags: ["--approve-mcps", "--force"],
  timeoutMs: 600_000,
  framing: "auto",
  closeStdinAfterMs: 2000,
  authProfiles: [plainProfile],
  fallbackModels: [],
  enabled: true,
  fallbackAfterOwnTools: false,
} satisfies Partial<AdapterModel>;

/** Reads `models` and `profiles` from an openclaw.json; its other keys belong to other programs. */
export function loadConfig(path = "openclaw.json"): AdapterConfig {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "it does not exist" : systemErrorText(error);
    throw new UserError(
      "CONFIG_UNREADABLE",
      `${path} cannot be read: ${why}. Give the path of your openclaw.json, or the config as an object.`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new UserError("CONFIG_INVALID", `${path} is not JSON: ${(error as Error).message}.`);
  }
  checkConfig(value, path);
  return value as AdapterConfig;
}

/** Checks the configuration of the adapter. Throws a UserError that says what to fix; `place` is what it calls the configuration. */
export function checkConfig(value: unknown, place = "the adapter's config"): CheckedConfig {
  const complain = (where: string, problem: string): never => {
    throw new UserError("CONFIG_INVALID", `${place}: ${where} ${problem}.`);
  };
  if (!isObject(value)) return complain("it", 'must be an object with "models"');
  const warnings = Object.keys(value).flatMap((key) => {
    // Report only keys that look misspelt, since an openclaw.json contains many keys of other programs.
    const near = configKeys.includes(key) ? undefined : nearestName(key, configKeys);
    return near === undefined ? [] : [`"${key}" has no effect; did you mean "${near}"?`];
  });
  const profiles = readProfiles(value.profiles, complain);
  if (!isObject(value.models) || Object.keys(value.models).length === 0)
    return complain('"models"', 'must be an object such as { "cursor-auto": { "command": "agent", … } }');
  const models = new Map<string, Model>();
  for (const [name, entry] of Object.entries(value.models)) {
    const model = readModel(name, entry, { complain, warnings });
    if (model) models.set(name, model);
  }
  const modelNames = Object.keys(value.models);
  for (const model of models.values()) checkNames(model, { known: modelNames, profiles, complain, warnings });
  return { models, profiles, defaultModel: defaultModelName(value.defaultModel, models, complain), warnings };
}

type ReportProblem = (where: string, problem: string) => never;

function readModel(
  name: string,
  entry: unknown,
  { complain, warnings }: { complain: ReportProblem; warnings: string[] },
): Model | undefined {
  const where = `models["${name}"]`;
  if (!isObject(entry)) return complain(where, "must be an object");
  if (entry.provider === undefined) return complain(where, `needs "provider": "${provider}"`);
  if (entry.provider !== provider) {
    warnings.push(`${where} has the provider ${JSON.stringify(entry.provider)}, which is not supported here; skipped.`);
    return undefined;
  }
  if (entry.command === undefined) return complain(where, 'needs "command", the CLI to start');
  for (const [field, given] of Object.entries(entry)) {
    const check = Object.hasOwn(modelFields, field) ? modelFields[field as keyof AdapterModel] : undefined;
    if (!check) {
      const near = nearestName(field, Object.keys(modelFields));
      if (near) complain(`${where}.${field}`, `is unknown; did you mean "${near}"?`);
      warnings.push(`${where}.${field} is unknown and has no effect.`);
      continue;
    }
    const problem = check(given);
    if (problem) complain(`${where}.${field}`, `${problem}, not ${shownValue(given)}`);
  }
  const model = entry as AdapterModel & JsonObject;
  return { ...usual, ...model, name, stopMs: { ...usualStopMs, ...model.stopMs } } as Model;
}

function readProfiles(value: unknown, complain: ReportProblem): CheckedConfig["profiles"] {
  const profiles = new Map<string, Readonly<Record<string, string | null>>>();
  if (value === undefined) return profiles;
  if (!isObject(value)) return complain('"profiles"', 'must be an object such as { "work": { "env": { … } } }');
  for (const [name, entry] of Object.entries(value)) {
    const where = `profiles["${name}"]`;
    if (!isObject(entry)) return complain(where, 'must be an object such as { "env": { "CURSOR_API_KEY": "…" } }');
    const env = entry.env ?? {};
    if (!isObject(env)) return complain(`${where}.env`, "must be an object of variables");
    // Do not show the value, since it is likely to be a key.
    const wrong = Object.entries(env).find(([, text]) => text !== null && typeof text !== "string");
    if (wrong) complain(`${where}.env.${wrong[0]}`, "must be a string, or null to unset the variable");
    profiles.set(name, env as Record<string, string | null>);
  }
  return profiles;
}

function checkNames(
  model: Model,
  {
    known,
    profiles,
    complain,
    warnings,
  }: {
    known: readonly string[];
    profiles: CheckedConfig["profiles"];
    complain: ReportProblem;
    warnings: string[];
  },
): void {
  const where = `models["${model.name}"]`;
  if (model.authProfiles.length === 0)
    complain(`${where}.authProfiles`, `must name at least one; omit it for "${plainProfile}"`);
  const profile = model.authProfiles.find((name) => name !== plainProfile && !profiles.has(name));
  if (profile !== undefined)
    complain(
      `${where}.authProfiles`,
      `names "${profile}", which is not in "profiles"${suggestionFor(profile, [...profiles.keys()])}`,
    );
  // A partial configuration may name models defined elsewhere: the models that are present still work.
  for (const name of model.fallbackModels.filter((each) => !known.includes(each)))
    warnings.push(
      `${where}.fallbackModels names "${name}", which is not in "models"${suggestionFor(name, known)}; skipped.`,
    );
}

function defaultModelName(value: unknown, models: ReadonlyMap<string, Model>, complain: ReportProblem): string {
  if (value !== undefined && (typeof value !== "string" || !models.has(value)))
    return complain(
      '"defaultModel"',
      `must be the name of a configured model: ${[...models.keys()].join(", ") || "there are none"}`,
    );
  const name = value ?? [...models.values()].find((model) => model.enabled)?.name;
  return name ?? complain('"models"', `has no enabled model with the provider "${provider}"`);
}

function suggestionFor(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  if (near) return `; did you mean "${near}"?`;
  return known.length > 0 ? ` (there are ${known.join(", ")})` : "";
}
